# Makes a change that goes back by itself when nobody gives it back in time.
#   sh -s -- WORD SECONDS CHANGE BACK <this    prints the process id of its guard
# CHANGE and BACK are lines for sh; WORD is how the guard is known again. The guard is there first.
word=$1 seconds=$2 change=$3 back=$4
setsid sh -c 'sleep "$1" && sh -c "$2"' "$word" "$seconds" "$back" \
	</dev/null >/dev/null 2>&1 &
echo "$!"
sh -ec "$change" </dev/null
