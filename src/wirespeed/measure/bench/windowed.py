"""A trial made of short windows: which of them count, and what they say together. Pure.

The tester makes them in runs: of one run each window is drained before the next one begins, and
where frames of one stay out the run ends, so that no late frame is another window's.

A window in which tester or DUT was away for long is void, whether it lost frames or not, so that
nothing is chosen by its loss. And it is void only as far as the DUT's absence explains what is
missing: at most what arrives in that time. A window that lost more counts, with its loss.
"""

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

from wirespeed.measure.bench.testbed import BedTrial
from wirespeed.measure.bench.tester_protocol import WindowReply
from wirespeed.measure.bench.windowed_sum import (
    sum_counters,
    sum_latency,
    sum_streams,
    sum_tester,
)
from wirespeed.model.frozen import Frozen
from wirespeed.model.windows import Windows

LONGEST_S = 0.025
"""Shorter than the time between two stalls of a quiet shared machine."""
SHORTEST_S = LONGEST_S / 16
"""Half of a turn of a busy neighbour on the same core. What a ring takes in meanwhile is no rate: a
window's time ends when its last frame is back."""
RUN_S = 0.25
"""Windows that the tester makes in one run; what voids the run voids them all."""
RUN_WINDOWS = 40
"""And after so many it is asked whether their length fits."""
LOOK_AT = 10
"""Windows of one length after which it is halved if most are void, or doubled if none is."""
VOID_SHARE_MOST = 0.9
VOID_MOST = 2000
"""Void windows of one trial, whatever share of all they are."""
GIVE_UP_AFTER = 150
"""Windows after which a trial with a larger share of void ones is given up."""
AWAY_NS = 1_000_000
"""A DUT whose thread was kept from its core for less is not away: its ring holds as much."""
DRAIN_FREE_NS = 200_000
"""A DUT that keeps up has all frames of a window back within this."""
SETTLE_MS = 50.0
"""Silence after which what a run lacks is lost. On a wire in memory a frame is under way for some
milliseconds, as long as the DUT's queue is. What a DUT is kept from its core is no silence."""
LOSSY_ENOUGH = 2
"""Valid windows with loss after which no more are made: the load has failed."""
LOSSY_RATIO = 1e-3
"""And below this loss ratio they all are: a rare loss is counted over the whole trial."""

TOO_SLOW_SHARE = 0.5
"""Of the windows: a load of which the tester sent too little in more of them is beyond it."""

WINDOWS_VOID = "trial.windows_void"
DUT_AWAY = "machine.dut_away"
TOO_SLOW = "tester.too_slow"
_STALLED = ("tester.stalled", "tester.stalled_often")


class Window(Frozen):
    """One window and its verdict."""

    reply: WindowReply
    seconds: float
    """Its length as it was asked for."""
    reasons: tuple[str, ...] = ()
    """Why it is void; empty if it counts."""
    spoils: bool = False
    """It lost frames while the tester itself failed: nothing can be said of the whole trial."""

    @property
    def missing(self) -> int:
        """Frames that did not come back."""
        return self.reply.missing_frames

    @property
    def offered(self) -> int:
        """Frames handed to the wire."""
        return self.reply.offered_frames


class WindowRun(Frozen):
    """Windows that the tester made in one run, and the rest of its account."""

    made: BedTrial
    windows: tuple[Window, ...]


def judge_run(made: BedTrial, seconds: float) -> WindowRun:
    """Say which windows of a run count; each was to last for `seconds`."""
    result = made.result
    dropped = sum(port.imissed + port.rx_nombuf for port in result.counters)
    windows = tuple(
        _judge(reply, seconds, result.invalid_reasons, dropped) for reply in result.windows
    )
    return WindowRun(made=made, windows=windows)


def _judge(reply: WindowReply, seconds: float, of_run: tuple[str, ...], dropped: int) -> Window:
    away = reply.away_ns
    reasons = [*of_run, *reply.invalid_reasons]
    if away >= AWAY_NS:
        reasons.append(f"{DUT_AWAY}: its thread was kept from its core for {away / 1e6:.2f} ms")
    window = Window(reply=reply, seconds=seconds, reasons=tuple(reasons))
    if not reasons:
        return window
    # While the tester is away it sends nothing, so that its absence makes no DUT lose a frame; what
    # its own port dropped it has counted. While the DUT is away, what arrives may be lost.
    lasted = max(reply.measured_seconds, 1e-9)
    arrived = reply.offered_frames / lasted * away / 1e9 if away >= AWAY_NS else 0
    explained = math.ceil(arrived) + dropped
    if window.missing <= explained:
        return window
    if all(_slug(reason) in (*_STALLED, DUT_AWAY) for reason in reasons):
        return Window(reply=reply, seconds=seconds)
    return Window(reply=reply, seconds=seconds, reasons=tuple(reasons), spoils=True)


def enough(windows: Sequence[Window], seconds: float) -> bool:
    """Say whether no more windows are needed."""
    valid = [w for w in windows if not w.reasons]
    lossy = [w for w in valid if w.missing]
    lost, offered = sum(w.missing for w in valid), sum(w.offered for w in valid)
    return (
        left_s(windows, seconds) <= 0
        or (len(windows) >= GIVE_UP_AFTER and _too_many_void(windows))
        or len(windows) - len(valid) > VOID_MOST
        or any(w.spoils for w in windows)
        or _beyond_tester(windows)
        or (len(lossy) >= LOSSY_ENOUGH and lost > LOSSY_RATIO * offered)
    )


def left_s(windows: Sequence[Window], seconds: float) -> float:
    """Valid time that is still to be made; 0 where it is made, to a part in 1e9."""
    made = sum(w.reply.measured_seconds for w in windows if not w.reasons)
    return seconds - made if made < seconds * (1 - 1e-9) else 0.0


