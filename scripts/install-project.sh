#!/bin/sh
# Builds and installs both packages into .venv: wirespeed, which is Python alone, and the tester.
set -eu

# Without isolation, and the tester in a folder that stays, a small change is built in seconds.
install() {
	PATH=$PWD/.venv/bin:$PATH .venv/bin/python -m pip install --quiet --no-input \
		--disable-pip-version-check --no-deps --no-build-isolation "$@"
}
echo "Building wirespeed and wirespeed-tester into .venv"
install .
install --config-settings=build-dir=../build/tester ./tester
