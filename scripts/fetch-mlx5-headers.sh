#!/bin/sh
# Gets what the model of a ConnectX is built with, into the folder OUT/headers: QEMU's headers of
# exactly VERSION (Debian's PACKAGE of it), glib's, and mlx5_ifc.h of the newest kernel's. From
# wherever apt of this machine gets its packages; nothing is installed.
#
#     fetch-mlx5-headers.sh OUT VERSION PACKAGE
set -eu

work=$1 version=$2 package=$3
cd "$work"

stop() {
	echo "$1" >&2
	exit 1
}
said() { # why a command of apt failed
	tail -n 5 apt.log >&2
	stop "$1"
}
mkdir -p apt/lists/partial apt/cache/archives/partial
# shellcheck disable=SC2016 # apt's own names
form='$(REPO_URI)|$(RELEASE)|$(COMPONENT)'
for code in $(apt-get indextargets --format "$form" 'Created-By: Packages' | sort -u); do
	case $code in *debian*) echo "deb-src $(echo "$code" | tr '|' ' ')" ;; esac
done >apt/sources.list
private="-q -o Dir::Etc::SourceList=$work/apt/sources.list -o Dir::Etc::SourceParts=/dev/null
	-o Dir::State::Lists=$work/apt/lists -o Dir::Cache=$work/apt/cache
	-o APT::Sandbox::User=root"
# shellcheck disable=SC2086 # options
apt-get $private update >apt.log 2>&1 || said "apt has no list of source packages"
# shellcheck disable=SC2086
apt-get $private source --download-only --tar-only "qemu=$package" >apt.log 2>&1 ||
	said "apt has no sources of qemu $package, which is installed:
apt-get update && apt-get install qemu-system-x86, then again"
kernel=$(apt-cache search --names-only '^linux-headers-[0-9].*-common$' | cut -d' ' -f1 |
	sort -V | tail -n 1)
[ -n "$kernel" ] || stop "apt knows no linux-headers-*-common: apt-get update, then again"
apt-get -q -o APT::Sandbox::User=root download "$kernel" libglib2.0-dev >apt.log 2>&1 ||
	said "apt-get download $kernel libglib2.0-dev failed"
mkdir qemu kernel glib headers
tar -xJf qemu_*.orig.tar.xz -C qemu --strip-components=1 --wildcards '*/include' \
	'*/linux-headers' '*/host' '*/qapi' '*/scripts' '*/VERSION'
[ "$(cat qemu/VERSION)" = "$version" ] ||
	stop "the sources are of QEMU $(cat qemu/VERSION), installed is $version"
dpkg-deb --fsys-tarfile linux-headers-*.deb |
	tar -x -C kernel --wildcards --strip-components=7 '*/include/linux/mlx5/mlx5_ifc*.h'
dpkg-deb -x libglib2.0-dev_*.deb glib
PYTHONPATH=qemu/scripts python3 qemu/scripts/qapi-gen.py -o headers/qapi -b \
	qemu/qapi/qapi-schema.json
mv qemu/include qemu/linux-headers qemu/host headers
mv kernel/mlx5_ifc*.h headers
mv glib/usr/include/glib-2.0 headers/glib
mv glib/usr/lib/*/glib-2.0/include/glibconfig.h headers/glib
# What QEMU's own build would have found out of this machine, as far as its headers ask.
for name in LINUX POSIX IOVEC ATOMIC64 INT128 INT128_TYPE MODULES TCG EVENTFD EPOLL; do
	echo "#define CONFIG_$name 1"
done >headers/config-host.h
printf '#define HOST_X86_64 1\n#define QEMU_VERSION "%s"\n' "$version" >>headers/config-host.h
: >headers/config-poison.h
rm -rf headers/qapi/*.c
