"""A trial made of short windows: which of them count, and what they say together. Pure.

A window in which tester or DUT was away for long is void, whether it lost frames or not, so that
nothing is chosen by its loss. And it is void only as far as the DUT's absence explains what is
missing: at most what arrives in that time. A window that lost more counts, with its loss.
"""

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

from wirespeed.measure.bench.testbed import BedTrial
from wirespeed.measure.bench.windowed_sum import (
    sum_dut,
    sum_latency,
    sum_ports,
    sum_streams,
    sum_tester,
)
from wirespeed.model.frozen import Frozen
from wirespeed.model.windows import Windows

LONGEST_S = 0.025
"""Shorter than the time between two stalls of a quiet shared machine."""
SHORTEST_S = 0.003
"""Shorter than a turn of a busy neighbour on the same core. What a ring takes in meanwhile is no
rate: a window's time ends when its last frame is back."""
LOOK_AT = 10
"""Windows of one length after which it is halved if most are void, or doubled if none is."""
VOID_SHARE_MOST = 0.9
GIVE_UP_AFTER = 60
"""Windows after which a trial with more void ones than that is given up."""
AWAY_NS = 1_000_000
"""A DUT whose thread was kept from its core for less is not away: its ring holds as much."""
DRAIN_FREE_NS = 200_000
DRAIN_SHARE = 0.02
"""A DUT that keeps up has all frames back within this and this share of a window."""
LOSSY_ENOUGH = 4
"""Valid windows with loss after which no more are made: the load has failed."""
LOSSY_RATIO = 1e-3
"""And below this loss ratio they all are: a rare loss is counted over the whole trial."""

WINDOWS_VOID = "trial.windows_void"
DUT_AWAY = "machine.dut_away"
TOO_SLOW = "tester.too_slow"
_STALLED = ("tester.stalled", "tester.stalled_often")


class Window(Frozen):
    """One window and its verdict."""

    made: BedTrial
    seconds: float
    """Its length as it was asked for."""
    reasons: tuple[str, ...] = ()
    """Why it is void; empty if it counts."""
    spoils: bool = False
    """It lost frames while the tester itself failed: nothing can be said of the whole trial."""

    @property
    def missing(self) -> int:
        """Frames that did not come back."""
        return sum(stream.missing_frames for stream in self.made.result.streams)

    @property
    def offered(self) -> int:
        """Frames handed to the wire."""
        return sum(stream.offered_frames for stream in self.made.result.streams)


def judge(made: BedTrial, seconds: float) -> Window:
    """Say whether a window counts."""
    result = made.result
    away = max((ns for ns in result.watched_away_ns if ns is not None), default=0)
    reasons = list(result.invalid_reasons)
    if away >= AWAY_NS:
        reasons.append(f"{DUT_AWAY}: its thread was kept from its core for {away / 1e6:.2f} ms")
    window = Window(made=made, seconds=seconds, reasons=tuple(reasons))
    if not reasons:
        return window
    # While the tester is away it sends nothing, so that its absence makes no DUT lose a frame; what
    # its own port dropped it has counted. While the DUT is away, what arrives may be lost.
    dropped = sum(port.imissed + port.rx_nombuf for port in result.counters)
    arrived = window.offered / result.measured_seconds * away / 1e9 if away >= AWAY_NS else 0
    explained = math.ceil(arrived) + dropped
    if window.missing <= explained:
        return window
    if all(_slug(reason) in (*_STALLED, DUT_AWAY) for reason in reasons):
        return Window(made=made, seconds=seconds)
    return Window(made=made, seconds=seconds, reasons=tuple(reasons), spoils=True)


def enough(windows: Sequence[Window], seconds: float) -> bool:
    """Say whether no more windows are needed."""
    valid = [w for w in windows if not w.reasons]
    lossy = [w for w in valid if w.missing]
    lost, offered = sum(w.missing for w in valid), sum(w.offered for w in valid)
    return (
        sum(w.made.result.measured_seconds for w in valid) >= seconds * (1 - 1e-9)
        or (len(windows) >= GIVE_UP_AFTER and _too_many_void(windows))
        or any(w.spoils for w in windows)
        or (len(lossy) >= LOSSY_ENOUGH and lost > LOSSY_RATIO * offered)
    )


