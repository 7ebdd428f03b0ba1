#!/bin/sh
# Installs the packages of FOLDER (build/deb) into a clean Debian, in memory, and runs a script
# there that comes by standard input. That Debian is made once, in the user's cache, from where apt
# of this machine has its packages; nothing of this machine is changed, and no root is needed.
set -eu

folder=$(cd "${1:-build/deb}" && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}
case $cache in /*) ;; *) cache=$HOME/.cache ;; esac
# shellcheck disable=SC1091 # every system has its own
suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
depends=$(for package in "$folder"/*.deb; do
	dpkg-deb --field "$package" Depends
	echo ,
done | tr ',' '\n' | sed 's/[ (|].*//2; s/^ *//; s/[ (].*//' | sort -u | grep . | paste -sd,)
digest=$(echo "$suite $depends" | sha256sum | cut -c1-12)
tree=$cache/wirespeed/deb-$suite-$digest.tar

if [ ! -e "$tree" ]; then
	mkdir -p "$cache/wirespeed"
	draft=$(mktemp -d "$cache/wirespeed/.deb-XXXXXX")
	trap 'rm -rf "$draft"' EXIT
	# shellcheck disable=SC2016 # apt's own names
	apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' \
		'Created-By: Packages' | grep -E " $suite(-updates|-security)? " |
		sort -u >"$draft/sources"
	apt-config dump | grep -E '^Acquire::(https?|Check-Valid-Until|Check-Date)\b.* "[^"]+";' \
		>"$draft/options" || :
	set --
	while IFS= read -r option; do
		set -- "$@" --aptopt="$option"
	done <"$draft/options"
	mmdebstrap --quiet --variant=minbase --include="$depends" "$@" "$suite" "$draft/tree.tar" \
		"$draft/sources"
	mv "$draft/tree.tar" "$tree"
fi

script=$(mktemp)
trap 'rm -rf "$script" "${draft:-$script}"' EXIT
cat >"$script"
as_root=
[ "$(id -u)" -eq 0 ] || as_root="mmdebstrap --unshare-helper"
# shellcheck disable=SC2016,SC2086 # the inner shell expands it; a command and its option
$as_root unshare --mount --pid --fork sh -euc '
	mount -t tmpfs tmpfs /mnt
	tar -xf "$1" -C /mnt --exclude=./dev
	mkdir -p /mnt/dev /mnt/proc /mnt/sys
	mount --rbind /dev /mnt/dev
	mount --rbind /sys /mnt/sys
	mount -t proc proc /mnt/proc
	cp "$2"/*.deb /mnt/opt/
	cp "$3" /mnt/opt/script
	PATH=/usr/sbin:/usr/bin:/sbin:/bin
	env -i HOME=/root PATH=$PATH LC_ALL=C.UTF-8 chroot /mnt sh -euc "
		cd /opt
		dpkg --install ./*.deb >log 2>&1 || { cat log >&2; exit 3; }
		sh -eu ./script"
' sh "$tree" "$folder" "$script"
