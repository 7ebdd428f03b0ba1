#!/bin/sh
# Every linter, also when one fails. Says which did.
set -u

PATH=$PWD/.venv/bin:$PATH
failed=
check() {
	"$@" || failed="$failed $1"
}
# mypy takes longest: it runs beside the others. What it knows of a file goes by the file's content,
# so all checkouts share it.
MYPY_CACHE_DIR=${MYPY_CACHE_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/wirespeed/mypy}
export MYPY_CACHE_DIR
types=$(mktemp)
trap 'rm -f "$types"' EXIT
mypy --no-error-summary >"$types" 2>&1 &
checker=$!
check ruff check --quiet .
check ruff format --quiet --check .
# The sources, not what was installed from them.
PYTHONPATH=src check lint-imports --no-logo
check pytest --quiet --no-header --durations=0 --durations-min=60 tests/test_tidy.py
check scripts/shape.sh
if command -v shellcheck >/dev/null; then
	check shellcheck scripts/*.sh .ci/run
fi
wait "$checker" || failed="$failed mypy"
cat "$types"
[ -z "$failed" ] || {
	echo "lint failed:$failed" >&2
	exit 1
}
