"""What a person sees while a run goes on: one live line in a terminal, plain lines elsewhere."""

import sys
from collections.abc import Sequence

from rich.console import Console
from rich.live import Live
from rich.text import Text

from wirespeed.host.clock import monotonic_s
from wirespeed.measure.bench.tester_protocol import ProgressReply
from wirespeed.measure.search.search import Observer, Progress
from wirespeed.model.figures import ratio
from wirespeed.model.frame_mix import FrameMix
from wirespeed.model.shown import printable
from wirespeed.model.trial import Outcome, Trial


def mpps(load_pps: float | None) -> str:
    """Mpps with three decimals, a dash where there is none."""
    return "-" if load_pps is None else f"{load_pps / 1e6:.3f}"


def size_label(mix: FrameMix) -> str:
    """Frame size in at most 6 columns; which sizes a mix has is in the setup and the report."""
    return f"{mix.label} B" if len(mix.shares) == 1 else "IMIX"


def outcome_line(outcome: Outcome) -> str:
    """One result in one line of at most 80 columns."""
    searched = f"{outcome.dut:<15} {size_label(outcome.mix):>6}"
    if outcome.throughput_pps is None:
        return f"{searched} not proven: {outcome.verdict}; {outcome.limit.by}"
    lost = f"{searched} {mpps(outcome.throughput_pps):>7} Mpps, {outcome.lost_frames} lost in "
    if outcome.confirmations is not None:
        # There is no room for the word `limit`.
        times = f"{outcome.confirmations.trials} x {outcome.confirmed_seconds:g} s"
        return f"{lost}{times}; {outcome.limit.by}"
    if outcome.windows is not None:
        return f"{lost}{outcome.windows.valid} windows; limit: {outcome.limit.by}"
    return f"{lost}{outcome.confirmed_seconds:g} s; limit: {outcome.limit.by}"


def single_core_table(outcomes: Sequence[Outcome]) -> str:
    """Tabulate what one core does, as the published tables 10 and 13 do."""
    lines = [f"{'DUT':<16} {'frames':>6} {'Mpps':>8} {'Gb/s L2':>8} {'GHz':>6} {'cycles/pkt':>11}"]
    for o in outcomes:
        pps = o.throughput_pps
        gbps = "-" if pps is None else f"{pps * 8 * o.mix.mean_frame_bytes / 1e9:.3f}"
        ghz = "-" if o.core_hz is None else f"{o.core_hz / 1e9:.2f}"
        cycles = "-" if o.busy_cycles_per_packet is None else f"{o.busy_cycles_per_packet:.0f} TSC"
        shown = "-" if pps is None else f"{pps / 1e6:.3f}"
        lines.append(
            f"{o.dut:<16} {size_label(o.mix):>6} {shown:>8} {gbps:>8} {ghz:>6} {cycles:>11}"
        )
    return "\n".join(lines)


def line_rate_table(trials: Sequence[Trial]) -> str:
    """Tabulate trials of a full line: what was offered, and what came back of it on average."""
    lines = [f"{'at line rate':<16} {'frames':>6} {'offered':>8} {'average':>8} {'lost':>9}"]
    for t in trials:
        average = mpps(t.forwarding_rate_pps) if t.valid else "void"
        loss = ratio(t.loss_ratio) if t.valid else "-"
        lines.append(
            f"{t.dut:<16} {size_label(t.mix):>6} {mpps(t.offered_load_pps):>8} {average:>8} "
            f"{loss:>9}"
        )
    return "\n".join(lines)


class Display:
    """A campaign's listener. Writes to standard error: standard output is for results."""

    def __init__(
        self, searches: int, console: Console | None = None, *, brief: bool = False
    ) -> None:
        """`brief`: results alone, and how long all of it still takes."""
        self._brief = brief
        self._started = monotonic_s()
        self._ended = 0
        self._console = console or Console(file=sys.stderr, highlight=False)
        self._searches = searches
        self._title = ""
        self._progress: Progress | None = None
        self._live: Live | None = None

    def __enter__(self) -> "Display":
        if self._console.is_terminal and not self._console.is_dumb_terminal:
            self._live = Live(console=self._console, refresh_per_second=4, transient=True)
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()

    def search_started(self, number: int, dut: str, mix: FrameMix) -> None:
        """Say which search it is."""
        self._title = f"[{number}/{self._searches}] {dut} {size_label(mix)}"
        self._progress = None
        if self._live is None:
            if not self._brief:
                self._console.print(_text(self._title), soft_wrap=True)
        else:
            self._live.update(_text(f"{self._title}: starting"))

    def search_observer(self) -> Observer:
        """Show each trial before it is made."""
        return self._announce

    def trial_progress(self, progress: ProgressReply) -> None:
        """Show how far a long trial is."""
        if self._live is not None and self._progress is not None:
            self._live.update(_text(f"{self._line(self._progress)} {progress.seconds:.0f} s"))

    def trial_ended(self, trial: Trial) -> None:
        """Print a plain line for each trial, or a void one's reason in a terminal."""
        if self._brief or (self._live is not None and trial.valid):
            return
        verdict = f"lost {trial.missing_frames}" if trial.valid else "void"
        line = (
            f"  trial {trial.number:>3} {trial.purpose:<8} {mpps(trial.intended_load_pps):>8} Mpps "
            f"{trial.intended_seconds:g} s {verdict}"
        )
        reason = f": {trial.invalid_reasons[0].partition(':')[0]}" if not trial.valid else ""
        self._console.print(_text(line + reason), soft_wrap=True)

    def search_ended(self, outcome: Outcome) -> None:
        """Print the result."""
        self._ended += 1
        self._console.print(_text(outcome_line(outcome)), soft_wrap=True)

    def _announce(self, progress: Progress) -> None:
        self._progress = progress
        if self._live is not None:
            self._live.update(_text(self._line(progress)))

    def _line(self, p: Progress) -> str:
        if self._brief:
            title, load = self._title, mpps(p.load_pps)
            return f"{title}: {load} Mpps tried; about {self._all_left(p)} left in all"
        return (
            f"{self._title} {p.purpose} {mpps(p.load_pps)} "
            f"[{mpps(p.lower_load_pps)}, {mpps(p.upper_load_pps)}] Mpps ~{p.seconds_left:.0f} s"
        )

    def _all_left(self, p: Progress) -> str:
        """Estimate by what the searches until now took; of the first by what it says itself."""
        took = (monotonic_s() - self._started) / self._ended if self._ended else p.seconds_left
        left = took * (self._searches - self._ended)
        return f"{left:.0f} s" if left < 120 else f"{left / 60:.0f} min"


def _text(line: str) -> Text:
    return Text(printable(line))
