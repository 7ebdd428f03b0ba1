"""What a search is asked for, what it says while it works, and what it hands back."""

from collections.abc import Callable
from typing import Annotated, Literal

from pydantic import Field, model_validator

from wirespeed.measure.search.measurer import Purpose
from wirespeed.model.frozen import Frozen

Method = Literal["rfc2544", "mlrsearch", "informed"]

Verdict = Literal[
    "width met",
    "ceiling passed",
    "nothing passed",
    "loss floor",
    "wider than goal",
    "not confirmed",
    "trials exhausted",
]
"""How a search ended. Only the first two prove a throughput to the width that was asked for;
`wider than goal` proves one, with a bracket wider than that or open above. The others prove
none."""

PositivePps = Annotated[float, Field(gt=0)]
Ratio = Annotated[float, Field(gt=0, lt=1)]


class Goal(Frozen):
    """The rule of success of one search, and the bounds within which it must come to a verdict."""

    max_load_pps: PositivePps
    """Highest load that may be offered: line rate, or what the tester can send."""
    min_load_pps: PositivePps
    """Lowest load worth knowing about; a DUT that fails here passes nothing."""
    relative_width: Ratio = 0.005
    """The search ends when (upper - lower) / upper is no more than this."""
    trial_seconds: Annotated[float, Field(gt=0)] = 1.0
    confirm_seconds: Annotated[float, Field(gt=0)] = 60.0
    """RFC 2544 section 24: at least 60 seconds."""
    max_trials: Annotated[int, Field(ge=1)] = 500
    """Bound on all trials of the search, the confirming ones counted."""
    max_confirmations: Annotated[int, Field(ge=1)] = 8
    """Bound on confirming trials that fail, for each of `confirmations`; each lowers the load."""
    confirmations: Annotated[int, Field(ge=1)] = 1
    """Confirming trials that the load found must pass; only `informed` makes more than one."""
    doubts: Annotated[int, Field(ge=0)] = 0
    """How many failures that set the upper bound are tried again before they are believed; only
    `informed` does. One whose load then passes a trial of the full length is taken back, with a
    note."""
    expected_load_pps: PositivePps | None = None
    """Capacity that is expected before the first trial, from another frame size or from cycles
    per packet; only `informed` uses it."""
    pdr_loss_ratio: Ratio | None = 0.005
    """MLRsearch's second goal, searched for together with zero loss; None leaves it out."""
    exceed_ratio: Annotated[float, Field(ge=0, lt=1)] = 0.5
    """MLRsearch: share of the trials at a load that may lose frames and the load still passes."""
    trials_per_load: Annotated[int, Field(ge=1)] = 21
    """MLRsearch: its `duration_sum` in units of `trial_seconds` (the library's own is 21 x 1 s)."""

    @model_validator(mode="after")
    def _bounds_are_in_order(self) -> "Goal":
        if self.min_load_pps >= self.max_load_pps:
            raise ValueError(
                f"min_load_pps {self.min_load_pps} is not below max_load_pps {self.max_load_pps}"
            )
        if self.confirm_seconds < self.trial_seconds:
            raise ValueError(
                f"confirm_seconds {self.confirm_seconds} is shorter than "
                f"trial_seconds {self.trial_seconds}"
            )
        return self

    def narrow_enough(self, lower_pps: float, upper_pps: float) -> bool:
        """Whether the bracket meets the width; one part in 1e9 is left to float rounding."""
        return (upper_pps - lower_pps) / upper_pps <= self.relative_width * (1 + 1e-9)


class Progress(Frozen):
    """The trial that is about to be made, and what the search knows before it."""

    method: Method
    purpose: Purpose
    load_pps: float
    seconds: float
    """Duration of this trial."""
    lower_load_pps: float | None
    """Highest load that passed so far and still counts; None if none did."""
    upper_load_pps: float | None
    """Lowest load that failed so far; None if none did."""
    trials_done: int
    trials_left: int
    """Estimate, this trial counted: a display's, no decision rests on it."""
    seconds_left: float
    """Estimate of measured time, this trial counted."""


Observer = Callable[[Progress], None]


class Tolerance(Frozen):
    """What the result forgives; printed beside every figure."""

    relative_width: float
    """Of the bracket that was asked for."""
    loss_ratio: float
    """Loss that a passing trial may have: 0 for throughput, always."""
    exceed_ratio: float
    """Share of search trials at a load that may lose frames all the same (MLRsearch)."""


class SearchResult(Frozen):
    """What one search found. `model.trial.Outcome` is built of it, of a ledger and of a limit."""

    method: Method
    verdict: Verdict
    tolerance: Tolerance
    found_load_pps: float | None
    """Highest load that passed and that no equal or longer trial at or below it took back; the
    confirmed one if one is confirmed. None if none passed."""
    upper_load_pps: float | None
    """Lowest load that failed; None if none did."""
    upper_trial: int | None
    """Number of the trial that set the upper bound."""
    throughput_pps: float | None
    """Load offered in the confirming trial, which lost nothing; never above the intended load."""
    confirmed_seconds: float
    """Intended duration of the confirming trial; 0 if there was none."""
    confirmed_trial: int | None
    lost_frames: int
    """Missing in the confirming trial, or in the last failed one if nothing was proven."""
    pdr_load_pps: float | None = None
    """Highest load whose loss ratio is at most `pdr_loss_ratio`."""
    pdr_loss_ratio: float | None = None
    trials: int
    invalid_trials: int
    """Void trials that the measurer repeated by itself, not counted in `trials`."""
    seconds: float
    """Sum of the measured seconds of the valid trials."""
    loss_floor: float | None = None
    """Loss ratio that no load removed; None where none was recognised."""
    notes: tuple[str, ...] = ()
    """Everything a reader must know to judge the figures: contradictions, repeats, short cuts."""

    @property
    def width(self) -> float | None:
        """(upper - found) / upper of the bracket that was reached; None if it has an open end."""
        if self.found_load_pps is None or self.upper_load_pps is None:
            return None
        return (self.upper_load_pps - self.found_load_pps) / self.upper_load_pps
