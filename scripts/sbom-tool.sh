#!/bin/sh
# Makes the environment FOLDER with cyclonedx-py, which lists what an environment has in it (SBOM).
set -eu

folder=$1
[ ! -x "$folder/bin/cyclonedx-py" ] || exit 0
"$(scripts/find-python.sh)" -m venv --clear --without-pip "$folder"
.venv/bin/python -m pip --python "$folder/bin/python" install --quiet --no-input \
	--disable-pip-version-check --only-binary :all: 'cyclonedx-bom>=7,<8'
