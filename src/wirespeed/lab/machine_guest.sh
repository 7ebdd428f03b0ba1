#!/bin/sh
# Process 1 of a guest of a lab's host: a virtual machine in a virtual machine, both emulated, where
# each program that is new costs seconds. So it has few of them, and dropbear for sshd. What it
# needs to know is on the disk that cloud-init's NoCloud would read.
b=/bin/busybox
PATH=/usr/sbin:/usr/bin:/sbin:/bin
export PATH
$b mount -t devtmpfs dev /dev
exec </dev/console >/dev/console 2>&1
$b mount -t proc proc /proc
$b mount -t sysfs sys /sys
$b mkdir /dev/pts
$b mount -t devpts devpts /dev/pts
$b modprobe -a virtio_blk virtio_net vfat nls_cp437 nls_ascii
tries=0
until $b mount -t vfat -o ro "$($b findfs LABEL=CIDATA)" /seed 2>/dev/null; do
	[ $tries -lt 50 ] || break
	tries=$((tries + 1))
	$b sleep 0.2
done
[ -e /seed/meta-data ] || echo "guest-failed: no seed"
$b sed -n 's/^local-hostname: //p' /seed/meta-data >/proc/sys/kernel/hostname
$b cp /seed/authorized_keys /root/.ssh/authorized_keys
$b chmod 600 /root/.ssh/authorized_keys
# The management port is the only one so far; its network is QEMU's own.
$b ip link set lo up
$b ip link set eth0 up
$b ip address add 10.0.2.15/24 dev eth0
dropbearkey -t ed25519 -f /run/host_key | $b grep ^ssh-ed25519 >/run/host_key.pub
dropbear -r /run/host_key -s -j -k
# The VFs get their names from the kernel, and stay down.
$b modprobe igbvf
read -r type key _ </run/host_key.pub
echo "wirespeed-host-key: $type $key"
# Process 1 reaps what lost its parent.
while :; do
	$b sleep 3600 &
	wait $!
done
