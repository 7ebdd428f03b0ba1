#!/bin/sh
# Makes .venv and installs what pyproject.toml asks for; `install-python.sh dev`: for the tests.
set -eu

python=.venv/bin/python
# One that an interruption left half made, or whose Python was removed, is made again.
if ! $python -m pip --version >/dev/null 2>&1; then
	base=$(scripts/find-python.sh)
	echo "Making .venv with $("$base" --version)"
	"$base" -m venv --clear .venv
fi

extra=${1:-}
list=build/requirements${extra:+-$extra}.txt
mkdir -p build
$python - "$extra" >"$list" <<'END'
import sys
import tomllib

with open("pyproject.toml", "rb") as file:
    asked = tomllib.load(file)
project, extra = asked["project"], sys.argv[1]
if extra:
    rows = project["optional-dependencies"][extra]
else:
    rows = asked["build-system"]["requires"] + project["dependencies"]
print(*rows, sep="\n")
END
echo "Python packages, into .venv:"
sed 's/^/  /' "$list"
$python -m pip install --quiet --disable-pip-version-check --no-input --requirement "$list"
