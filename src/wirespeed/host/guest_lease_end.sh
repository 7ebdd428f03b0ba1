# Gives back what guest_lease.sh changed; its guard goes only when that went well.
#   sh -s -- WORD GUARD BACK <this
word=$1 guard=$2 back=$3
sh -ec "$back" </dev/null || exit
if grep -qF "$word" "/proc/$guard/cmdline" 2>/dev/null; then
	kill -s TERM -- "-$guard"
fi
