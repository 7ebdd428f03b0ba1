"""What RFC 2544 asks for beside throughput, after the search of each frame size.

line rate      what is forwarded on average of a full line, whatever is lost (no test of RFC 2544)
ladder         latency and loss at ten loads up to the throughput, and above it (26.2, 26.3)
back-to-back   the longest burst at the highest load that loses nothing (RFC 9004)
recovery       how long frames are still lost once an overload ends (26.5)
resets         how long nothing is forwarded when the DUT is ended and started again (26.6)
soak           trial after trial at the throughput, for hours

Its trials are in the record as those of a search are, and are answered from there at `--resume`.
"""

import math
from collections.abc import Callable
from typing import Annotated

from pydantic import Field

from wirespeed.measure.bench.trial_maker import (
    NEVER_VALID,
    BeyondTesterError,
    TrialMaker,
    recovery_seconds,
)
from wirespeed.measure.search.measurer import Purpose, Sample
from wirespeed.model.error import MeasurementError
from wirespeed.model.frozen import Frozen
from wirespeed.model.trial import Bursts, Outcome

RUNGS = 10
ABOVE = 4
"""Loads between the throughput and the highest."""
LONGEST_BURST_S = 2.0
"""RFC 2544 section 26.4: at least two seconds."""
SHORTEST_BURST_S = 0.001
"""The tester's shortest trial."""
RESET_TRIAL_S = 15.0
"""A trial with a reset is no shorter: a forwarder's start takes some seconds."""
OVERLOAD = 1.1
"""RFC 2544 section 26.5: of the throughput, or what the link carries where that is less."""
BURST_WIDTH = 0.02
"""A burst's search stops when (upper - lower) / upper is no more than this."""


class Further(Frozen):
    """What is asked for; by default nothing."""

    line_rate: bool = False
    """A trial at line rate; where no line is known at the highest load, or all that is sent."""
    ladder: bool = False
    back_to_back: Annotated[int, Field(ge=0, le=1000)] = 0
    """Searches for the longest burst; RFC 9004 recommends 50."""
    recoveries: Annotated[int, Field(ge=0, le=100)] = 0
    """Trials that begin with an overload and go on at half of it."""
    overload_seconds: Annotated[float, Field(ge=0.1, le=3000, allow_inf_nan=False)] = 60.0
    """RFC 2544 section 26.5: at least 60."""
    resets: Annotated[int, Field(ge=0, le=100)] = 0
    """Trials in each of which the DUT is ended and started again."""
    soak_seconds: Annotated[float, Field(ge=0, le=31 * 86400, allow_inf_nan=False)] = 0.0

    @property
    def text(self) -> str:
        """Name it for the record; nothing where nothing is asked for."""
        words = ["a trial at line rate"] if self.line_rate else []
        words += ["latency and loss by load"] if self.ladder else []
        words += [f"{self.back_to_back} bursts"] if self.back_to_back else []
        overload = f"{self.recoveries} recoveries from {self.overload_seconds:g} s of overload"
        words += [overload] if self.recoveries else []
        words += [f"{self.resets} resets"] if self.resets else []
        words += [f"soak of {self.soak_seconds:.15g} s"] if self.soak_seconds else []
        return ", ".join(words)


def measure_further(
    further: Further,
    outcome: Outcome,
    maker: Callable[[Purpose], TrialMaker],
    *,
    highest_pps: float | None,
    seconds: float,
) -> Bursts | None:
    """Measure what is asked for, give the bursts found.

    All but the trial at line rate begins with a throughput that the search proved.
    `maker` gives what makes trials of a purpose; `seconds` is how long one is.
    """
    if further.line_rate:
        offer_the_line(maker("line"), highest_pps, seconds)
    proven, highest = outcome.throughput_pps, highest_pps or outcome.upper_load_pps
    bursts = None
    if proven is None:
        return None
    if further.ladder:
        climb(maker("ladder"), ladder_loads(proven, highest), seconds)
    if further.back_to_back:
        bursts = back_to_back(maker("burst"), outcome, highest or proven, further.back_to_back)
    if further.recoveries:
        overload = OVERLOAD * proven if highest_pps is None else min(OVERLOAD * proven, highest_pps)
        trial_s = recovery_seconds(further.overload_seconds)
        repeat(maker("recovery"), overload, further.recoveries, trial_s, "recovery")
    if further.resets:
        repeat(maker("reset"), proven, further.resets, max(seconds, RESET_TRIAL_S), "reset")
    if further.soak_seconds:
        soak(maker("soak"), proven, further.soak_seconds, seconds)
    return bursts


