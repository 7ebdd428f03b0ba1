"""Two ends that negotiate, and end below what both can do, or nowhere."""

from collections.abc import Iterator

from wirespeed.ceilings.ethernet import ethernet_ceiling
from wirespeed.model.ceiling import Direction
from wirespeed.model.finding import ByHand, Change, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import CannotTellError, Known, known
from wirespeed.model.rule import HostExam, HostRule, of_each
from wirespeed.model.symptom import Symptom
from wirespeed.platforms.switch.facts.switchport_pairs import Pair, pairs
from wirespeed.platforms.switch.facts.switchport_port import most_bps


def _check(exam: HostExam) -> Iterator[Finding]:
    yield from of_each(pairs(exam.host), lambda pair: _pair(exam, pair))


def _pair(exam: HostExam, pair: Pair) -> Iterator[Finding]:
    link, port = pair.link, pair.port
    if not known(port.autonegotiation, f"whether {pair.place} negotiates"):
        return
    if not known(link.autonegotiation, f"whether {pair.netdev} negotiates"):
        return
    if not known(link.is_enabled, f"whether {pair.netdev} is set up"):
        return
    is_up = known(link.is_up, f"whether {pair.netdev} has a link")
    now = known(link.link_bps, f"speed of {pair.netdev}") if is_up else 0
    own = known(link.supported.bps, f"speeds that {pair.netdev} supports")
    theirs = most_bps(port.name)
    if theirs is None:
        raise CannotTellError(f"the speeds that {pair.place} supports", _look(pair))
    both = max((bps for bps in own if bps <= theirs), default=0)
    if now >= both:
        return
    evidence = [Evidence(found=f"{port.name} is made for {_g(theirs)}", source=_look(pair))]
    if isinstance(link.supported.bps, Known):
        evidence.append(Evidence.of(link.supported.bps, f"{pair.netdev} can do {_g(max(own))}"))
    if isinstance(port.autonegotiation, Known):
        evidence.append(Evidence.of(port.autonegotiation, "both ends negotiate"))
    if isinstance(link.is_up, Known):
        evidence.append(Evidence.of(link.is_up, f"{_g(now)} now" if is_up else "no link"))
    sides = tuple(Direction)
    yield exam.finding(
        Severity.FAULT,
        tuple(evidence),
        so=f"the link runs at {_g(now)} of the {_g(both)} that both ends support"
        if is_up
        else f"no link, although both ends support {_g(both)}",
        where=pair.netdev,
        remedies=(
            Remedy(
                text=f"set both ends to {_g(both)} by hand, as one change with one undo: "
                f"`wirespeed link HOST NETDEV SWITCH --speed {both // 10**9}G`; setting one "
                "end alone leaves no link",
                by_hand=ByHand.FAR_END,
            ),
        ),
        changes=tuple(
            Change(after=ethernet_ceiling(both, exam.question.frame_bytes, side, "both ends set"))
            for side in sides
        )
        if is_up
        else (),
        unpriced="" if is_up else "the speed that the link should have is not known",
    )


def _look(pair: Pair) -> str:
    return pair.port.is_up.source


def _g(bps: int) -> str:
    return f"{bps / 1e9:g} Gb/s"


RULE = HostRule(
    slug="switchport.negotiated_below_both",
    title="Negotiated speed below what card and switch support",
    why="The standard has no autonegotiation for 10 Gb/s over SFP+: a switch port that "
    "negotiates there falls to 1 Gb/s (1000BASE-X) or gets no link. With a 25 Gb/s card at "
    "such a port, both the card and the switch port must be set to 10 Gb/s by hand.",
    source="IEEE 802.3 clauses 37, 49 and 73; a report of ConnectX-4 Lx cards at Dell N4000 "
    "switches: 1 Gb/s, and 10 Gb/s once both were set",
    price="line rate now and at the best speed that both ends are set for",
    explains=(Symptom.SLOW_LINK, Symptom.LOW_FIGURE),
    check=_check,
)
