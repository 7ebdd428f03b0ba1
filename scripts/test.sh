#!/bin/sh
# Linters, then the tests. `test.sh quick`; `test.sh`; `test.sh all`, which CI runs.
#
#   quick   no virtual host, no DPDK, no SSH server
#   (none)  everything but what is marked `rare`
#   all     everything; with CI=true, no rare test begins after 25 minutes
#
# DPDK's programs poll, here and on virtual hosts: their tests have the machine to themselves.
# Then all others run, some at a time: those with virtual hosts wait for them, and the rest
# compute meanwhile. All of it runs, so that a failure does not hide another.
set -u

PATH=$PWD/.venv/bin:$PATH
export WIRESPEED_BUILD="$PWD/build/test"
# Each of the workers would else compile every test and module once more.
unset PYTHONDONTWRITEBYTECODE
failed=
scripts/lint.sh || failed=lint

# One more than there are CPUs: a worker that waits for a host leaves its CPU to another.
workers=$(($(nproc) + 1))
side_by_side="--numprocesses=$workers --dist=loadfile --no-loadscope-reorder"

# part NAME OPTION...
part() {
	name=$1
	shift
	echo "== $name"
	pytest "$@" || failed="$failed $name"
}

case ${1:-} in
quick)
	# shellcheck disable=SC2086 # a list of options
	part quick $side_by_side -m "not machines and not dpdk and not sshd and not rare"
	;;
all)
	# CI is to end within 40 minutes: what is rare and has not begun after 25 is skipped and
	# named. Each commit begins with another file, so that all have their turn.
	[ -z "${CI:-}" ] || {
		export WIRESPEED_RARE_UNTIL=$(($(date +%s) + 1500))
		WIRESPEED_RARE_TURN=$(git rev-list --count HEAD 2>/dev/null) ||
			WIRESPEED_RARE_TURN=0
		export WIRESPEED_RARE_TURN
	}
	part dpdk -m "dpdk or polls"
	# shellcheck disable=SC2086
	part rest $side_by_side -m "not dpdk and not polls"
	;;
*)
	part dpdk -m "(dpdk or polls) and not rare"
	# shellcheck disable=SC2086
	part rest $side_by_side -m "not dpdk and not polls and not rare"
	;;
esac
[ -z "$failed" ] || {
	echo "failed: $failed" >&2
	exit 1
}
