"""The rest of a run: how many trials a search needs, how soon the first one comes, memory."""

import json
import re
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from bench_doctor import STARTS, wall_seconds
from bench_figures import Figure, Result
from bench_pairs import DisturbedError, pairs
from bench_programs import BURST, FLOWS, Peer, on_one_core
from wirespeed.host.clock import Deadline, monotonic_s, sleep_s, utc_now
from wirespeed.host.folder import PrivateFolder
from wirespeed.host.process import Child
from wirespeed.lab.bed import VirtualBed
from wirespeed.lab.wire import RING_FRAMES
from wirespeed.measure.bench.tester_protocol import TrialRequest
from wirespeed.measure.search.compare import INFORMED, MLRSEARCH, Attempt, compare, goal_checks
from wirespeed.model.frame_mix import FrameMix

_FIRST_TRIAL_S = 60.0
NULL = "net_null0"


def searches() -> Iterator[Result]:
    """`informed` beside `mlrsearch` on the simulated DUTs, seed by seed."""
    attempts = compare(contenders=(INFORMED, MLRSEARCH))
    ours = [a for a in attempts if a.contender == INFORMED.name]
    theirs = [a for a in attempts if a.contender == MLRSEARCH.name]
    checks = goal_checks(attempts, [MLRSEARCH.name])
    kinds = f"{len(checks)} kinds of DUT: {'; '.join(check.dut for check in checks)}"
    yield Figure(
        name="search_trials",
        ours=tuple(float(a.result.trials) for a in ours),
        beside=tuple(float(a.result.trials) for a in theirs),
        misses=tuple(
            f"{c.dut}: {c.ratio_median:.2f} of the trials" for c in checks if c.ratio_median > 1 / 3
        ),
        notes=(kinds,),
    )
    proven = [(_error(a), _error(b)) for a, b in zip(ours, theirs, strict=True)]
    both = [(a, b) for a, b in proven if a is not None and b is not None]
    yield Figure(
        name="search_error",
        ours=tuple(a for a, _ in both),
        beside=tuple(b for _, b in both),
        misses=tuple(
            f"{c.dut}: median or worst error larger" for c in checks if not c.error_no_larger
        ),
    )


def _error(attempt: Attempt) -> float | None:
    error = attempt.relative_error
    return None if error is None else 100 * abs(error)


def start_and_memory() -> Iterator[Result]:
    """Seconds to the first trial, and what the tester holds."""
    yield pairs("first_trial", seconds_to_first_trial, seconds_of_starts)
    yield pairs("tester_memory", tester_peak_mb, testpmd_peak_mb)


def seconds_to_first_trial() -> float:
    """Start a run as a user does, wait for its first record of a trial, and interrupt it."""
    program = Path(sys.executable).parent / "wirespeed"
    with PrivateFolder.create() as folder:
        run = folder.path / "run"
        started = datetime.fromisoformat(utc_now())
        line = [str(program), "measure", "rfc2544", "--trial-seconds", "0.1", "--out", str(run)]
        with Child(line, role="wirespeed") as child:
            first = _first_trial(run / "trials.jsonl", child)
    return (first - started).total_seconds()


def _first_trial(path: Path, child: Child) -> datetime:
    deadline = Deadline(_FIRST_TRIAL_S)
    while not deadline.expired:
        for line in path.read_text().splitlines() if path.exists() else ():
            # The last line may still be being written.
            if '"kind":"trial"' in line and line.endswith("}"):
                return datetime.fromisoformat(json.loads(line)["started_at"]).astimezone(UTC)
        if not child.alive():
            raise child.death()
        sleep_s(0.02)
    raise DisturbedError(f"no trial within {_FIRST_TRIAL_S:g} s")


def seconds_of_starts() -> float:
    """Start what such a run needs, without us: Python, and testpmd twice, one after the other."""
    started = wall_seconds(STARTS)
    for _ in range(2):
        with on_one_core(NULL) as (side,):
            began = monotonic_s()
            # It is there when it answers its first command.
            with Peer(side, "io"):
                started += monotonic_s() - began
    return started


def testpmd_peak_mb() -> float:
    """Read VmHWM of a generator with room for as many frames."""
    with (
        on_one_core(NULL) as (side,),
        Peer(side, "flowgen", f"--flowgen-flows={FLOWS}", mbufs=3 * RING_FRAMES) as peer,
    ):
        peer.run(0.2)
        return _peak_mb(peer.pid)


def tester_peak_mb() -> float:
    """Make a trial on a bed in memory and read the tester's VmHWM."""
    bed = VirtualBed("testpmd-macswap", "vhost", flows=FLOWS, frame_bytes_max=1518)
    try:
        bed.run(
            TrialRequest(
                number=1,
                mix=FrameMix.parse("64"),
                flows=FLOWS,
                load_pps=1e6,
                seconds=0.2,
                burst_frames=BURST,
                expect=bed.dut.expect,
            )
        )
        return _peak_mb(bed.tester_pid)
    finally:
        bed.close()


def _peak_mb(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"^VmHWM:\s+(\d+) kB$", status, re.MULTILINE)
    if found is None:
        raise DisturbedError("no VmHWM in /proc/PID/status")
    return int(found[1]) * 1024 / 1e6
