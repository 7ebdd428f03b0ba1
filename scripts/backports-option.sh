#!/bin/sh
# Prints the option by which apt-get installs PACKAGE at MIN_VERSION or later: nothing, or
# `--target-release SUITE-backports`, whose source is added if it is not there. Says what it adds.
set -eu

package=$1 min_version=$2
shift 2 # What is left is how to become root: `sudo`, or nothing.

version=$(apt-cache policy "$package" | sed -n 's/^ *Candidate: //p')
if dpkg --compare-versions "$version" ge "$min_version"; then
	exit 0
fi
# shellcheck disable=SC1091 # every system has its own
suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
targets() {
	# shellcheck disable=SC2016 # apt-get's own variables
	apt-get indextargets --format '$(REPO_URI) $(RELEASE)' \
		'Created-By: Packages' 'Component: main'
}
if ! targets | grep -q " $suite-backports\$"; then
	# From where this machine gets its other packages, be it a mirror or a proxy.
	uri=$(targets | awk -v suite="$suite" '$2 == suite { print $1; exit }')
	[ -n "$uri" ] || {
		echo "apt has no packages of $suite: $package $min_version cannot be had" >&2
		exit 1
	}
	list=/etc/apt/sources.list.d/$suite-backports.list
	keyring=/usr/share/keyrings/debian-archive-keyring.gpg
	signed=
	[ ! -e "$keyring" ] || signed="[signed-by=$keyring] "
	echo "  $list adds $uri $suite-backports: $package is too old in $suite ($version)" >&2
	echo "deb $signed$uri $suite-backports main" | "$@" tee "$list" >/dev/null
	"$@" apt-get -o Acquire::Retries=3 -q update </dev/null >&2
fi
echo "--target-release $suite-backports"
