#!/bin/sh
# Writes what is handed on into build/dist: the wheel, the tester's sources, the collector, which
# needs nothing but a shell, the list of what the wheel brings with it (SBOM), and their checksums.
set -eu

dist=build/dist
python=.venv/bin/python
rm -rf "$dist"
mkdir -p "$dist"
# Files in a wheel have the time of the commit: the same sources give the same wheel.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
$python -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir "$dist" .
chmod 644 "$dist"/*
version=$(basename "$dist"/wirespeed-*.whl | cut -d- -f2)
tester=wirespeed-tester-$version
git archive --format=tar --prefix="$tester/" HEAD:tester | gzip -n >"$dist/$tester.tar.gz"
.venv/bin/wirespeed capture --script >"$dist/wirespeed-collector.sh"

# Installed as a user would, from the package index, and asked what that was.
fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
install() {
	"$(scripts/find-python.sh)" -m venv --without-pip "$fresh/$1"
	$python -m pip --python "$fresh/$1/bin/python" install --quiet --disable-pip-version-check \
		--no-input --only-binary :all: "$2"
}
install wirespeed "$(echo "$dist"/wirespeed-*.whl)"
"$fresh/wirespeed/bin/wirespeed" --version
scripts/sbom-tool.sh "$fresh/sbom"
"$fresh/sbom/bin/cyclonedx-py" environment --output-reproducible --gather-license-texts \
	--pyproject pyproject.toml --output-file "$dist/wirespeed-$version.cdx.json" \
	"$fresh/wirespeed/bin/python"
(cd "$dist" && sha256sum ./* >SHA256SUMS && cat SHA256SUMS)
