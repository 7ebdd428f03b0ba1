"""Measures what README and docs promise, side by side, and writes it down.

    make bench

Leaves build/bench.json and docs/benchmarks.md. Exit status 1 when a promise is not kept.
"""

import json
import sys
from pathlib import Path

from bench_core import generate, queues, ring
from bench_doctor import doctor
from bench_figures import Result, Unmeasured, as_json, missed
from bench_fleet import fleet
from bench_goals import GOALS
from bench_hosts import twenty_hosts
from bench_ovs import open_vswitch
from bench_page import markdown
from bench_plan import plan
from bench_programs import BURST
from bench_run import searches, start_and_memory
from bench_wire import through_memif, through_memif_direct
from wirespeed import __version__
from wirespeed.host.clock import monotonic_s, utc_now
from wirespeed.host.local import LocalRunner
from wirespeed.host.procfs import describe_machine
from wirespeed.model.error import WirespeedError

ROOT = Path(__file__).parent.parent
PARTS = (
    generate,
    ring,
    queues,
    through_memif,
    through_memif_direct,
    open_vswitch,
    searches,
    start_and_memory,
    doctor,
    twenty_hosts,
    plan,
    fleet,
)


def measure() -> list[Result]:
    """Measure every part; one that fails leaves the others standing."""
    results: list[Result] = []
    failures: list[str] = []
    for part in PARTS:
        try:
            for result in part():
                results.append(result)
                print(said(result), flush=True)
        except (WirespeedError, ValueError) as error:
            failures.append(f"{part.__name__}: {error}")
            print(failures[-1], file=sys.stderr, flush=True)
    known = {result.name for result in results}
    results += [
        Unmeasured(name=goal.name, why="; ".join(failures), excused=False)
        for goal in GOALS
        if goal.name not in known
    ]
    return results


def said(result: Result) -> str:
    """One line for the terminal."""
    if isinstance(result, Unmeasured):
        return f"{result.name:22} not measured: {result.why}"
    row = as_json([result])[result.name]
    return (
        f"{result.name:22} {row['ratio_median']:.3f} "
        f"({row['ratio_min']:.3f} to {row['ratio_max']:.3f}), n {row['n']}, "
        f"void {result.void}, goal {'>=' if row['better'] == 'higher' else '<='} {row['goal']:.3g}"
    )


def setup(seconds: float) -> dict[str, str]:
    """What a reader needs to judge the figures."""
    dpdk = LocalRunner().run(["pkg-config", "--modversion", "libdpdk"]).output.strip()
    return {
        **describe_machine(),
        "DPDK": dpdk,
        "wirespeed": __version__,
        "measured": f"{utc_now()[:16]}Z, {seconds:.0f} s in all",
        "frames": f"64 bytes with FCS, bursts of {BURST} in every program, no hugepages",
    }


def main() -> int:
    """Measure, write, and say what was missed."""
    began = monotonic_s()
    results = measure()
    build = ROOT / "build"
    build.mkdir(exist_ok=True)
    (build / "bench.json").write_text(json.dumps(as_json(results), indent=2) + "\n")
    page = markdown(results, setup(monotonic_s() - began))
    (ROOT / "docs/benchmarks.md").write_text(page)
    print("build/bench.json, docs/benchmarks.md")
    shortfalls = missed(results)
    for shortfall in shortfalls:
        print(f"missed: {shortfall}", file=sys.stderr)
    return 1 if shortfalls else 0


if __name__ == "__main__":
    sys.exit(main())
