#!/bin/sh
# Makes .venv and installs what the lock file names, each by its hash; `install-python.sh dev`: for
# the tests. scripts/lock.sh writes the lock files.
set -eu

python=.venv/bin/python
# One that an interruption left half made, or whose Python was removed, is made again.
if ! $python -m pip --version >/dev/null 2>&1; then
	base=$(scripts/find-python.sh)
	echo "Making .venv with $("$base" --version)"
	"$base" -m venv --clear .venv
fi

list=scripts/python-packages${1:+-$1}.lock
echo "Python packages, into .venv:"
sed -n 's/^\([^ #]*==[^ ]*\).*/\1/p' "$list" | tr '\n' ' ' | fold -s -w 77 | sed 's/^/  /'
echo
# Wheels alone: what building a package from its source takes would come without a hash.
$python -m pip install --quiet --disable-pip-version-check --no-input --require-hashes \
	--only-binary :all: --requirement "$list"
