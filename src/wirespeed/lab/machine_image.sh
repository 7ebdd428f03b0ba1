#!/bin/sh
# Makes what a lab's hosts boot from: `vmlinux`, `initramfs` and `root.erofs`, in the folder OUT.
#
#     machine_image.sh OUT SUITE KERNEL_PACKAGE GUEST_FOLDER [MMDEBSTRAP_OPTION...] <SOURCES
#
# Nothing is installed on this machine, and root is not needed (mmdebstrap then uses a user
# namespace). SOURCES are lines of a sources.list: this machine's own.
set -eu

out=$1 suite=$2 kernel=$3 guest=$4
shift 4
work=$out/work
mkdir "$work"
cat >"$work/sources.list"

# Killed, this shell cannot end what it started. This one does, as soon as it is alone.
# shellcheck disable=SC2016
setpriv --pdeathsig TERM -- sh -c '
	trap "trap : TERM; kill -TERM 0; sleep 5; kill -KILL 0" TERM
	while :; do sleep 1; done' </dev/null >/dev/null 2>&1 &
watch=$!
trap 'kill -KILL $watch' EXIT
# What is half made goes away with the folder. (Without root, others must be able to enter it.)
[ "$(id -u)" -ne 0 ] || export TMPDIR="$work"

sh "$guest/machine_kernel.sh" "$out" "$kernel"
release=$(cat "$out/release")
cd "$work"
cp "$guest/machine_initramfs.sh" slim/initramfs/init
mkdir slim/lab
cp "$guest/machine_init.sh" slim/lab/init
# What a guest of a lab's host boots from: this, and the `guest` that is packed below.
cp "$out/vmlinux" slim/lab/vmlinux
cp "$guest/machine_guest.sh" slim/lab/guest_init
cp "$guest/machine_guest_pack.sh" slim/lab/guest_pack
chmod 755 slim/initramfs/init slim/lab/init

pack="cd /usr/lib/lab && sh guest_pack $release /usr/lib/lab/guest_init /usr/lib/lab/guest"
pack="chroot \"\$1\" sh -c '$pack && rm guest_init guest_pack'"
# shellcheck disable=SC2016 # $1 is the hook's own
# The hooks run as the root of the new system: what goes in and out goes through pipes.
mmdebstrap --quiet --variant=minbase --architectures=amd64 --skip=check/empty \
	--include=busybox-static,dbus,dropbear-bin,ethtool,iperf3,iproute2,iputils-arping \
	--include=iputils-ping,kmod,mstflint,nftables,openssh-server,openvswitch-switch,pciutils \
	--include=procps,python3-minimal,qemu-system-x86,systemd,systemd-sysv,tcpdump,udev \
	--include=openvswitch-switch-dpdk \
	--include='?name(^librte-mempool-ring-?[0-9]+$)' \
	--include='?name(^librte-net-e1000-?[0-9]+$)' \
	--dpkgopt=path-exclude='/usr/share/doc/*' --dpkgopt=path-exclude='/usr/share/man/*' \
	--dpkgopt=path-exclude='/usr/share/locale/*' --dpkgopt=force-unsafe-io \
	"$@" \
	--customize-hook="copy-in slim/modules slim/lab /usr/lib" \
	--customize-hook="copy-in slim/initramfs /tmp" \
	--customize-hook="chroot \"\$1\" depmod $release" \
	--customize-hook="$pack" \
	--customize-hook='
		set -e; cd "$1"
		rm -rf etc/ssh/ssh_host_* var/lib/apt/lists/* var/cache/apt/* root/.ssh
		mkdir root/.ssh; chmod 700 root/.ssh
		cp bin/busybox tmp/initramfs/bin/busybox
		(cd tmp/initramfs && find . | ../../bin/busybox cpio -o -H newc) >tmp/initramfs.cpio
		rm -r tmp/initramfs
		# For nobody here: Perl, character sets, time zones, other machines.
		rm -r usr/share/perl usr/lib/x86_64-linux-gnu/perl
		rm -r usr/lib/x86_64-linux-gnu/gconv
		rm -r usr/share/zoneinfo usr/share/iso-codes usr/lib/udev/hwdb.d usr/lib/ipxe/qemu
		rm usr/bin/qemu-system-x86_64-microvm usr/bin/qemu-storage-daemon
		rm usr/share/qemu/openbios* usr/share/qemu/s390* usr/share/qemu/*.lid \
			usr/share/qemu/slof.bin usr/share/qemu/opensbi* usr/share/qemu/hppa*
		mkfs.erofs -T0 -x-1 --exclude-regex="^(proc|sys|dev|run|tmp)/." tmp/root.erofs . \
			>/dev/null' \
	--customize-hook="copy-out /tmp/root.erofs /tmp/initramfs.cpio $out" \
	"$suite" /dev/null "$work/sources.list" >&2
mv "$out/initramfs.cpio" "$out/initramfs"
cd "$out"
rm -r work
