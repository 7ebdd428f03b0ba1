# Gives back what guest_lease.sh changed; its guard goes only when that went well.
#   sh -s -- WORD GUARD GROUP BACK <this
word=$1 guard=$2 group=$3 back=$4
sh -ec "$back" </dev/null || exit
if grep -qF "$word" "/proc/$guard/cmdline" 2>/dev/null; then
	kill -s TERM -- "-$group"
fi
