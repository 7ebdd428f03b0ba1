#!/bin/sh
# Linters, the tester's unit tests, then pytest, whose summary is the last line.
# All of them run, so that one failure does not hide another.
set -u

PATH=$PWD/.venv/bin:$PATH
failed=
scripts/lint.sh || failed="$failed lint"
# Prints what a step says only if it fails.
quietly() {
	"$@" >build/test.log 2>&1 || {
		cat build/test.log
		return 1
	}
}
unit_tests() {
	[ -f build/test/build.ninja ] || quietly meson setup build/test || return 1
	quietly meson compile -C build/test && meson test -C build/test --print-errorlogs
}
unit_tests || failed="$failed tester"
[ -z "$failed" ] || echo "failed before pytest:$failed" >&2
pytest || failed="$failed pytest"
[ -z "$failed" ]
