#!/bin/sh
# Builds the Python package and the tester into .venv: one build for both languages.
set -eu

echo "Building wirespeed and wirespeed-tester into .venv"
# Without isolation, and in a folder that stays, a small change is built in seconds.
PATH=$PWD/.venv/bin:$PATH .venv/bin/python -m pip install --quiet --disable-pip-version-check \
	--no-input --no-deps --no-build-isolation --config-settings=build-dir=build/wheel .
