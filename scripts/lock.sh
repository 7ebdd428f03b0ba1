#!/bin/sh
# Writes the lock files of the Python packages: within the ranges of pyproject.toml, what is locked
# already where that still fits. `lock.sh --upgrade`: the newest.
set -eu

tools=$(mktemp -d)
trap 'rm -rf "$tools"' EXIT
"$(scripts/find-python.sh)" -m venv "$tools"
"$tools/bin/python" -m pip install --quiet --disable-pip-version-check --no-input 'uv>=0.13,<1'

mkdir -p build
build=build/build-requires.in
"$tools/bin/python" - >$build <<'END'
import tomllib

for name in ("pyproject.toml", "tester/pyproject.toml"):
    with open(name, "rb") as file:
        print(*tomllib.load(file)["build-system"]["requires"], sep="\n")
END

# Hashes of every wheel of a release, so for each Python and machine that it has one for.
lock() {
	"$tools/bin/uv" pip compile --quiet --universal --python-version 3.11 --generate-hashes \
		--only-binary :all: --no-header --output-file "$@" pyproject.toml
}
lock scripts/python-packages.lock "$@" $build
lock scripts/python-packages-dev.lock "$@" $build --extra dev \
	--constraint scripts/python-packages.lock
# What runs alone: a package of Debian's form has these, and nothing that builds.
lock scripts/python-packages-run.lock "$@" --constraint scripts/python-packages.lock
