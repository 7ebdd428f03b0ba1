#!/bin/sh
# Packs what a guest of a lab's host boots from, in the root of the hosts' image, of its own files:
#
#     machine_guest_pack.sh RELEASE INIT OUT
set -eu

release=$1 init=$2 out=$3
root=$(mktemp -d)
modules=/lib/modules/$release
cd "$root"
mkdir -p bin dev etc proc root/.ssh run seed sys tmp ".$modules" usr/bin usr/sbin
# As mktemp made it, only root may enter it.
chmod 755 .
chmod 700 root root/.ssh
cp "$init" init
chmod 755 init

cp "$(command -v busybox)" bin/busybox
# No `timeout`: the few seconds that a reading has elsewhere are not enough here.
for name in basename cat chmod cut echo false find grep head hostname id kill ls lsmod mkdir \
	modprobe mv ps readlink rm rmdir sed seq sleep sort stat tail touch tr true uname wc \
	xargs; do
	ln -s busybox "bin/$name"
done
for name in dash dropbear dropbearkey ip ping; do
	path=$(command -v "$name")
	cp -L "$path" "usr/bin/$name"
	ldd "$path" | grep -o '/[^ ]*' | while read -r library; do
		mkdir -p ".${library%/*}"
		cp -L "$library" ".$library"
	done
done
ln -s ../usr/bin/dash bin/sh

for name in virtio_blk virtio_net vfat nls_cp437 nls_ascii igbvf bonding; do
	modprobe -S "$release" --show-depends "$name"
done >needed
while read -r how path _; do
	[ "$how" != insmod ] || cp "$path" ".$modules/"
done <needed
rm needed
cp "$modules"/modules.builtin* "$modules/modules.order" ".$modules/"
depmod -b . "$release"

echo 'root:x:0:0:root:/root:/bin/sh' >etc/passwd
echo 'root:x:0:' >etc/group
find . | busybox cpio -o -H newc >"$out"
rm -r "$root"
