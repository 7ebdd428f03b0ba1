"""Two ends that negotiate, and end below what both can do, or nowhere."""

import shlex
from collections.abc import Iterator

from wirespeed.ceilings.ethernet import ethernet_ceiling
from wirespeed.model.bound import Bound, BoundUnit, Limit
from wirespeed.model.ceiling import Direction
from wirespeed.model.finding import ByHand, Change, Danger, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import CannotTellError, Known, known
from wirespeed.model.rule import HostExam, HostRule, of_each
from wirespeed.model.symptom import Symptom
from wirespeed.model.units import line_rate_pps
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
    now = known(link.link_bps, f"speed of {pair.netdev}") if is_up else None
    own = known(link.supported.bps, f"speeds that {pair.netdev} supports")
    theirs = most_bps(port.name)
    if theirs is None:
        raise CannotTellError(f"the speeds that {pair.place} supports", _look(pair))
    common = [bps for bps in own if bps <= theirs]
    if not common or (now is not None and now >= max(common)):
        return
    both = max(common)
    evidence = [Evidence(found=f"{port.name} is made for {_g(theirs)}", source=_look(pair))]
    if isinstance(link.supported.bps, Known):
        evidence.append(Evidence.of(link.supported.bps, f"{pair.netdev} can do {_g(max(own))}"))
    if isinstance(port.autonegotiation, Known):
        evidence.append(Evidence.of(port.autonegotiation, "both ends negotiate"))
    if isinstance(link.is_up, Known):
        text = "no link" if now is None else f"{_g(now)} now"
        evidence.append(Evidence.of(link.is_up, text))
    yield exam.finding(
        Severity.FAULT,
        tuple(evidence),
        so=f"no link, although both ends support {_g(both)}"
        if now is None
        else f"the link runs at {_g(now)} of the {_g(both)} that both ends support",
        where=pair.netdev,
        remedies=(
            Remedy(
                text=f"set both ends to {_g(both)}, without negotiation, as one change with one "
                f"undo: `wirespeed link HOST {pair.netdev} {_address(pair)} --speed "
                f"{both / 1e9:g}G`; setting one end alone leaves no link",
                danger=Danger.DROPS_LINK,
                by_hand=ByHand.FAR_END,
            ),
        ),
        changes=() if now is None else tuple(_changes(exam, both, link.supported.bps.source)),
        bounds=_without_link(exam, both) if now is None else (),
    )


def _changes(exam: HostExam, both: int, source: str) -> Iterator[Change]:
    for side in Direction:
        ceiling = ethernet_ceiling(both, exam.question.frame_bytes, side, source)
        yield Change(after=ceiling)


def _without_link(exam: HostExam, both: int) -> tuple[Bound, ...]:
    bound = Bound(
        limit=Limit.AT_MOST,
        value=float(line_rate_pps(both, exam.question.frame_bytes)),
        unit=BoundUnit.LOAD_PPS,
        of=f"each way: line rate at {_g(both)}",
        formula="link speed / (8 x (frame + 20 bytes)); 0 now",
    )
    return (bound,)


def _address(pair: Pair) -> str:
    return shlex.quote(f"switch+{pair.kind}://{pair.switch}/{pair.port.name}")


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
    price="line rate now and at the best speed that both ends are set for; at most, without a link",
    explains=(Symptom.SLOW_LINK, Symptom.LOW_FIGURE),
    check=_check,
)