def next_length(windows: Sequence[Window], length_s: float) -> float:
    """Length of the next window: shorter where most were void, longer again where none was."""
    last: list[Window] = []
    for window in reversed(windows[-LOOK_AT:]):
        if window.seconds != length_s:
            break
        last.append(window)
    if len(last) < LOOK_AT:
        return length_s
    void = sum(bool(window.reasons) for window in last)
    if void > LOOK_AT / 2:
        return max(SHORTEST_S, length_s / 2)
    return min(LONGEST_S, length_s * 2) if void == 0 else length_s


def trial_fields(windows: Sequence[Window]) -> dict[str, Any]:
    """Fields of the trial that these windows make, void ones left out; of all if all are void."""
    valid = [w for w in windows if not w.reasons]
    shown = [w.made for w in valid or windows]
    results = [made.result for made in shown]
    reasons = _trial_reasons(windows)
    return {
        "measured_seconds": sum(result.measured_seconds for result in results),
        "streams": sum_streams([result.streams for result in results]),
        "latency": sum_latency([r.latency for r in results if r.latency is not None]),
        "departure": max((r.departure for r in results), key=lambda d: d.interval_ns_p99),
        "tester": sum_tester([result.tester for result in results]),
        "silence_ns_max": max(result.silence_ns_max for result in results),
        "silence_ns_sum": sum(result.silence_ns_sum for result in results),
        "tester_ports": sum_ports([result.counters for result in results]),
        "dut_reading": sum_dut([made.dut for made in shown]),
        "valid": not reasons,
        "invalid_reasons": reasons,
        "windows": _summary(windows, valid),
    }


def _summary(windows: Sequence[Window], valid: Sequence[Window]) -> Windows:
    void = [w for w in windows if w.reasons]
    slugs = Counter(slug for w in void for slug in dict.fromkeys(map(_slug, w.reasons)))
    return Windows(
        window_seconds=min(w.seconds for w in windows),
        valid=len(valid),
        void=len(void),
        void_reasons=dict(slugs.most_common()),
        valid_seconds=sum(w.made.result.measured_seconds for w in valid),
        seconds=sum(w.made.result.measured_seconds + _drain_s(w) for w in windows),
        drain_seconds=sum(_drain_s(w) for w in valid),
        late_frames=sum(_late_frames(w) for w in valid),
        void_offered_frames=sum(w.offered for w in void),
        void_missing_frames=sum(max(0, w.missing) for w in void),
    )


def _trial_reasons(windows: Sequence[Window]) -> tuple[str, ...]:
    void = [w for w in windows if w.reasons]
    spoilt = next((w for w in windows if w.spoils), None)
    if spoilt is not None:
        return spoilt.reasons
    if len(void) < len(windows) and not _too_many_void(windows):
        return ()
    if all(_slug(reason) == TOO_SLOW for w in void for reason in w.reasons):
        return void[-1].reasons
    said = f"{len(void)} of {len(windows)} windows, most {VOID_SHARE_MOST:.0%}; the last: "
    return (f"{WINDOWS_VOID}: {said}{'; '.join(void[-1].reasons)}",)


def _too_many_void(windows: Sequence[Window]) -> bool:
    return sum(bool(w.reasons) for w in windows) > VOID_SHARE_MOST * len(windows)


def _late_frames(window: Window) -> int:
    result = window.made.result
    if max((ns for ns in result.watched_drain_away_ns if ns is not None), default=0) >= AWAY_NS:
        return 0  # it was kept from its core; the rate pays for the time all the same
    excess = result.drain_ns / 1e9 - DRAIN_FREE_NS / 1e9 - DRAIN_SHARE * result.measured_seconds
    if excess <= 0:
        return 0
    # At the pace at which they came, so many came in that time.
    pace = window.offered / (result.measured_seconds + result.drain_ns / 1e9)
    return max(1, round(pace * excess))


def _drain_s(window: Window) -> float:
    return window.made.result.drain_ns / 1e9


def _slug(reason: str) -> str:
    return reason.partition(":")[0]
