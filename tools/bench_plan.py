"""Planning: two recorded hosts, a thousand, ten thousand, and what that takes of memory."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

from bench_doctor import DESCRIBE_SECONDS, STARTS, TESTS, WIRESPEED, wall_seconds
from bench_figures import MIN_PAIRS, Result
from bench_pairs import DisturbedError, Pairs, pairs, within
from bench_rack import spec_text, varied
from wirespeed.host.folder import PrivateFolder
from wirespeed.host.local import LocalRunner

MANY, MOST = 1000, 10_000
BUDGET_S = 180.0
"""For MOST."""
BUDGET_ROUND_TRIPS = 1.0
PLAN_SECONDS = 600.0
DESCRIBED = """\
from described.doc_sriov import as_found, rebooted
from described.host import Host, capture_of
host = Host()
as_found(host)
rebooted(host)
print(capture_of(host), end="")
"""
"""The document's host as it stands before its approach 1."""
TIMED = (
    "import subprocess, sys, time; began = time.monotonic(); "
    "code = subprocess.call(sys.argv[1:], stdout=subprocess.DEVNULL); "
    "print(time.monotonic() - began); sys.exit(code)"
)
"""Seconds: of 10,000 hosts a plan's text is longer than what a runner takes."""
PEAK = (
    "import resource, subprocess, sys; "
    "code = subprocess.call(sys.argv[1:], stdout=subprocess.DEVNULL); "
    "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss); sys.exit(code)"
)
"""KiB: of this one child, as those of other parts of the bench hold more."""


def plan() -> Iterator[Result]:
    """Wall time of a plan, the start of the program included; peak resident memory."""
    with PrivateFolder.create() as folder:
        text = described()
        few, many, most = (rack(folder.path / str(count), text, count) for count in (2, MANY, MOST))
        yield pairs("plan_2_hosts", lambda: plan_seconds(few), lambda: wall_seconds(STARTS))
        yield pairs("plan_1000_hosts", lambda: plan_seconds(many), lambda: plan_seconds(few))
        yield pairs("plan_1000_memory", lambda: plan_mb(many), lambda: plan_mb(few))
        # A minute and more each.
        runs = Pairs(lambda: plan_seconds(most), lambda: plan_seconds(many), MIN_PAIRS)
        yield runs.result("plan_10000_growth", float, float)
        yield runs.result("plan_10000_wall", float, lambda _: BUDGET_S)
    # A count, not a time: the same on any machine.
    yield within("apply_round_trips", round_trips, BUDGET_ROUND_TRIPS)


def described() -> str:
    """Make the capture of one described host."""
    return _described("-c", DESCRIBED)


def round_trips() -> float:
    """Those to the host that is asked most often; counted by the hosts, which are described."""
    return float(max(json.loads(_described("-m", "described.round_trips")).values()))


def rack(folder: Path, text: str, count: int) -> str:
    """Write captures of as many hosts, each with names and addresses of its own, and their spec."""
    folder.mkdir()
    reaches = []
    for number in range(count):
        path = folder / f"{number}.txt"
        path.write_text(varied(text, number))
        reaches.append(str(path))
    spec = folder / "spec.yaml"
    spec.write_text(spec_text(reaches))
    return str(spec)


def plan_seconds(spec: str) -> float:
    """From start to end."""
    return float(_run([sys.executable, "-c", TIMED, WIRESPEED, "plan", spec]))


def plan_mb(spec: str) -> float:
    """Peak resident memory."""
    return int(_run([sys.executable, "-c", PEAK, WIRESPEED, "plan", spec])) * 1024 / 1e6


def _described(*words: str) -> str:
    line = ["env", f"PYTHONPATH={TESTS}", sys.executable, *words]
    done = LocalRunner().run(line, timeout_s=DESCRIBE_SECONDS)
    if done.returncode:
        raise DisturbedError(f"no described host: {done.errors[-200:]}")
    return done.output


def _run(line: list[str]) -> str:
    done = LocalRunner().run(line, timeout_s=PLAN_SECONDS)
    if done.returncode:
        raise DisturbedError(f"{line[0]} ended with {done.returncode}: {done.errors[:200]}")
    return done.output