def offer_the_line(maker: TrialMaker, load_pps: float | None, seconds: float) -> None:
    """Make one trial of a full line; what the tester cannot offer is void in the record."""
    try:
        maker.overload(load_pps, seconds)
    except BeyondTesterError:
        return
    except MeasurementError as error:
        if error.what != NEVER_VALID:
            raise


def ladder_loads(throughput_pps: float, highest_pps: float | None) -> tuple[float, ...]:
    """Give the loads of the ladder: tenths of the throughput, then up to the highest."""
    loads = [throughput_pps * rung / RUNGS for rung in range(1, RUNGS + 1)]
    if highest_pps is not None and highest_pps > throughput_pps:
        more = highest_pps - throughput_pps
        loads += [throughput_pps + more * step / ABOVE for step in range(1, ABOVE + 1)]
    return tuple(loads)


def climb(maker: TrialMaker, loads: tuple[float, ...], seconds: float) -> None:
    """Make a trial at each load; what the tester cannot offer ends it, what stays void is left."""
    for load in loads:
        try:
            _one(maker, load, seconds, "ladder")
        except BeyondTesterError:
            return


def repeat(
    maker: TrialMaker, load_pps: float, times: int, seconds: float, purpose: Purpose
) -> None:
    """Make the same trial several times; one that stays void ends them.

    Raises InputError `dut.no_reset`, MeasurementError as a trial does.
    """
    for _ in range(times):
        try:
            if _one(maker, load_pps, seconds, purpose) is None:
                return
        except BeyondTesterError:
            return


def soak(maker: TrialMaker, load_pps: float, seconds: float, trial_seconds: float) -> None:
    """Make trials one after the other; a void one is part of the record, and of the time."""
    for _ in range(max(1, math.ceil(seconds / trial_seconds))):
        try:
            _one(maker, load_pps, trial_seconds, "soak")
        except BeyondTesterError:
            continue


def back_to_back(maker: TrialMaker, outcome: Outcome, load_pps: float, searches: int) -> Bursts:
    """Search for the longest burst, several times; one that stays void ends the searches.

    Raises MeasurementError as a trial does.
    """

    def passes(seconds: float) -> int | None:
        """Give the frames of a burst that lost none; 0: it lost some; None: it stayed void."""
        sample = _one(maker, load_pps, seconds, "burst")
        if sample is None:
            return None
        return 0 if sample.missing_frames else sample.offered_frames

    found: list[int] = []
    for _ in range(searches):
        try:
            longest = longest_burst(passes)
        except BeyondTesterError:
            break
        if longest is None:
            break
        found.append(longest)
    return Bursts(
        search=outcome.search,
        dut=outcome.dut,
        mix=outcome.mix,
        load_pps=load_pps,
        throughput_pps=outcome.throughput_pps,
        longest_s=LONGEST_BURST_S,
        shortest_s=SHORTEST_BURST_S,
        searches=searches,
        frames=tuple(found),
    )


def longest_burst(passes: Callable[[float], int | None]) -> int | None:
    """Bisect on the burst's length; 0: the shortest lost frames. None: one stayed void."""
    frames = passes(LONGEST_BURST_S)
    if frames is None or frames > 0:
        return frames
    frames = passes(SHORTEST_BURST_S)
    if not frames:
        return frames
    lower, upper = SHORTEST_BURST_S, LONGEST_BURST_S
    while (upper - lower) / upper > BURST_WIDTH:
        middle = math.sqrt(lower * upper)
        now = passes(middle)
        if now is None:
            return None
        if now:
            lower, frames = middle, now
        else:
            upper = middle
    return frames


def _one(maker: TrialMaker, load_pps: float, seconds: float, purpose: Purpose) -> Sample | None:
    try:
        return maker.measure(load_pps, seconds, purpose)
    except MeasurementError as error:
        if error.what != NEVER_VALID:
            raise
        return None
