#!/bin/sh
# Linters, the tester's unit tests, then pytest, whose summary is the last line.
# All of them run, so that one failure does not hide another.
set -u

PATH=$PWD/.venv/bin:$PATH
failed=
scripts/lint.sh || failed="$failed lint"
if [ -d tester/tests ]; then
	[ -d build/test ] || meson setup build/test >build/test-setup.log ||
		cat build/test-setup.log
	meson compile --quiet -C build/test && meson test -C build/test --print-errorlogs ||
		failed="$failed tester"
fi
[ -z "$failed" ] || echo "failed before pytest:$failed" >&2
pytest || failed="$failed pytest"
[ -z "$failed" ]
