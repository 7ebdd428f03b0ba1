#!/bin/sh
# Linters, then the tests. `test.sh quick`; `test.sh`; `test.sh all`, which CI runs.
#
#   quick   no virtual host, no DPDK, no SSH server
#   (none)  everything but what is marked `rare`
#   all     everything; with CI=true, the rare tests of one of the two parts, and none of them
#           begins after 25 minutes
#
# DPDK's programs poll, here and on virtual hosts: their tests have the machine to themselves.
# Then all others run, some at a time: those with virtual hosts wait for them, and the rest
# compute meanwhile. All of it runs, so that a failure does not hide another.
set -u

PATH=$PWD/.venv/bin:$PATH
export WIRESPEED_BUILD="$PWD/build/test"
unset PYTHONDONTWRITEBYTECODE
failed=
# Compiles every test and module, while the linters leave a CPU idle: each of the workers would
# else do so by itself. What does not compile is said by the parts.
pytest --collect-only --quiet >/dev/null 2>&1 &
scripts/lint.sh || failed=lint
wait

# One more than there are CPUs: a worker that waits for a host leaves its CPU to another.
workers=$(($(nproc) + 1))
side_by_side="--numprocesses=$workers --dist=loadfile --no-loadscope-reorder"

# part NAME OPTION...
part() {
	name=$1
	shift
	echo "== $name"
	# The linters have run those of the sources.
	pytest --ignore=tests/test_tidy.py "$@" || failed="$failed $name"
}

# both ALONE REST: the two parts, and what else the marks of their tests must say.
both() {
	polling="polls or (dpdk and not compiles)"
	# Only their files: all 500 take 13 s to read. tests/conftest.py refuses one that is missed.
	files=$(grep -rlE 'mark\.(dpdk|polls)' tests --include='test_*.py')
	# shellcheck disable=SC2086 # a list of files
	part dpdk $files -m "($polling)$1"
	# shellcheck disable=SC2086 # a list of options
	part rest $side_by_side -m "not ($polling)$2"
}
usual=" and not rare"

case ${1:-} in
quick)
	# shellcheck disable=SC2086
	part quick $side_by_side -m "not machines and not dpdk and not sshd and not rare"
	;;
all)
	alone='' rest=''
	# CI is to end within 40 minutes. Each commit runs the rare tests of one part, and begins
	# with another file of virtual hosts, so that all have their turn. What has not begun
	# after 25 minutes is skipped and named.
	[ -z "${CI:-}" ] || {
		export WIRESPEED_RARE_UNTIL=$(($(date +%s) + 1500))
		WIRESPEED_RARE_TURN=$(git rev-list --count HEAD 2>/dev/null) ||
			WIRESPEED_RARE_TURN=0
		export WIRESPEED_RARE_TURN
		case $((WIRESPEED_RARE_TURN % 2)) in 0) rest=$usual ;; *) alone=$usual ;; esac
	}
	both "$alone" "$rest"
	;;
*) both "$usual" "$usual" ;;
esac
[ -z "$failed" ] || {
	echo "failed: $failed" >&2
	exit 1
}
