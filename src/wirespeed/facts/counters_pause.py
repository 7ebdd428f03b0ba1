"""How long and how often a port was paused during the capture, by direction."""

import re
from dataclasses import dataclass
from typing import Literal

from wirespeed.facts.counters import Counters, Place
from wirespeed.facts.ethtool import ethtool_command, safe_netdev
from wirespeed.model.command import Command
from wirespeed.model.finding import ByHand, Danger, Evidence, Remedy, Severity, StepCall
from wirespeed.model.observed import Absent, Known, known
from wirespeed.model.port import Port
from wirespeed.model.rule import DoesNotApplyError

PRIORITY = re.compile(r"prio|pfc")
COSTLY_SHARE = 0.01
"""Share of the time from which pausing is a fault; below it is what flow control is for."""
SILENT_SHARE = 1e-4
"""Pause frames before the capture, as a share of the frames that they could stop."""


@dataclass(frozen=True, slots=True)
class Paused:
    """Pause frames in one direction."""

    severity: Severity
    share: float | None
    """Share of the capture during which nothing could be sent; None where the card counts none."""
    is_now: bool
    """False: all of them came before the capture."""
    by_priority: bool
    """Priorities are paused one by one (IEEE 802.1Qbb), whatever `ethtool -a` says."""
    evidence: tuple[Evidence, ...]


def without_pause(
    netdev: str, found: Paused, side: Literal["rx", "tx"], text: str, priority_text: str
) -> Remedy:
    """Make the remedy that ends what was found; `ethtool -A` is not about priorities."""
    if found.by_priority:
        command = ("dcb", "pfc", "set", "dev", safe_netdev(netdev), "prio-pfc", "all:off")
        return Remedy(
            text=priority_text,
            commands=(Command(argv=command),),
            danger=Danger.DROPS_LINK,
            by_hand=ByHand.NO_STEP,
        )
    return Remedy(
        text=text,
        commands=(ethtool_command("-A", netdev, side, "off"),),
        danger=Danger.DROPS_LINK,
        steps=(StepCall.of("pause", netdev=netdev, **{side: False}),),
    )


def paused(counters: Counters, port: Port, frames: Place, time_us: Place) -> Paused | None:
    """Give what was paused by `frames`, whose duration is counted at `time_us`; None: nothing.

    Without a duration every growth is a fault: one frame can stop a link for 33 ms at 1 Gb/s.
    Raises DoesNotApplyError where the port counts no pause frames.
    """
    delta = counters.delta(port.netdev, frames)
    if isinstance(delta, Absent):
        raise DoesNotApplyError(f"{frames}: {delta.reason}")
    count = known(delta, frames)
    duration = counters.delta(port.netdev, time_us)
    if count.count == 0:
        return _before(counters, port, frames, by_priority=_by_priority(count.ever))
    text = f"{count.count} {frames} in {count.seconds:.2f} s"
    evidence = [Evidence(found=text, source=delta.source)]
    share = None
    # Where only priorities are timed, a pause of the whole port is not in it.
    is_timed = isinstance(duration, Known) and (
        all(map(PRIORITY.search, count.grown)) or not _by_priority(duration.value.counters)
    )
    if is_timed and isinstance(duration, Known):
        share = min(1.0, duration.value.count / 1e6 / duration.value.seconds)
        text = f"paused for {duration.value.count / 1000:.1f} ms of that, {100 * share:.2g} %"
        evidence.append(Evidence.of(duration, text))
    severity = Severity.FAULT if share is None or share >= COSTLY_SHARE else Severity.NOTE
    return Paused(
        severity,
        share,
        is_now=True,
        by_priority=_by_priority(count.grown),
        evidence=tuple(evidence),
    )


def _by_priority(names: tuple[str, ...]) -> bool:
    return any(map(PRIORITY.search, names))


def _before(counters: Counters, port: Port, frames: Place, *, by_priority: bool) -> Paused | None:
    stopped = Place.SENT if frames is Place.PAUSE_RECEIVED else Place.RECEIVED
    total = counters.total(port.netdev, frames)
    passed = known(counters.total(port.netdev, stopped), stopped)
    if not isinstance(total, Known) or total.value <= SILENT_SHARE * passed:
        return None
    text = f"{total.value} {frames} since the driver was loaded, to {passed} {stopped}; none now"
    return Paused(
        Severity.NOTE,
        None,
        is_now=False,
        by_priority=by_priority,
        evidence=(Evidence.of(total, text),),
    )
