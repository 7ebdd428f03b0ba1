"""A link that runs slower than the port can, and whose fault that is."""

from collections.abc import Iterator

from wirespeed.ceilings.ethernet import ethernet_ceiling
from wirespeed.facts.ethtool import ethtool_command
from wirespeed.facts.link import Link, link_that_is_up
from wirespeed.facts.module import Modules
from wirespeed.model.ceiling import Direction
from wirespeed.model.finding import (
    ByHand,
    Change,
    Danger,
    Evidence,
    Finding,
    Remedy,
    Severity,
    StepCall,
)
from wirespeed.model.observed import Absent, CannotTellError, Known, known
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule
from wirespeed.model.symptom import Symptom

FAR_BELOW = 8
"""A module of 25 Gb/s runs at 10 by design, one of 10 Gb/s at 1 by a negotiation that failed."""


def now_and_own(link: Link) -> tuple[int, tuple[int, ...]]:
    """Give the speed of a link and those that its port supports, in bits per second.

    Raises DoesNotApplyError where the driver reports none, CannotTellError.
    """
    if isinstance(link.link_bps, Absent) or isinstance(link.supported.bps, Absent):
        raise DoesNotApplyError("the driver reports no speed, or no modes that it supports")
    now = known(link.link_bps, f"speed of {link.netdev}")
    return now, known(link.supported.bps, f"modes that {link.netdev} supports")


def _check(exam: PortExam) -> Iterator[Finding]:
    link = link_that_is_up(exam.host, exam.port)
    now, own = now_and_own(link)
    if not own or now >= max(own):
        return
    if isinstance(link.partner.bps, Absent):
        if found := tuple(_below_module(exam, link, now, own)):
            yield from found
            return
        raise CannotTellError(
            f"{gbps(now)} where {link.netdev} supports {gbps(max(own))}; the peer does not "
            "report its modes, so it is forced or supports no more: check the switch port",
            f"ethtool {link.netdev}",
        )
    partner = known(link.partner.bps, f"modes of the peer of {link.netdev}")
    both = max(set(own) & set(partner), default=now)
    if both == now:
        raise DoesNotApplyError(f"the peer of {link.netdev} supports no more than {gbps(now)}")
    yield exam.finding(
        Severity.FAULT,
        tuple(evidence_of(link)),
        so=f"the link runs at {now / both:.0%} of the {gbps(both)} that both ends can do",
        remedies=_remedies(link, both),
        changes=changes_to(exam, both),
    )


def _below_module(exam: PortExam, link: Link, now: int, own: tuple[int, ...]) -> Iterator[Finding]:
    """A module or cable of 10 Gb/s on which the ends agreed upon 1, the peer telling nothing."""
    module = exam.host[Modules].by_netdev[link.netdev]
    baud = module.lane_baud
    if not isinstance(baud, Known) or baud.value < FAR_BELOW * now:
        return
    # Every lane of it carries: a QSFP of 10 Gb/s a lane is made for 40.
    after = max((bps for bps in own if bps <= module.lanes * baud.value), default=now)
    if after <= now:
        return
    yield exam.finding(
        Severity.RISK,
        (
            *evidence_of(link),
            Evidence.of(
                baud,
                f"the module is made for {baud.value / 1e9:g} GBd a lane"
                + (f", on {module.lanes} lanes" if module.lanes > 1 else ""),
            ),
        ),
        so=f"the link runs at {now / after:.0%} of the {gbps(after)} that the module is made "
        "for, unless the peer supports no more",
        remedies=_by_hand(link, after),
        changes=changes_to(exam, after),
    )


def changes_to(exam: PortExam, bps: int) -> tuple[Change, ...]:
    """Price a link of another speed."""
    frame_bytes = exam.question.frame_bytes
    return tuple(
        Change(after=ethernet_ceiling(bps, frame_bytes, direction, "after the remedy"))
        for direction in Direction
    )


def evidence_of(link: Link) -> Iterator[Evidence]:
    """Show the speed, and what each end supports and advertises."""
    if isinstance(link.link_bps, Known):
        yield Evidence.of(link.link_bps, f"{gbps(link.link_bps.value)} now")
    for whose, observed in (
        ("supported here", link.supported.bps),
        ("advertised here", link.advertised.bps),
        ("advertised by the peer", link.partner.bps),
    ):
        if observed is link.advertised.bps and observed == link.supported.bps:
            continue
        if isinstance(observed, Known) and observed.value:
            yield Evidence.of(observed, f"{whose}: {', '.join(map(gbps, observed.value))}")


def _remedies(link: Link, both: int) -> tuple[Remedy, ...]:
    advertised = link.advertised.bps
    if isinstance(advertised, Known) and both not in advertised.value:
        text = f"advertise all speeds again: {gbps(both)} is not among those advertised here"
        again = ethtool_command("-s", link.netdev, "autoneg", "on")
        step = StepCall.of("link_mode", netdev=link.netdev, autoneg=True)
        return (Remedy(text=text, commands=(again,), danger=Danger.DROPS_LINK, steps=(step,)),)
    return (
        Remedy(
            text="try another cable or module: both ends report that they support more",
            by_hand=ByHand.HARDWARE,
        ),
        *_by_hand(link, both),
    )


def _by_hand(link: Link, bps: int) -> tuple[Remedy, ...]:
    forced = ethtool_command(
        "-s", link.netdev, "speed", str(bps // 10**6), "duplex", "full", "autoneg", "off"
    )
    text = (
        f"set both ends to {gbps(bps)} by hand, the switch port included: if one end is forced "
        "and the other negotiates, the link stays slow or down"
    )
    step = StepCall.of(
        "link_mode", netdev=link.netdev, autoneg=False, link_mbit_per_s=bps // 10**6, duplex="full"
    )
    return (Remedy(text=text, commands=(forced,), danger=Danger.DROPS_LINK, steps=(step,)),)


def gbps(bps: int) -> str:
    """Write a speed: `25 Gb/s`."""
    return f"{bps / 1e9:g} Gb/s"


RULE = PortRule(
    slug="link.slower_than_both_ends",
    title="Link slower than both ends support",
    why="The link speed limits all traffic of the port. Autonegotiation selects the fastest mode "
    "that both ends advertise. A mode that is not advertised, a cable that does not support "
    "it, or a port that negotiates with one that does not, leaves a 25 Gb/s port at 10 or 1 "
    "Gb/s.",
    source="IEEE 802.3 clause 73; https://docs.kernel.org/networking/ethtool-netlink.html "
    "(LINKMODES_GET)",
    price="lowest ceiling of the path now, and at the best speed that both ends offer",
    shows=(Symptom.SLOW_LINK,),
    explains=(Symptom.TRANSMIT_DROPS, Symptom.LOW_FIGURE),
    check=_check,
)
