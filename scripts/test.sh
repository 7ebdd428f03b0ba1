#!/bin/sh
# Linters, then pytest, whose summary is the last line; it runs the tester's C unit tests too.
# Both run, so that a failure of one does not hide another.
set -u

PATH=$PWD/.venv/bin:$PATH
export WIRESPEED_BUILD="$PWD/build/test"
failed=
scripts/lint.sh || failed=lint
pytest || failed="$failed pytest"
[ -z "$failed" ] || {
	echo "failed: $failed" >&2
	exit 1
}
