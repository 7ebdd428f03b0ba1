"""What a run measures and how: DUTs, frame mixes, the search and its trials. Pure."""

import math
from typing import Annotated

from pydantic import Field, model_validator

from wirespeed.measure.bench.further import Further
from wirespeed.measure.bench.trial_maker import TesterBounds
from wirespeed.measure.bench.windowed import LONGEST_S, SHORTEST_S
from wirespeed.measure.search.search import Method
from wirespeed.model.frame_mix import FrameMix
from wirespeed.model.frozen import Frozen
from wirespeed.model.trial import TRIALS_ARE

RFC2544_SECONDS = 60.0
"""RFC 2544 section 24."""
WINDOWED = f"windowed, {SHORTEST_S * 1e3:g} to {LONGEST_S * 1e3:g} ms a window"
BOUNDS = "bounds of the tester"
"""Label of the setting where they are loosened."""
SHORTEST_TRIAL_S, LONGEST_TRIAL_S = 0.001, 3600.0
"""What the tester takes for one trial, so that no search ends in its refusal."""
TrialSeconds = Annotated[float, Field(ge=SHORTEST_TRIAL_S, le=LONGEST_TRIAL_S)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class Plan(Frozen):
    """What a run measures and how."""

    duts: Annotated[tuple[str, ...], Field(min_length=1)]
    mixes: Annotated[tuple[FrameMix, ...], Field(min_length=1)]
    flows: Annotated[int, Field(ge=1, le=1 << 24)] = 8192
    method: Method = "informed"
    relative_width: Annotated[float, Field(gt=0, lt=1)] = 0.005
    trial_seconds: TrialSeconds = 1.0
    confirm_seconds: TrialSeconds = RFC2544_SECONDS
    confirmations: Annotated[int, Field(ge=1, le=99)] = 1
    """Trials of `confirm_seconds` in which the load must lose nothing; RFC 2544 asks for one."""
    burst_frames: Annotated[int, Field(ge=1, le=128)] = 32
    link_bps: Annotated[int, Field(gt=0)] | None = None
    """Line rate of the wire in bit/s; None for a virtual wire, which has none."""
    windowed: bool = False
    """Trials are made of short windows that count one by one. Continuous ones are RFC 2544's."""
    bounds: TesterBounds = TesterBounds()
    """When a trial is void by the tester's absence; looser ones are named in the record."""
    max_load_pps: Positive | None = None
    """Offer no more than this; None: the line rate, or what the tester can send."""
    repeats: Annotated[int, Field(ge=1, le=99)] = 1
    """Searches of each DUT and mix. The range of what they prove says how far to trust one."""
    overloads: bool = True
    """A search begins with a trial at all that the tester can send. Without one the highest load
    is that of `max_load_pps`."""

    further: Further = Further()
    """What is measured after each search that came to a throughput."""

    @model_validator(mode="after")
    def _a_trial_that_confirms_is_no_shorter(self) -> "Plan":
        if self.confirm_seconds < self.trial_seconds:
            raise ValueError(
                f"a confirming trial of {self.confirm_seconds:g} s is shorter than one of the "
                f"search, {self.trial_seconds:g} s"
            )
        return self

    @model_validator(mode="after")
    def _something_bounds_the_search(self) -> "Plan":
        if not self.overloads and self.max_load_pps is None:
            raise ValueError("without a trial at full load, a highest load is asked for")
        return self

    @model_validator(mode="after")
    def _a_highest_load_bounds_something(self) -> "Plan":
        line_pps = self.link_load_pps(self.smallest_mix)
        if line_pps is not None and self.max_load_pps is not None and self.max_load_pps > line_pps:
            raise ValueError(
                f"a highest load of {self.max_load_pps:g} pps is above the line rate of frames of "
                f"{self.smallest_mix.label} bytes, {line_pps:.0f} pps"
            )
        return self

    def settings(self, *, wire: str, bidirectional: bool) -> dict[str, str]:
        """Label and value for the report; a run is gone on with only if all are the same."""
        highest = self.max_load_pps
        return {
            "DUTs": ", ".join(self.duts),
            "wire": wire,
            "frame sizes": ", ".join(mix.label for mix in self.mixes),
            "flows": str(self.flows),
            "search": self.method,
            "width": f"{self.relative_width:.15g} of the upper bound",
            "loss allowed": "0 frames",
            "trial": f"{self.trial_seconds:.15g} s",
            "confirming trial": f"{self.confirm_seconds:.15g} s",
            "burst": f"{self.burst_frames} frames at most",
            "highest load": "what the tester can send"
            if highest is None
            else f"{highest:.15g} pps",
            "line": "none" if self.link_bps is None else f"{self.link_bps / 1e9:.15g} Gb/s",
            "direction": "bidirectional" if bidirectional else "one",
            # Runs of releases that knew only continuous trials can be gone on with.
            **({TRIALS_ARE: WINDOWED} if self.windowed else {}),
            **({BOUNDS: self.bounds.text} if self.bounds.text else {}),
            **({"after each search": self.further.text} if self.further.text else {}),
            **({} if self.overloads else {"first trial": "within the highest load"}),
            **({} if self.confirmations == 1 else {"confirming trials": str(self.confirmations)}),
            **({} if self.repeats == 1 else {"searches of each size": str(self.repeats)}),
        }

    @property
    def smallest_mix(self) -> FrameMix:
        """The mix of which most frames can be offered in a second."""
        return min(self.mixes, key=lambda mix: mix.mean_wire_bytes)

    def link_load_pps(self, mix: FrameMix) -> float | None:
        """Line rate for `mix`; None where there is no line."""
        return None if self.link_bps is None else self.link_bps / (8 * mix.mean_wire_bytes)

    def highest_load_pps(self, mix: FrameMix) -> float | None:
        """Most that may be offered of `mix`: the line's, or what is asked for; None: no bound."""
        bounds = (self.link_load_pps(mix), self.max_load_pps)
        return min((bound for bound in bounds if bound is not None), default=None)

    @property
    def searches(self) -> tuple[tuple[int, str, FrameMix], ...]:
        """Number, DUT and mix of each search, in order; numbers start at 1."""
        pairs = ((dut, mix) for dut in self.duts for mix in self.mixes for _ in range(self.repeats))
        return tuple((number, dut, mix) for number, (dut, mix) in enumerate(pairs, 1))

    @property
    def full_method_seconds(self) -> float:
        """Time that the same run takes as RFC 2544 has it: bisection, each trial of 60 s."""
        trials = math.ceil(math.log2(1 / self.relative_width)) + 2
        return len(self.searches) * trials * RFC2544_SECONDS
