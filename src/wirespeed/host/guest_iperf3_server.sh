# Starts an iperf3 server for one run, and waits until it listens.
#   sh -s -- PORT SECONDS <this    prints `listens PID`, or `ended` and what the server said
# It ends after one run, and in any case after SECONDS.
port=$1 seconds=$2
log=$(mktemp) && exec 3<>"$log" && rm -f "$log" || exit
setsid timeout -k 2 "$seconds" iperf3 -s -1 -J -p "$port" </dev/null >&3 2>&3 &
server=$!
listening=$(printf ':%04X 0*:0000 0A' "$port")
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	if cat /proc/net/tcp /proc/net/tcp6 2>/dev/null | grep -q "$listening"; then
		echo "listens $server"
		exit 0
	fi
	kill -0 "$server" 2>/dev/null || break
	sleep 0.25
done
kill -s TERM -- "-$server" 2>/dev/null
echo ended
cat /proc/self/fd/3
