"""A cable that is in another port than the user said."""

from collections.abc import Iterator

from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Absent, Known, known
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule, of_each
from wirespeed.model.shown import shown
from wirespeed.platforms.switch.facts.switchport_ends import CableEnd, cable_ends
from wirespeed.platforms.switch.facts.switchport_pairs import is_own


def _check(exam: HostExam) -> Iterator[Finding]:
    named = [end for end in cable_ends(exam.host) if end.is_named]
    if not named:
        raise DoesNotApplyError("no cable was named: the LLDP neighbor is used")
    yield from of_each(named, lambda pair: _pair(exam, pair))


def _pair(exam: HostExam, pair: CableEnd) -> Iterator[Finding]:
    if isinstance(pair.port.neighbors, Absent):
        return
    heard = known(pair.port.neighbors, f"the LLDP neighbor of {pair.place}")
    macs = (pair.mac,) if pair.mac else ()
    if any(is_own(neighbor, pair.name, macs, pair.host) is not False for neighbor in heard):
        return
    names = ", ".join(shown(f"{one.port} of {one.system or '?'}", 80) for one in heard[:4])
    yield exam.finding(
        Severity.RISK,
        (
            Evidence(
                found=f"LLDP at {pair.place} shows {names}",
                source=pair.port.neighbors.source if isinstance(pair.port.neighbors, Known) else "",
            ),
        ),
        so=f"{pair.name} may be plugged in elsewhere: changing that switch port would affect "
        "another host",
        where=pair.name,
        remedies=(
            Remedy(
                text="trace the cable, or check which switch port learns the card's MAC address",
                by_hand=ByHand.HARDWARE,
            ),
        ),
        unpriced="it costs nothing by itself",
    )


RULE = HostRule(
    slug="switchport.wrong_neighbor",
    title="Unexpected LLDP neighbor at the switch port",
    why="Before you change a switch port, check that it is the right one. A host that sends LLDP "
    "announces its netdev; many cards send LLDP themselves, with their MAC address.",
    source="IEEE 802.1AB",
    check=_check,
)