def next_run(windows: Sequence[Window], seconds: float, length_s: float) -> tuple[int, float]:
    """How many windows the next run makes, and how long each of them is."""
    left = left_s(windows, seconds)
    if left <= length_s:
        return 1, max(left, min(SHORTEST_S, seconds))
    # A load that fails is told by few windows; they are made first.
    most = RUN_WINDOWS if len(windows) >= LOSSY_ENOUGH else LOSSY_ENOUGH
    fit = max(1, math.floor(RUN_S / length_s))
    return min(most, fit, math.ceil(left / length_s - 1e-9)), length_s


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


def trial_fields(runs: Sequence[WindowRun]) -> dict[str, Any]:
    """Fields of the trial that these runs make, void windows left out; of all if all are void.

    Latency, departures and silence are those of whole runs that have a window which counts.
    """
    windows = [window for run in runs for window in run.windows]
    valid = [w for w in windows if not w.reasons]
    replies = [w.reply for w in valid or windows]
    shown = [run for run in runs if not valid or any(not w.reasons for w in run.windows)]
    results = [run.made.result for run in shown]
    whole = [run.made.result for run in shown if not any(w.reasons for w in run.windows)]
    reasons = _trial_reasons(windows)
    ports, dut = sum_counters(
        [(run.made, [w.reply for w in run.windows if w.reasons and valid]) for run in shown],
        ran_ns=_ran_ns(replies),
    )
    health = sum_tester([result.tester for result in results])
    of_windows = {
        "stalled_ns": sum(reply.stalled_ns for reply in replies),
        "gap_ns_max": max(reply.gap_ns_max for reply in replies),
    }
    return {
        "measured_seconds": sum(reply.measured_seconds for reply in replies),
        "streams": sum_streams([reply.streams for reply in replies]),
        "latency": sum_latency([r.latency for r in results if r.latency is not None]),
        "departure": max((r.departure for r in results), key=lambda d: d.interval_ns_p99),
        "tester": health.model_copy(update=of_windows),
        "silence_ns_max": max((result.silence_ns_max for result in whole), default=0),
        "silence_ns_sum": sum(result.silence_ns_sum for result in whole),
        "tester_ports": ports,
        "dut_reading": dut,
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
        valid_seconds=sum(w.reply.measured_seconds for w in valid),
        seconds=sum(w.reply.measured_seconds + _drain_s(w) for w in windows),
        drain_seconds=sum(_drain_s(w) for w in valid),
        late_frames=sum(_late_frames(w) for w in valid),
        void_offered_frames=sum(w.offered for w in void),
        void_missing_frames=sum(max(0, w.missing) for w in void),
    )


def _trial_reasons(windows: Sequence[Window]) -> tuple[str, ...]:
    void = [w for w in windows if w.reasons]
    spoilt = next((w for w in windows if w.spoils), None)
    if spoilt is not None:
        # A load that the tester did not send is beyond it, whoever else was away meanwhile.
        slow = tuple(reason for reason in spoilt.reasons if _slug(reason) == TOO_SLOW)
        return slow or spoilt.reasons
    if _beyond_tester(windows):
        return next(w.reasons for w in reversed(void) if _is_too_slow(w))
    if len(void) > VOID_MOST:
        said = f"{len(void)} of {len(windows)} windows, most {VOID_MOST}; the last: "
        return (f"{WINDOWS_VOID}: {said}{'; '.join(void[-1].reasons)}",)
    if len(void) < len(windows) and not _too_many_void(windows):
        return ()
    if all(_slug(reason) == TOO_SLOW for w in void for reason in w.reasons):
        return void[-1].reasons
    said = f"{len(void)} of {len(windows)} windows, most {VOID_SHARE_MOST:.0%}; the last: "
    return (f"{WINDOWS_VOID}: {said}{'; '.join(void[-1].reasons)}",)


def _is_too_slow(window: Window) -> bool:
    return bool(window.reasons) and all(_slug(reason) == TOO_SLOW for reason in window.reasons)


def _beyond_tester(windows: Sequence[Window]) -> bool:
    slow = sum(map(_is_too_slow, windows))
    return slow >= LOOK_AT and slow > TOO_SLOW_SHARE * len(windows)


def _too_many_void(windows: Sequence[Window]) -> bool:
    return sum(bool(w.reasons) for w in windows) > VOID_SHARE_MOST * len(windows)


def _late_frames(window: Window) -> int:
    reply = window.reply
    # What arrived while the DUT was kept from its core takes it no longer than that to forward, and
    # what came while the tester was away was looked at later.
    away_s = (reply.away_ns + reply.stalled_ns) / 1e9
    excess = _drain_s(window) - DRAIN_FREE_NS / 1e9 - away_s
    if excess <= 0:
        return 0
    # At the pace at which they came, so many came in that time.
    pace = window.offered / (reply.measured_seconds + reply.drain_ns / 1e9)
    return max(1, round(pace * excess))


def _drain_s(window: Window) -> float:
    """Time in which the DUT forwarded what its queue held; it did not while it was kept from it."""
    return max(0, window.reply.drain_ns - window.reply.drain_away_ns) / 1e9


def _ran_ns(replies: Sequence[WindowReply]) -> int | None:
    """Time that the DUT's thread had its core while frames were sent; None: it is not watched."""
    if any(None in reply.watched_away_ns or not reply.watched_away_ns for reply in replies):
        return None
    return sum(max(0, round(r.measured_seconds * 1e9) - r.away_ns) for r in replies)


def _slug(reason: str) -> str:
    return reason.partition(":")[0]
