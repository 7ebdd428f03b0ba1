"""What a page says, before it is HTML, Markdown or CSV. Figures keep their SI units.

The page holds the records themselves and only the figures that follow from them. A figure that
cannot be had is a `Missing` with its reason, never a default.
"""

from wirespeed.model.finding import Diagnosis, Finding, Unanswered
from wirespeed.model.frame_mix import FrameMix
from wirespeed.model.frozen import Frozen
from wirespeed.model.trial import Bursts, Latency, Outcome, Setup, Trial

NOT_PROVEN = "not proven"


class Missing(Frozen):
    """A missing figure, and the reason."""

    reason: str
    shown: str = "—"
    """What stands in its place: `—`, `no line`, `cannot tell`."""


class Spread(Frozen):
    """The same search, `searches` times: how often throughput was proven, and how far it varied."""

    searches: int
    proven: int
    median_pps: float
    """The lower median: a load that a trial really confirmed."""
    lowest_pps: float
    highest_pps: float


class Result(Frozen):
    """One outcome with the trials that led to it and the figures that follow from it."""

    outcome: Outcome
    trials: tuple[Trial, ...]
    throughput_pps: float | Missing
    line_rate_pps: float | Missing
    """Of all the ports that the tester sent from, for this mix."""
    pct_line_rate: float | Missing
    throughput_bps_l1: float | Missing
    """Frames with FCS, preamble and gap."""
    throughput_bps_l2: float | Missing
    """Frames with FCS."""
    tolerance: float | Missing
    """(lowest load that failed - throughput) / lowest load that failed."""
    latency: Latency | Missing
    """Of the confirming trial: latency at throughput."""
    further: tuple[Trial, ...] = ()
    """Trials after the search: latency and loss by load, a soak."""
    bursts: Bursts | None = None


class Unfinished(Frozen):
    """Trials of a search that never came to an outcome."""

    mix: FrameMix
    trials: tuple[Trial, ...]


class DutSection(Frozen):
    """All that was measured of one DUT, smallest frames first."""

    name: str
    facts: tuple[tuple[str, str], ...]
    results: tuple[Result, ...]
    unfinished: tuple[Unfinished, ...]


class Headline(Frozen):
    """The answer for one DUT: its smallest frames."""

    run: str
    dut: str
    frame_label: str
    throughput: Spread | Missing
    confirmed_seconds: float
    limited_by: str


class Run(Frozen):
    """One `trials.jsonl`."""

    label: str
    """Empty when the page shows one run; `A` or `B` when it shows two."""
    setup: Setup
    aborted: bool
    """Not every planned search came to an outcome, or nothing says that the run ended."""
    notes: tuple[str, ...]
    duts: tuple[DutSection, ...]


class ComparedRow(Frozen):
    """One DUT, mix and method in both runs."""

    dut: str
    frame_label: str
    method: str
    a: Spread | Missing
    b: Spread | Missing
    ratio: float | Missing
    """b / a, of the medians."""
    resolution: float | Missing
    """The smallest relative difference that these searches can show: their tolerances or their
    spread, whichever is larger, added up."""


class Comparison(Frozen):
    """Two runs side by side, and what else than the DUT differed between them."""

    rows: tuple[ComparedRow, ...]
    differences: tuple[tuple[str, str, str], ...]
    """Label, value in A, value in B."""

    @property
    def duts(self) -> tuple[str, ...]:
        """Every DUT that either run has a result of."""
        return tuple(dict.fromkeys(row.dut for row in self.rows))


class MachineSection(Frozen):
    """Words and findings about the machine that a run was made on."""

    limits: tuple[str, ...]
    """What the results say of what limited them, one sentence for each DUT."""
    about: str
    findings: tuple[Finding, ...]
    """Those that bear upon this run."""
    aside: tuple[Finding, ...]
    """Those about ports that this run did not use."""
    answer: Diagnosis | Unanswered


class Page(Frozen):
    """A report: one run, or two with their comparison."""

    title: str
    headlines: tuple[Headline, ...]
    runs: tuple[Run, ...]
    comparison: Comparison | None = None
    machine: MachineSection | None = None
