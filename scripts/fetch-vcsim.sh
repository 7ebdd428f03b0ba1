#!/bin/sh
# Builds VMware's simulator of the vSphere API into the cache, for the tests of vsphere://.
# Installs nothing. Where it cannot be had it says why, and those tests are skipped with the reason.
set -eu

version=v0.37.3
folder=${XDG_CACHE_HOME:-$HOME/.cache}/wirespeed
vcsim=$folder/vcsim-$version
[ ! -x "$vcsim" ] || exit 0

gone() {
	echo "VMware's simulator is not there: $1. Tests of vsphere:// are skipped." >&2
	exit 0
}

mkdir -p "$folder"
draft=$(mktemp -d "$folder/.vcsim.XXXXXX")
trap 'rm -rf "$draft"' EXIT

# Debian's compiler is unpacked beside it where there is none; its packages install nothing.
if ! command -v go >/dev/null; then
	command -v apt-get >/dev/null || gone "there is neither go nor apt-get here"
	compiler=$(apt-cache depends golang-go | sed -n 's/^ *Depends: \(golang-[0-9.]*\)-go$/\1/p')
	[ -n "$compiler" ] || gone "no package of a Go compiler is known here"
	(
		cd "$draft"
		apt-get -o Acquire::Retries=3 -o APT::Sandbox::User= -qq download \
			"$compiler-go" "$compiler-src"
		for package in *.deb; do
			dpkg-deb -x "$package" unpacked
			rm "$package"
		done
	) || gone "no Go compiler could be fetched"
	# Its own tree has links to the packages' other folders.
	GOROOT=$draft/go
	mkdir "$GOROOT"
	cp -r "$draft/unpacked"/usr/lib/go-*/. "$GOROOT"
	for part in src api misc test; do
		[ -d "$GOROOT/$part" ] && [ ! -L "$GOROOT/$part" ] && continue
		rm -f "$GOROOT/$part"
		ln -s "$draft/unpacked"/usr/share/go-*/"$part" "$GOROOT/$part"
	done
	# pkg/include is in the other folder too.
	if [ -L "$GOROOT/pkg/include" ]; then
		rm "$GOROOT/pkg/include"
		ln -s "$draft/unpacked"/usr/share/go-*/pkg/include "$GOROOT/pkg/include"
	fi
	PATH=$GOROOT/bin:$PATH
	export GOROOT PATH
fi

echo "Building VMware's simulator of the vSphere API, $version (a minute)"
GOPATH=$draft/path GOCACHE=$draft/cache GOBIN=$draft/bin GOFLAGS=-modcacherw CGO_ENABLED=0 \
	timeout 420 go install "github.com/vmware/govmomi/vcsim@$version" >"$draft/log" 2>&1 ||
	gone "it could not be built: $(tail -n 1 "$draft/log")"
# Of two that build at once, the later one replaces what is the same.
mv "$draft/bin/vcsim" "$vcsim"
