#!/bin/sh
# wirespeed's collector: reads this host and prints what it read. It changes nothing, installs
# nothing, writes no file. Run it as root to see all; without root it says what it could not see.
# Below the functions, each block is one source of facts, in the words that you could type yourself.

# real_path LINK: sets $real to where a link points, or to nothing, without starting a process.
real_path() {
	real=
	if [ -d "$1" ] && cd -P "$1" 2>/dev/null; then
		real=$PWD
	fi
}

# What the sources below go through:
#   $netdevs       netdevs with a device of their own (no bridges, bonds, tunnels)
#   $port_netdevs  those of them that are a port: no representor, no VF or subfunction of this
#                  host (there may be thousands of those, and one tool call for each would take
#                  minutes)
#   $functions     PCI functions of class network (0x02....), VFs too
#   $pfs           those of them that are no VF of this host
netdevs='' port_netdevs='' functions='' pfs=''
for path in /sys/class/net/*/device; do
	path=${path%/device}
	[ -e "$path" ] || continue
	netdevs="$netdevs ${path##*/}"
	[ -e "$path/device/physfn" ] && continue
	[ -e "$path/device/sfnum" ] && continue
	port=
	{ read -r port <"$path/phys_port_name"; } 2>/dev/null
	case $port in
	pf[0-9]* | c[0-9]*pf[0-9]*) ;;
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
