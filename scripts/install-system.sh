#!/bin/sh
# Installs the Debian packages that are missing, and says which and what for.
# `install-system.sh test` looks for what only the tests need, `lab` for the virtual hosts' lab,
# `deb` for what builds Debian packages.
set -eu

# package | how to see that it, or something that does its work, is there | what for
needed() {
	cat <<'END'
gcc            | command -v cc                          | builds the tester and l3fwd
libc6-dev      | test -e /usr/include/stdio.h           | builds the tester and l3fwd
pkg-config     | command -v pkg-config                  | finds DPDK
libdpdk-dev    | pkg-config --exists libdpdk            | DPDK, which the tester is built on
libjansson-dev | pkg-config --exists jansson            | JSON, which the tester speaks
dpdk-dev       | command -v dpdk-testpmd                | testpmd, a device under test
dpdk-doc       | test -d /usr/share/dpdk/examples/l3fwd | source of l3fwd, the other one
util-linux     | command -v setpriv                     | ends children with their parent
coreutils      | command -v stdbuf                      | reads testpmd line by line
END
	scripts/find-python.sh >/dev/null 2>&1 || cat <<'END'
python3        | false                                  | runs wirespeed
python3-venv   | false                                  | keeps its packages in .venv
END
}

needed_by_tests() {
	cat scripts/packages-test.txt
}

needed_by_lab() {
	cat scripts/packages-lab.txt
	[ "$(id -u)" -eq 0 ] || echo "uidmap | command -v newuidmap | makes it without root"
}

# Prints the package and its purpose of every row whose probe fails.
missing() {
	while IFS='|' read -r package probe purpose; do
		sh -c "$probe" >/dev/null 2>&1 ||
			printf '%s|%s\n' "$(echo "$package" | tr -d ' ')" "${purpose# }"
	done
}

case ${1:-} in
test) rows=$(needed_by_tests | missing) ;;
lab) rows=$(needed_by_lab | missing) ;;
deb) rows=$(missing <scripts/packages-deb.txt) ;;
*) rows=$(needed | missing) ;;
esac
[ -n "$rows" ] || exit 0

echo "Debian packages to install:"
echo "$rows" | while IFS='|' read -r package purpose; do
	printf '  %-19s %s\n' "$package" "$purpose"
done
packages=$(echo "$rows" | cut -d'|' -f1 | tr '\n' ' ')

if ! command -v apt-get >/dev/null; then
	echo "There is no apt-get here. Install what does the same, then run this again." >&2
	exit 1
fi
sudo=
if [ "$(id -u)" -ne 0 ]; then
	if ! command -v sudo >/dev/null; then
		echo "You are not root and there is no sudo. An administrator must run:" >&2
		echo "  apt-get update && apt-get install --no-install-recommends $packages" >&2
		exit 1
	fi
	sudo=sudo
fi

# Quiet unless it fails: unpacking DPDK alone is a thousand lines. It must never ask.
log=build/apt.log
mkdir -p build
apt() {
	$sudo env DEBIAN_FRONTEND=noninteractive apt-get -o Acquire::Retries=3 -o Dpkg::Use-Pty=0 \
		"$@" </dev/null >>"$log" 2>&1 || {
		tail -n 30 "$log" >&2
		echo "apt-get $1 failed; all that it said is in $log" >&2
		exit 1
	}
}
: >"$log"
apt update
# Their packages start servers, some on every address: the tests start their own instead.
mask() {
	case " $packages " in *" $1 "*) shift ;; *) return 0 ;; esac
	[ ! -d /run/systemd/system ] || $sudo systemctl mask "$@" >>"$log" 2>&1
}
mask openssh-server ssh.service ssh.socket
mask postgresql postgresql.service
mask prometheus prometheus.service prometheus-node-exporter.service
suite=
case " $packages " in *" qemu-system-x86 "*)
	# Version 8 brought the card with SR-IOV.
	suite=$(scripts/backports-option.sh qemu-system-x86 1:8 $sudo)
	;;
esac
# shellcheck disable=SC2086 # lists of names
apt install -y --no-install-recommends $suite $packages
