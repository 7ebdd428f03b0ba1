"""A link that is set by hand at one end and negotiated at the other, or set to two speeds."""

from collections.abc import Iterator

from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Known, Observed, known, value_or_none
from wirespeed.model.rule import HostExam, HostRule, of_each
from wirespeed.model.symptom import Symptom
from wirespeed.platforms.switch.facts.switchport_pairs import Pair, pairs
from wirespeed.platforms.switch.facts.switchport_port import without_negotiation

OPTICAL = "FIBRE"
LEAST_BPS = 10**10
COPPER = ("Direct Attach Copper", "Twisted Pair")
"""As ethtool prints the kind of a port."""


def _check(exam: HostExam) -> Iterator[Finding]:
    yield from of_each(pairs(exam.host), lambda pair: _pair(exam, pair))


def _pair(exam: HostExam, pair: Pair) -> Iterator[Finding]:
    here = known(pair.link.autonegotiation, f"whether {pair.netdev} negotiates")
    there = known(pair.port.autonegotiation, f"whether {pair.place} negotiates")
    ours, theirs = pair.link.link_bps, pair.port.set_bps
    both = isinstance(ours, Known) and isinstance(theirs, Known) and ours.value != theirs.value
    if here == there and (here or not both):
        return
    is_up = known(pair.link.is_up, f"whether {pair.netdev} has a link")
    if is_up and here != there and _needs_none(pair):
        return
    at = f" to {ours.value / 1e9:g} Gb/s" if isinstance(ours, Known) else ""
    evidence = [
        *_said(pair.link.autonegotiation, pair.netdev, f"is set by hand{at}"),
        *_said(pair.port.autonegotiation, pair.place, without_negotiation(pair.port)),
    ]
    if isinstance(pair.link.is_up, Known):
        evidence.append(Evidence.of(pair.link.is_up, "the link is up" if is_up else "no link"))
    yield exam.finding(
        Severity.RISK if is_up else Severity.FAULT,
        tuple(evidence),
        so="the two ends match only by chance: after the next loss of link they may not"
        if is_up
        else (
            "this port carries no traffic: one end waits for a negotiation that the other does "
            "not send"
        ),
        where=pair.netdev,
        remedies=(
            Remedy(
                text="set both ends to the same, as one change with one undo: `wirespeed link "
                "HOST NETDEV SWITCH --speed 10G`, or --speed auto",
                by_hand=ByHand.FAR_END,
            ),
        ),
        unpriced="it costs nothing while the link stays as it is"
        if is_up
        else "the speed that the link should have is not known",
    )


def _needs_none(pair: Pair) -> bool:
    """Tell whether a link that is up is one that nothing is negotiated on.

    Optical links of 10 Gb/s and more have no clause 73. Switches then show negotiation off, while
    mlx5 (en_ethtool.c, get_link_ksettings) shows what its firmware is set to, whatever the medium.
    """
    ours, theirs = value_or_none(pair.link.link_bps), value_or_none(pair.port.link_bps)
    if ours is None or ours != theirs or ours < LEAST_BPS:
        return False
    kind = value_or_none(pair.link.port_type)
    hears_none = value_or_none(pair.link.partner_autonegotiation) is False
    return kind == OPTICAL or (kind not in COPPER and hears_none)


def _said(negotiates: Observed[bool], where: str, without: str) -> Iterator[Evidence]:
    if isinstance(negotiates, Known):
        text = "negotiates" if negotiates.value else without
        yield Evidence.of(negotiates, f"{where} {text}")


RULE = HostRule(
    slug="switchport.ends_set_unlike",
    title="Settings differ between card and switch port",
    why="A port that is set by hand does not negotiate, and a port that negotiates waits for its "
    "peer. 25 Gb/s cards then get no link at a 10 Gb/s switch port that worked with an older "
    "card. Either both ends negotiate, or both are set to the same speed. An optical link of "
    "10 Gb/s or more that is up is right without: its standard has no negotiation.",
    source="IEEE 802.3 clause 73; a report of ConnectX-4 Lx cards at Dell N4000 switches",
    explains=(Symptom.NO_LINK, Symptom.SLOW_LINK, Symptom.HALF_DUPLEX),
    check=_check,
)
