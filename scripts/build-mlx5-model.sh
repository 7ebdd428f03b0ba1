#!/bin/sh
# Builds the model of a ConnectX (models/mlx5) for the QEMU that is installed here, into the cache
# that `wirespeed lab up --card mlx5` looks in:
#
#     cache/mlx5-model-<version of QEMU>/mlx5.so
#
# What it is built with comes by fetch-mlx5-headers.sh; nothing is installed.
set -eu

here=$(cd "$(dirname "$0")/.." && pwd)
qemu=${QEMU:-qemu-system-x86_64}
base=${XDG_CACHE_HOME:-$HOME/.cache}
case $base in /*) ;; *) base=$HOME/.cache ;; esac

stop() {
	echo "$1" >&2
	exit 1
}
for need in "$qemu:qemu-system-x86" gcc:gcc python3:python3 apt-get:apt xz:xz-utils; do
	command -v "${need%:*}" >/dev/null ||
		stop "not installed: ${need#*:}; scripts/install-system.sh lab"
done
# QEMU emulator version 10.0.2 (Debian 1:10.0.2+ds-2+deb13u1~bpo12+1)
said=$("$qemu" --version | head -n 1)
version=$(echo "$said" | sed -n 's/^QEMU emulator version \([0-9.]*\).*/\1/p')
package=$(echo "$said" | sed -n 's/.*(Debian \(.*\))$/\1/p')
[ -n "$package" ] ||
	stop "$said: not a QEMU of Debian's, so its sources are not known; install qemu-system-x86"
case $version in
10.0.*) ;;
*) stop "the model is known to fit QEMU 10.0, not $version;
install qemu-system-x86 of Debian 13 or of bookworm-backports" ;;
esac

target=$base/wirespeed/mlx5-model-$version
digest=$(cat "$here"/models/mlx5/*.[ch] "$here/scripts/build-mlx5-model.sh" | sha256sum |
	cut -c1-12)
mkdir -p "$base/wirespeed"
# Who comes second waits for the first, and finds it made.
exec 9>"$base/wirespeed/.mlx5-model-$version.lock"
flock -w 300 9 || stop "the model is being built by another process, for 5 minutes now"
[ "$(cat "$target/digest" 2>/dev/null)" != "$digest" ] || exit 0

work=$(mktemp -d "$base/wirespeed/.mlx5-build-XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
cd "$work"

kept=$base/wirespeed/mlx5-headers-$version
if [ ! -e "$kept/mlx5_ifc.h" ]; then
	"$here/scripts/fetch-mlx5-headers.sh" "$work" "$version" "$package"
	rm -rf "$kept"
	mv headers "$kept"
fi

mkdir out objects
compile() {
	gcc -c -fPIC -fvisibility=hidden -O2 -g1 -std=gnu11 -Wall -Wextra \
		-Wno-unused-parameter -Wno-sign-compare -Wno-missing-field-initializers \
		-fno-strict-aliasing -fwrapv -D_GNU_SOURCE \
		-D_FILE_OFFSET_BITS=64 -I"$kept" -isystem "$kept/qapi" -isystem "$kept/include" \
		-isystem "$kept/linux-headers" -isystem "$kept/host/include/x86_64" \
		-isystem "$kept/host/include/generic" -isystem "$kept/glib" \
		"$1" -o "objects/$(basename "$1" .c).o"
}
for source in "$here"/models/mlx5/*.c; do
	compile "$source"
done
gcc -shared -Wl,-z,lazy objects/*.o -o out/mlx5.so
echo "$digest" >out/digest
# It says for itself whether it fits.
LD_PRELOAD=$work/out/mlx5.so "$qemu" -device mlx5,help >help.txt 2>&1 || :
grep -q netdev= help.txt ||
	stop "$qemu does not take the model: $(tail -n 2 help.txt)"
rm -rf "$target"
mv out "$target"
echo "$target/mlx5.so"
