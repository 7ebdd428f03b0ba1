#!/bin/busybox sh
# shellcheck shell=dash
# The first process of a lab's host: the shared image, read only, with a tmpfs over it.
b=/bin/busybox
$b mkdir -p /proc /sys /dev /low /high /new
$b mount -t devtmpfs dev /dev
exec </dev/console >/dev/console 2>&1
echo lab-boots
for module in /modules/*; do
	$b insmod "$module"
done
tries=0
until [ -b /dev/vda ] || [ $tries -ge 100 ]; do
	$b sleep 0.05
	tries=$((tries + 1))
done
$b mount -t erofs -o ro /dev/vda /low || echo "lab-failed: no root file system"
$b mount -t tmpfs -o size=60% tmpfs /high
$b mkdir /high/upper /high/work
$b mount -t overlay -o lowerdir=/low,upperdir=/high/upper,workdir=/high/work overlay /new ||
	echo "lab-failed: no overlay"
$b mount --move /dev /new/dev
exec $b switch_root /new /usr/lib/lab/init
