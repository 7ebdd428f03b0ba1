#!/bin/sh
# Builds OUT/netdevsim.ko: a simulated network device, which Debian leaves out of its kernels.
#
#     netdevsim_build.sh OUT RELEASE SOURCE_PACKAGE
#
# Nothing is installed: headers and source are unpacked beside it.
set -eu

out=$1 release=$2 source=$3
work=$out/work
mkdir "$work" "$work/root" "$work/module"
cd "$work"
apt-cache show "linux-headers-$release" >about
version=$(sed -n 's/^Version: //p' about | head -n 1)
needed() {
	sed -n "s/^Depends:.* \($1[^ ,]*\).*/\1/p" about | head -n 1
}
apt-get -o Acquire::Retries=3 -o APT::Sandbox::User= -qq download "linux-headers-$release" \
	"$(needed 'linux-headers-[^ ]*-common')" "$(needed linux-kbuild-)" "$source=$version"
for package in linux-headers-*.deb linux-kbuild-*.deb; do
	dpkg-deb -x "$package" root
done
dpkg-deb --fsys-tarfile linux-source-*.deb | tar -xO --wildcards './usr/src/linux-source-*.tar.xz' |
	xz -dc | tar -x --wildcards --strip-components=4 -C module '*/drivers/net/netdevsim/*'
headers=$work/root/usr/src/linux-headers-$release
# They expect to be installed in /usr/src. Without `vmlinux`, nothing is done for debuggers.
sed -i "s,/usr/src,$work/root/usr/src,g" "$headers/Makefile"
rm -f "$headers/vmlinux"
# Samples of packets want a module that the lab's hosts have not.
sed -i 's/IS_ENABLED(CONFIG_PSAMPLE)/0/' module/netdevsim.h
make -s -C "$headers" "M=$work/module" CONFIG_NETDEVSIM=m CONFIG_PSAMPLE= modules
strip --strip-debug -o "$out/netdevsim.ko" module/netdevsim.ko
cd "$out"
rm -r work
