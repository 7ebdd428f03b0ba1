"""The rest of a run: how many trials a search needs, how soon the first one comes, memory."""

import json
import re
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from bench_figures import Figure, Result
from bench_pairs import DisturbedError, within
from bench_programs import BURST, FLOWS
from wirespeed.host.clock import Deadline, sleep_s, utc_now
from wirespeed.host.folder import PrivateFolder
from wirespeed.host.process import Child
from wirespeed.lab.bed import VirtualBed
from wirespeed.measure.bench.tester_protocol import TrialRequest
from wirespeed.measure.search.compare import INFORMED, MLRSEARCH, Attempt, compare, goal_checks
from wirespeed.model.trial import FrameMix

BUDGET_SECONDS = 3.0
BUDGET_MB = 300.0
_FIRST_TRIAL_S = 60.0


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
    yield within("first_trial", seconds_to_first_trial, BUDGET_SECONDS)
    yield within("tester_memory", tester_peak_mb, BUDGET_MB)


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
        status = Path(f"/proc/{bed.tester_pid}/status").read_text()
    finally:
        bed.close()
    found = re.search(r"^VmHWM:\s+(\d+) kB$", status, re.MULTILINE)
    if found is None:
        raise DisturbedError("no VmHWM in /proc/PID/status")
    return int(found[1]) * 1024 / 1e6
