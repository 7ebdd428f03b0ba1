# Ends the server that guest_iperf3_server.sh started, if it is still there.
#   sh -s -- PID PORT <this
server=$1 port=$2
for word in iperf3 "$port"; do
	grep -qF "$word" "/proc/$server/cmdline" 2>/dev/null || exit 0
done
kill -s TERM -- "-$server"
