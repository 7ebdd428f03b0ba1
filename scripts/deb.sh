#!/bin/sh
# Builds the Debian packages wirespeed and wirespeed-tester into FOLDER (build/deb), for the release
# of Debian that this runs on, and asks lintian about them.
set -eu

scripts/install-system.sh deb
mkdir -p "${1:-build/deb}"
deb=$(cd "${1:-build/deb}" && pwd)
python=$PWD/.venv/bin/python
cache=${XDG_CACHE_HOME:-$HOME/.cache}
case $cache in /*) ;; *) cache=$HOME/.cache ;; esac
system=$(/usr/bin/python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
rm -rf "$deb"
mkdir -p "$deb/wirespeed" "$deb/wheels"
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH

# The sources as they stand, without what was built from them.
git ls-files --cached --others --exclude-standard -z -- debian scripts src tester tools \
	LICENSE NOTICE README.md pyproject.toml |
	tar --null --files-from=- -cf - | tar -xf - -C "$deb/wirespeed"
# What needs a network is done before the build, which has none.
echo "Wheels of Python $system, as locked, into $deb/wheels"
pip="$python -m pip --quiet --disable-pip-version-check --no-input"
$pip download --require-hashes --only-binary :all: --python-version "$system" \
	--dest "$deb/wheels" --requirement scripts/python-packages-run.lock
$pip wheel --no-deps --no-build-isolation --wheel-dir "$deb/wheels" .
scripts/sbom-tool.sh "$cache/wirespeed/cyclonedx-bom-7"

echo "Building: $deb/build.log"
cd "$deb/wirespeed"
PATH=$(dirname "$python"):$PATH PIP="$python -m pip" WHEELS=$deb/wheels \
	CYCLONEDX=$cache/wirespeed/cyclonedx-bom-7/bin/cyclonedx-py DEB_BUILD_OPTIONS=noautodbgsym \
	dpkg-buildpackage --build=binary --unsigned-changes --unsigned-buildinfo \
	>"$deb/build.log" 2>&1 || {
	tail -n 30 "$deb/build.log" >&2
	exit 1
}
cd "$deb"
lintian --allow-root --fail-on error,warning --tag-display-limit 0 ./*.changes
ls -1 "$PWD"/*.deb
