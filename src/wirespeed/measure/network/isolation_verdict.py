"""What forged frames show. Pure."""

from dataclasses import dataclass
from typing import Any

from wirespeed.measure.network.forged import CONTROL, KINDS
from wirespeed.model.network_trial import ForgedKind, IsolationVerdict
from wirespeed.model.shown import shown

HEADER_BYTES = 34
ANSWERS = {
    "arp_reply": ForgedKind.ARP,
    "arp_request": ForgedKind.IPV4,
    "echo_reply": ForgedKind.IPV4,
    "echo_reply_6": ForgedKind.IPV6_MULTICAST,
}
"""What the sender may hear of the receiver, and the kind of frame that it answers."""


class NoAccountError(ValueError):
    """A guest's account makes no sense."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """Frames of one kind that came in."""

    netdev: str
    """Where the first of them did."""
    place: int
    """Of the sender, in the capture."""
    kind: int
    numbers: int
    first: str
    """The first of them in hex, its headers."""
    taken_off_tci: int | None

    def told(self) -> str:
        """Say how the first of them came, for a person."""
        data = bytes.fromhex(self.first)[:HEADER_BYTES]
        to, source, rest = (part.hex(":") for part in (data[:6], data[6:12], data[12:]))
        tag = "" if self.taken_off_tci is None else f", tag {self.taken_off_tci & 0xFFF} taken off"
        return f"{self.netdev} heard {source} > {to}{tag}: {rest}"


@dataclass(frozen=True, slots=True)
class Forging:
    """What the sender did."""

    left: dict[int, int]
    """Frames that left it, by kind."""
    why: str
    """Why one did not."""
    answers: dict[str, int]


def parse_forging(told: Any) -> Forging:
    """Read the sender's account. Raises NoAccountError."""
    if not isinstance(told, dict):
        raise NoAccountError("it is not an object")
    left, answers = told.get("left"), told.get("answers")
    if not (isinstance(left, dict) and isinstance(answers, dict)):
        raise NoAccountError("it does not tell what left")
    try:
        by_kind = {int(kind): _count(number) for kind, number in left.items()}
    except ValueError:
        raise NoAccountError(f"kinds are {shown(str(list(left)), 60)}") from None
    counts = {key: _count(answers.get(key)) for key in ANSWERS}
    return Forging(left=by_kind, why=shown(str(told.get("why", "")), 100), answers=counts)


def parse_arrivals(told: Any, netdevs: frozenset[str]) -> list[Arrival]:
    """Read the receiver's account. Raises NoAccountError."""
    if not isinstance(told, list):
        raise NoAccountError("it is not a list")
    found = []
    for one in told:
        if not isinstance(one, dict) or one.get("netdev") not in netdevs:
            raise NoAccountError(f"it reports {shown(str(one), 60)}")
        first, tci = one.get("first"), one.get("taken_off_tci")
        try:
            bytes.fromhex(first)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            raise NoAccountError(f"{shown(str(first), 60)} is not a frame") from None
        tag = None if tci is None else _count(tci)
        count = _count(one.get("numbers"))
        place, kind = _count(one.get("place")), _count(one.get("kind"))
        found.append(Arrival(one["netdev"], place, kind, count, str(first), tag))
    return found


def judge_forged(
    kind: ForgedKind,
    place: int,
    wanted: int,
    forging: Forging,
    arrivals: list[Arrival],
    *,
    within_its_network: bool,
) -> tuple[IsolationVerdict, int, int, str]:
    """Give the verdict on one kind, how many arrived, how many were answered, and what to say.

    `place` is the sender's in the capture, `wanted` is how many had to leave. `within_its_network`:
    the receiver may hear the sender, and only the source is forged.
    """
    number = KINDS.index(kind)
    mine = [one for one in arrivals if (one.place, one.kind) == (place, number)]
    arrived = sum(one.numbers for one in mine)
    answered = sum(forging.answers[key] for key, of in ANSWERS.items() if of is kind)
    if arrived and within_its_network:
        return IsolationVerdict.NOT_ENFORCED, arrived, answered, mine[0].told()
    if arrived:
        return IsolationVerdict.LEAKED, arrived, answered, mine[0].told()
    if answered and not within_its_network:
        return IsolationVerdict.LEAKED, arrived, answered, "it was answered"
    left = forging.left.get(number, 0)
    if left < wanted:
        why = f": {forging.why}" if forging.why else ""
        said = f"{left} of {wanted} frames left the sender{why}"
        return IsolationVerdict.NOT_SHOWN, arrived, answered, said
    for when, of in ((place, "before"), (place + 1, "after")):
        if not any((one.place, one.kind) == (when, CONTROL) for one in arrivals):
            said = f"an honest frame sent {of} the forged ones was not heard either"
            return IsolationVerdict.NOT_SHOWN, arrived, answered, said
    return IsolationVerdict.APART, arrived, answered, ""


def heard_control(place: int, arrivals: list[Arrival]) -> int:
    """Count honest frames that were heard: before the sender at this place, and after it."""
    around = (place, place + 1)
    return sum(one.numbers for one in arrivals if one.kind == CONTROL and one.place in around)


def _count(found: Any) -> int:
    if isinstance(found, bool) or not isinstance(found, int) or found < 0:
        raise NoAccountError(f"{shown(str(found), 40)} is not a count")
    return found
