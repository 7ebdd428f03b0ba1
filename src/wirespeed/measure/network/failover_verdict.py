"""What a paced flow shows of a port that was away. Pure."""

from dataclasses import dataclass
from typing import Any

from wirespeed.model.network_trial import FailoverVerdict
from wirespeed.model.shown import shown

MS = 1_000_000
INTERVALS = 10
"""A silence of so many is still no outage: pollers, timers and the lab's clock are that coarse."""
NOISE = 4
"""So many times the longest silence before is none either."""
MAX_PAUSE_MS = 100.0
"""A sender that stops for longer may be what was silent, unless the outage is far longer yet."""
MIN_SENT = 0.95
"""Share of what was due that must have been sent."""
PHASES = ("start", "before", "away", "back", "tail")


class NoAccountError(ValueError):
    """A guest's account of the flow makes no sense."""


@dataclass(frozen=True, slots=True)
class Sent:
    """What the sender did."""

    packets: int
    refused: int
    longest_pause_ms: float
    duration_ms: float


@dataclass(frozen=True, slots=True)
class Phase:
    """What the receiver heard in one stretch of time."""

    duration_ms: float
    received: int
    longest_silence_ms: float
    last_silence_ms: float
    """Up to its end."""
    longest_skip: int
    """Most numbers that were passed over at once: lost in a row, or late."""

    @property
    def is_alive_at_end(self) -> bool:
        """Whether anything came in its last quarter."""
        return self.received > 0 and self.last_silence_ms < self.duration_ms / 4


@dataclass(frozen=True, slots=True)
class Heard:
    """What the receiver heard."""

    received: int
    duplicates: int
    reordered: int
    overflowed: int
    """Packets that came, and that the receiver was too slow to take."""
    phases: dict[str, Phase]


@dataclass(frozen=True, slots=True)
class Carried:
    """The bond's active member."""

    before: str
    during: str
    after: str


def parse_sent(told: Any) -> Sent:
    """Read the sender's account. Raises NoAccountError."""
    return Sent(
        packets=_count(told, "sent"),
        refused=_count(told, "refused"),
        longest_pause_ms=_count(told, "longest_pause_ns") / MS,
        duration_ms=_count(told, "duration_ns") / MS,
    )


def parse_heard(told: Any) -> Heard:
    """Read the receiver's account. Raises NoAccountError."""
    phases: dict[str, Phase] = {}
    listed = told.get("phases") if isinstance(told, dict) else None
    for phase in listed if isinstance(listed, list) else []:
        if not isinstance(phase, dict) or phase.get("phase") not in PHASES:
            raise NoAccountError(f"it reports {shown(str(phase), 60)}")
        phases[phase["phase"]] = Phase(
            duration_ms=_count(phase, "duration_ns") / MS,
            received=_count(phase, "received"),
            longest_silence_ms=_count(phase, "longest_silence_ns") / MS,
            last_silence_ms=_count(phase, "last_silence_ns") / MS,
            longest_skip=_count(phase, "longest_skip"),
        )
    if tuple(phases) != PHASES:
        raise NoAccountError(f"it reports {', '.join(phases) or 'no phase'}, not of all")
    names = ("received", "duplicates", "reordered", "overflowed")
    return Heard(phases=phases, **{name: _count(told, name) for name in names})


def judge(
    load_pps: int, sent: Sent, heard: Heard, carried: Carried, member: str
) -> tuple[FailoverVerdict, str]:
    """Give the verdict on a port that is `member` in the guest, and what there is to say."""
    before, away, back = (heard.phases[name] for name in ("before", "away", "back"))
    if not before.is_alive_at_end:
        said = "nothing arrived before the port was lost"
        # Pings were answered just before.
        firewall = ", nor after: a firewall may drop UDP"
        return FailoverVerdict.INVALID, said if heard.received else said + firewall
    if why := _not_paced(load_pps, sent, heard):
        return FailoverVerdict.INVALID, why
    if not away.is_alive_at_end:
        said = "" if back.is_alive_at_end else "nor did it after the port was back"
        return FailoverVerdict.LOST, said
    if not back.is_alive_at_end:
        return FailoverVerdict.NOT_RETURNED, ""
    usual_ms = max(
        INTERVALS * 1000 / load_pps, NOISE * before.longest_silence_ms, 2 * sent.longest_pause_ms
    )
    if carried.during == carried.before and away.longest_silence_ms <= usual_ms:
        stayed = "went on carrying it" if carried.before == member else "carried it"
        return FailoverVerdict.NOT_TOUCHED, f"{carried.before} {stayed}"
    if carried.during == carried.before != member:
        why = f"{carried.before} carried it, with a silence of {away.longest_silence_ms:.0f} ms"
        return FailoverVerdict.NOT_TOUCHED, why
    # What was lost in a row was due: a sender that pauses loses nothing by that.
    explained_ms = away.longest_skip * 1000 / load_pps
    if (
        sent.longest_pause_ms > max(MAX_PAUSE_MS, away.longest_silence_ms / NOISE)
        and explained_ms < away.longest_silence_ms / 2
    ):
        why = f"the sender itself paused for {sent.longest_pause_ms:.0f} ms"
        return FailoverVerdict.INVALID, why
    if carried.during == member:
        return FailoverVerdict.SURVIVED, f"it stopped and went on, and {member} stayed active"
    return FailoverVerdict.SURVIVED, ""


def _not_paced(load_pps: int, sent: Sent, heard: Heard) -> str:
    """Say why the accounts cannot be relied on, if so."""
    due = load_pps * sent.duration_ms / 1000
    if sent.packets < MIN_SENT * due:
        return f"the sender sent {sent.packets} of {due:.0f} packets that were due"
    if sent.longest_pause_ms > min(heard.phases[name].duration_ms for name in ("away", "back")) / 4:
        return f"the sender itself paused for {sent.longest_pause_ms:.0f} ms"
    if heard.overflowed:
        return f"the receiver was too slow for {heard.overflowed} packets that came"
    if heard.received > sent.packets:
        return f"{heard.received} packets arrived of {sent.packets} that were sent"
    return ""


def _count(told: Any, key: str) -> int:
    found = told.get(key) if isinstance(told, dict) else None
    if isinstance(found, bool) or not isinstance(found, int) or found < 0:
        raise NoAccountError(f"it tells {shown(str(found), 40)} for {key}")
    return found
