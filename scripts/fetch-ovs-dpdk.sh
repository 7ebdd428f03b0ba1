#!/bin/sh
# Unpacks Debian's Open vSwitch with DPDK into the cache, for `wirespeed measure --dut ovs-dpdk`.
# Installs nothing and starts nothing: the packages' own scripts, which would, are not run.
set -eu

folder=${XDG_CACHE_HOME:-$HOME/.cache}/wirespeed
daemon=usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk
[ ! -e "/$daemon" ] || exit 0
[ ! -e "$folder/ovs-dpdk/$daemon" ] || exit 0
if ! command -v apt-get >/dev/null; then
	echo "There is no apt-get here: Open vSwitch with DPDK is not there to be measured." >&2
	exit 0
fi

mkdir -p "$folder"
draft=$(mktemp -d "$folder/.ovs-dpdk.XXXXXX")
trap 'rm -rf "$draft"' EXIT
(
	cd "$draft"
	download() {
		apt-get -o Acquire::Retries=3 -o APT::Sandbox::User= -qq download \
			openvswitch-common openvswitch-switch openvswitch-switch-dpdk
	}
	# The list of packages may be older than the archive.
	download 2>/dev/null || { apt-get -qq update && download; }
	mkdir root
	for package in *.deb; do
		dpkg-deb -x "$package" root
	done
)
missing=$(ldd "$draft/root/$daemon" | sed -n 's/^\t*\(.*\) => not found$/\1/p')
if [ -n "$missing" ]; then
	echo "Open vSwitch with DPDK lacks libraries here:" "$missing" >&2
	exit 1
fi
chmod 755 "$draft/root"
# Of two that fetch at once, the later one finds it there.
mv -T "$draft/root" "$folder/ovs-dpdk" 2>/dev/null || [ -e "$folder/ovs-dpdk/$daemon" ]
