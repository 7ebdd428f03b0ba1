#!/bin/sh
# wirespeed's collector: reads this host and prints what it read. It changes nothing, installs
# nothing, writes no file. Run it as root to see all; without root it says what it could not see.
# Below the functions, each block is one source of facts, in the words that you could type yourself.

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

# run NAME SUBJECT COMMAND...: one section, with what the command printed and its return code.
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

# show NAME SUBJECT FUNCTION...: the same for a function of this script.
show() {
	printf '%s begin %s %s\n' "$mark" "$1" "$2"
	shift 2
	{ errors=$("$@" 2>&1 >&3 3>&-); } 3>&1
	end_section "$?"
}

end_section() {
	[ -z "$errors" ] || printf '\n%s errors\n%s' "$mark" "$errors"
	printf '\n%s end %s\n' "$mark" "$1"
}

# files NAME SUBJECT: small files, whose paths are on the standard input, one a line.
files() {
	tr '\n' '\0' | run "$1" "$2" xargs -0 grep -H ''
}

# real_path LINK: sets $real to where a link points, or to nothing, without starting a process.
real_path() {
	real=
	if [ -d "$1" ] && cd -P "$1" 2>/dev/null; then
		real=$PWD
	fi
}

# What the sources below go through:
#   $netdevs       netdevs with a device of their own (no bridges, bonds, tunnels)
#   $port_netdevs  those of them that are a port: no representor, no VF of this host (there may
#                  be thousands of those, and one tool call for each would take minutes)
#   $functions     PCI functions of class network (0x02....), VFs too
#   $pfs           those of them that are no VF of this host
netdevs='' port_netdevs='' functions='' pfs=''
for path in /sys/class/net/*/device; do
	path=${path%/device}
	[ -e "$path" ] || continue
	netdevs="$netdevs ${path##*/}"
	[ -e "$path/device/physfn" ] && continue
	port=
	{ read -r port <"$path/phys_port_name"; } 2>/dev/null
	case $port in
	*pf[0-9]*vf* | *pf[0-9]*sf*) ;;
	*) port_netdevs="$port_netdevs ${path##*/}" ;;
	esac
done
for path in /sys/bus/pci/devices/*/class; do
	{ read -r class <"$path"; } 2>/dev/null || continue
	case $class in 0x02*) ;; *) continue ;; esac
	path=${path%/class}
	functions="$functions ${path##*/}"
	[ -e "$path/physfn" ] || pfs="$pfs ${path##*/}"
done
set -f

# What this host and its users are called: so that it can be found and replaced everywhere.
own_names() {
	{ read -r name </proc/sys/kernel/hostname; } 2>/dev/null && printf 'hostname %s\n' "$name"
	{ read -r name </proc/sys/kernel/domainname; } 2>/dev/null && printf 'domain %s\n' "$name"
	[ ! -r /etc/resolv.conf ] || while read -r key value; do
		case $key in domain | search) printf '%s %s\n' "$key" "$value" ;; esac
	done </etc/resolv.conf
	printf 'user %s\n' "${SUDO_USER:-}" "${LOGNAME:-}" "${USER:-}"
}
show names - own_names
