"""The demo's packet half, several times in a row, quiet and beside busy processes: how far apart.

    .venv/bin/python tools/demo_runs.py [--runs 5] [--out build/demo-runs] [--frame-bytes 64,1518]

Prints docs' table: for each result how many of the runs proved it, the median, and how far the runs
lie from it. Runs whose cores were in another state are not compared with each other, and those in
which it changed with none. A run whose record is whole is read, and not made again. Beside busy
processes each CPU has one of the same priority, and the rates are held against the quiet median.
Not a test: the figures are the machine's. Stop everything else first.
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path
from statistics import median

from wirespeed.host.procfs import usable_cpus
from wirespeed.measure.bench.run_folder import TRIALS, read_records
from wirespeed.model.frozen import Frozen
from wirespeed.model.trial import End, Outcome, Setup, Trial

SPIN = "while True: pass"
FAR_CYCLES = 400
"""As in `wirespeed.measure.search.outcome`."""
WITHIN = 0.10
"""Of the median."""


class Made(Frozen):
    """One result of one run."""

    dut: str
    frame_label: str
    throughput_pps: float | None
    cores: str
    """`near`, `far`, or `both` where the state changed during its search."""
    limited_by: str

    @property
    def row(self) -> tuple[str, str]:
        """What is compared between runs."""
        return self.dut, self.frame_label


class Demo(Frozen):
    """One run of the demo's packet half."""

    seconds: float
    results: tuple[Made, ...]


@contextmanager
def busy(cpus: tuple[int, ...]) -> Iterator[None]:
    """Keep each of these CPUs busy with a process of the usual priority."""
    with ExitStack() as stack:
        for cpu in cpus:
            child = stack.enter_context(subprocess.Popen([sys.executable, "-c", SPIN]))
            stack.callback(child.kill)
            os.sched_setaffinity(child.pid, {cpu})
        yield


def demo(out: Path, options: list[str]) -> Demo:
    """Run it, unless it was; what it did not prove is in its record."""
    if seconds(out) is None:
        program = str(Path(sys.executable).parent / "wirespeed")
        line = [program, "measure", "rfc2544", "--demo", "--out", str(out), *options]
        subprocess.run(line, check=False)
    return Demo(seconds=seconds(out) or 0.0, results=results(out))


def seconds(out: Path) -> float | None:
    """From the record's beginning to its end; None: there is no whole one."""
    if not (out / TRIALS).exists():
        return None
    records = read_records(out)
    begun = [r.started_at for r in records if isinstance(r, Setup)]
    ended = [r.finished_at for r in records if isinstance(r, End) and r.completed]
    if not begun or not ended:
        return None
    return (datetime.fromisoformat(ended[-1]) - datetime.fromisoformat(begun[0])).total_seconds()


def results(out: Path) -> tuple[Made, ...]:
    """Each outcome of a run folder, with the state of the cores in its trials."""
    records = read_records(out)
    trials = [r for r in records if isinstance(r, Trial)]
    return tuple(
        Made(
            dut=o.dut,
            frame_label=o.mix.label,
            throughput_pps=o.throughput_pps,
            cores=cores([t for t in trials if t.search == o.search]),
            limited_by=o.limit.by,
        )
        for o in records
        if isinstance(o, Outcome)
    )


def cores(trials: list[Trial]) -> str:
    """Whether tester and DUT were on cores near each other."""
    trips = [c for t in trials for c in t.tester.pingpong_cycles_before if c]
    far = {trip >= FAR_CYCLES for trip in trips}
    return "both" if len(far) > 1 else "far" if far == {True} else "near" if far else "unknown"


def table(runs: list[Demo], quiet: list[Demo]) -> list[str]:
    """Markdown: one row for each result and state of the cores."""
    lines = [
        "| DUT | frame, B | cores | proven | median, Mpps | lowest | highest | of quiet | limit |",
        "|---|---:|---|---:|---:|---:|---:|---:|---|",
    ]
    made = [result for run in runs for result in run.results]
    for row, state in dict.fromkeys((m.row, m.cores) for m in made):
        same = [m for m in made if (m.row, m.cores) == (row, state)]
        rates = [m.throughput_pps / 1e6 for m in same if m.throughput_pps is not None]
        limits = ", ".join(dict.fromkeys(m.limited_by for m in same))
        cells = [row[0], row[1], state, f"{len(rates)} of {len(same)}"]
        if rates:
            middle = median(rates)
            cells += [f"{middle:.3f}", f"{min(rates) / middle - 1:+.0%}"]
            cells += [f"{max(rates) / middle - 1:+.0%}", beside(middle, row, state, quiet)]
        else:
            cells += ["—"] * 4
        lines.append(f"| {' | '.join([*cells, limits])} |")
    return lines


def beside(middle: float, row: tuple[str, str], state: str, quiet: list[Demo]) -> str:
    """How far a median lies from the quiet one of the same state."""
    rates = [
        m.throughput_pps / 1e6
        for run in quiet
        for m in run.results
        if (m.row, m.cores) == (row, state) and m.throughput_pps is not None
    ]
    return f"{middle / median(rates) - 1:+.0%}" if rates else "—"


def summary(runs: list[Demo]) -> str:
    """How many runs proved all, how long they took, and how many rows lie within 10 %.

    A row with one run says nothing, nor one in which the state of the cores changed.
    """
    whole = sum(all(m.throughput_pps is not None for m in run.results) for run in runs)
    made = [result for run in runs for result in run.results]
    several, near = 0, 0
    for key in dict.fromkeys((m.row, m.cores) for m in made if m.cores != "both"):
        rates = [m.throughput_pps for m in made if (m.row, m.cores) == key and m.throughput_pps]
        several += len(rates) > 1
        near += len(rates) > 1 and all(abs(r / median(rates) - 1) <= WITHIN for r in rates)
    took = ", ".join(f"{run.seconds:.0f}" for run in runs)
    return (
        f"{whole} of {len(runs)} runs proved every result; {near} of {several} rows with several "
        f"runs of one state lie within {WITHIN:.0%} of their median; seconds: {took}"
    )


def main() -> int:
    """Run, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--out", type=Path, default=Path("build/demo-runs"))
    parser.add_argument("--frame-bytes", default="")
    asked = parser.parse_args()
    options = ["--frame-bytes", asked.frame_bytes] if asked.frame_bytes else []
    quiet = [demo(asked.out / f"quiet-{n}", options) for n in range(1, asked.runs + 1)]
    with busy(tuple(usable_cpus())):
        loaded = [demo(asked.out / f"busy-{n}", options) for n in range(1, asked.runs + 1)]
    for title, runs in (("Quiet", quiet), ("Beside a busy process on each CPU", loaded)):
        print(f"\n**{title}**: {summary(runs)}.\n")
        print("\n".join(table(runs, quiet)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
