#!/bin/sh
# What prints sections, as model/capture.py reads them. A script of ours starts with this.

LC_ALL=C
LANGUAGE=C
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin
export LC_ALL LANGUAGE PATH
unset CDPATH ENV GREP_OPTIONS

# Drawn anew each time, so that nothing on this host can print what looks like one of our lines.
{ read -r mark </proc/sys/kernel/random/uuid; } 2>/dev/null || mark=$$-$PPID-capture
printf 'wirespeed-capture 1 %s\n' "$mark"

# A tool that hangs (a module that does not answer, a daemon that is gone) costs 5 s, not the rest.
limit=
command -v timeout >/dev/null 2>&1 && limit='timeout 5'

# run NAME SUBJECT COMMAND...: one section, with what the command printed and its return code, which
# is then in $code.
run() {
	printf '%s begin %s %s\n' "$mark" "$1" "$2"
	shift 2
	if command -v "$1" >/dev/null; then
		{ errors=$($limit "$@" 2>&1 >&3 3>&-); } 3>&1
		end_section "$?"
	else
		errors="$1: not found"
		end_section 127
	fi
}

# ask_card NAME SUBJECT COMMAND...: `run` for a tool that locks the card while it asks it, as those
# of mstflint and MFT do. Ended in the midst it leaves the lock behind, and no tool can open the
# card any more: it gets 40 s.
ask_card() {
	usual=$limit
	[ -z "$limit" ] || limit='timeout 40'
	run "$@"
	limit=$usual
}

# show NAME SUBJECT FUNCTION...: the same for a function of this script.
show() {
	printf '%s begin %s %s\n' "$mark" "$1" "$2"
	shift 2
	{ errors=$("$@" 2>&1 >&3 3>&-); } 3>&1
	end_section "$?"
}

end_section() {
	code=$1
	[ -z "$errors" ] || printf '\n%s errors\n%s' "$mark" "$errors"
	printf '\n%s end %s\n' "$mark" "$1"
}

# files NAME SUBJECT: small files, whose paths are on the standard input, a NUL after each.
files() {
	run "$1" "$2" xargs -0 grep -H ''
}
