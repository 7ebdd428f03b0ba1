"""Print how the three searches do on a real DUT: testpmd macswap at 64 B over the default wire.

    .venv/bin/python tools/compare_search_testpmd.py [--searches 20]

Nobody knows a real DUT's capacity, so the error is taken against the median of what all searches
of the run confirmed. The methods take turns, so that a change of the machine meets all of them.
"""

import argparse
import statistics
import sys
from collections.abc import Iterator

from wirespeed.host.clock import monotonic_s
from wirespeed.host.procfs import kernel_release, read_cpu_model
from wirespeed.lab.bed import VirtualBed
from wirespeed.measure.bench.campaign import Campaign
from wirespeed.measure.bench.plan import Plan
from wirespeed.measure.bench.tester_protocol import ProgressReply
from wirespeed.measure.search.search import Method, Observer, Progress
from wirespeed.model.frame_mix import FrameMix
from wirespeed.model.trial import Outcome, Record, Trial

TRIAL_SECONDS, CONFIRM_SECONDS = 0.05, 0.2
CONTENDERS: tuple[tuple[Method, float], ...] = (
    ("informed", 0.001),
    ("mlrsearch", 0.005),
    ("rfc2544", 0.001),
)


class Quiet:
    """A listener that says nothing."""

    def search_started(self, number: int, dut: str, mix: FrameMix) -> None:
        """Say nothing."""

    def search_observer(self) -> Observer:
        """Give one that says nothing."""

        def ignore(_: Progress) -> None:
            pass

        return ignore

    def trial_progress(self, progress: ProgressReply) -> None:
        """Say nothing."""

    def trial_ended(self, trial: Trial) -> None:
        """Say nothing."""

    def search_ended(self, outcome: Outcome) -> None:
        """Say nothing."""


def search_once(method: Method, width: float) -> tuple[Outcome, float]:
    """One search on a fresh pair of tester and DUT; the outcome and its wall time."""
    plan = Plan(
        duts=("testpmd-macswap",),
        mixes=(FrameMix.parse("64"),),
        method=method,
        relative_width=width,
        trial_seconds=TRIAL_SECONDS,
        confirm_seconds=CONFIRM_SECONDS,
    )

    def keep(_: Record) -> None:
        pass

    def bed(dut: str) -> VirtualBed:
        return VirtualBed(dut, "vhost", flows=plan.flows, frame_bytes_max=1518)

    started = monotonic_s()
    (outcome,) = Campaign(plan, bed, keep, Quiet()).run()
    return outcome, monotonic_s() - started


def table(found: dict[Method, list[tuple[Outcome, float]]]) -> Iterator[str]:
    """Rows of a Markdown table, one per method."""
    confirmed = [o.throughput_pps for runs in found.values() for o, _ in runs if o.throughput_pps]
    if not confirmed:
        yield "No search proved anything: the machine was too noisy."
        return
    middle = statistics.median(confirmed)
    yield f"Median of all {len(confirmed)} confirmed throughputs: {middle / 1e6:.3f} Mpps."
    yield ""
    yield "| search | width | proven | trials | void | seconds | error, median | spread |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- |"
    for method, width in CONTENDERS:
        runs = found[method]
        proven = [o.throughput_pps for o, _ in runs if o.throughput_pps]
        trials = sorted(o.trials for o, _ in runs)
        error = statistics.median(abs(p / middle - 1) for p in proven) if proven else None
        spread = (max(proven) - min(proven)) / middle if proven else None
        yield (
            f"| {method} | {width:.1%} | {len(proven)} of {len(runs)} "
            f"| {statistics.median(trials):g} ({trials[0]} to {trials[-1]}) "
            f"| {statistics.median(o.invalid_trials for o, _ in runs):g} "
            f"| {statistics.median(seconds for _, seconds in runs):.1f} "
            f"| {'-' if error is None else f'{error:.2%}'} "
            f"| {'-' if spread is None else f'{spread:.1%}'} |"
        )


def main() -> int:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--searches", type=int, default=20)
    count: int = parser.parse_args().searches
    found: dict[Method, list[tuple[Outcome, float]]] = {method: [] for method, _ in CONTENDERS}
    rounds = 0
    try:
        for rounds in range(1, count + 1):
            turn = {method: search_once(method, width) for method, width in CONTENDERS}
            for method, made in turn.items():
                found[method].append(made)
            print(f"{rounds}/{count}", file=sys.stderr)
    except KeyboardInterrupt:
        rounds -= 1  # whole rounds count, and n says how many they are
    print(f"{read_cpu_model()}, kernel {kernel_release()}; {rounds} searches each, taking turns;")
    print(f"trials of {TRIAL_SECONDS} s, confirmed in {CONFIRM_SECONDS} s; n = {rounds}.")
    print()
    print("\n".join(table(found)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
