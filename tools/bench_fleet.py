"""A fleet's doctor: ten thousand recorded hosts with planted causes, beside a thousand."""

import gzip
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bench_doctor import DESCRIBE_SECONDS, TESTS, WIRESPEED
from bench_figures import Result
from bench_pairs import DisturbedError, Pairs
from fleet_rack import capture_of, name_of
from wirespeed.host.folder import PrivateFolder
from wirespeed.host.local import LocalRunner
from wirespeed.host.workers import each_of_many

TOOLS = Path(__file__).parent
FEW, MANY = 1000, 10_000
FLEET_SECONDS = 900.0
BUDGET_CPU_S = 120.0
"""60 s of two cores."""
BUDGET_WALL_S = 60.0
BUDGET_MB = 1000.0
BUDGET_PAGE_MB = 20.0
BASE = "from fleet_base import base; print(base(), end='')"
MEASURE = """\
import json, os, resource, subprocess, sys, time
began = time.monotonic()
code = subprocess.call(sys.argv[1:], stdout=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
# Of the largest process; each other one holds no more than that.
processes = min(os.cpu_count() or 1, 16) + 1
wall, cpu = time.monotonic() - began, used.ru_utime + used.ru_stime
print(json.dumps([code, wall, cpu, used.ru_maxrss * 1024 / 1e6 * processes]))
"""


@dataclass(frozen=True, slots=True)
class Cost:
    """What one run took."""

    wall_s: float
    cpu_s: float
    memory_mb: float
    """Peak of the largest process, times the number of processes: an upper bound."""
    page_mb: float


def fleet() -> Iterator[Result]:
    """CPU time, memory and page of 10,000 hosts; page and database are written."""
    with PrivateFolder.create() as folder:
        base = _said(
            ["env", f"PYTHONPATH={TESTS}:{TESTS}/fleet:{TOOLS}", sys.executable, "-c", BASE]
        )
        few, many = (rack(folder.path / str(count), base, count) for count in (FEW, MANY))
        runs = Pairs(lambda: cost(many), lambda: cost(few))
    yield runs.result("fleet_10000_growth", lambda a: a.cpu_s, lambda b: b.cpu_s)
    yield runs.result("fleet_10000_cpu", lambda a: a.cpu_s, lambda _: BUDGET_CPU_S)
    yield runs.result("fleet_10000_wall", lambda a: a.wall_s, lambda _: BUDGET_WALL_S)
    yield runs.result("fleet_10000_memory", lambda a: a.memory_mb, lambda _: BUDGET_MB)
    yield runs.result("fleet_10000_page", lambda a: a.page_mb, lambda _: BUDGET_PAGE_MB)


def rack(folder: Path, base: str, count: int) -> Path:
    """Write the captures of as many hosts."""
    folder.mkdir()
    for _ in each_of_many(partial(_write, folder, base), range(count)):
        pass
    return folder


def cost(captures: Path) -> Cost:
    """Judge them. Raises DisturbedError where that failed."""
    out = captures.parent / f"{captures.name}-answer"
    line = [WIRESPEED, "fleet", "doctor", "--captures", str(captures), "--out", str(out)]
    line += ["--database", f"sqlite:///{captures.parent}/fleet.sqlite"]
    code, wall_s, cpu_s, memory_mb = json.loads(_said([sys.executable, "-c", MEASURE, *line]))
    if code != 1:
        raise DisturbedError(f"fleet doctor ended with {code}; planted causes are findings: 1")
    return Cost(wall_s, cpu_s, memory_mb, (out / "fleet.html").stat().st_size / 1e6)


def _write(folder: Path, base: str, number: int) -> None:
    packed = gzip.compress(capture_of(base, number).encode(), 1)
    (folder / f"{name_of(number)}.txt.gz").write_bytes(packed)


def _said(line: list[str]) -> str:
    done = LocalRunner().run(line, timeout_s=max(DESCRIBE_SECONDS, FLEET_SECONDS))
    if done.returncode:
        raise DisturbedError(f"{line[0]} ended with {done.returncode}: {done.errors[-200:]}")
    return done.output
