# Makes a change that goes back by itself when nobody gives it back in time.
#   sh -s -- WORD SECONDS CHANGE BACK <this    prints the process id and the group of its guard
# CHANGE and BACK are lines for sh; WORD is how the guard is known again. The guard is there first,
# and in a session of its own: what ends us and all that we started does not end it.
word=$1 seconds=$2 change=$3 back=$4
# shellcheck disable=SC2016 # it expands in the guard
guard='sh -c '\''sleep "$1" && sh -c "$2"'\'' "$0" "$1" "$2" </dev/null >/dev/null 2>&1 &
echo "$! $$"'
setsid sh -c "$guard" "$word" "$seconds" "$back" </dev/null || exit
sh -ec "$change" </dev/null
