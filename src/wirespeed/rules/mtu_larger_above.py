"""A netdev that sends longer packets than the one below it, or beside it, lets pass."""

from collections.abc import Iterator

from wirespeed.facts.netstack import Link, NetStack, named_plainly
from wirespeed.facts.ovs import Ovs
from wirespeed.facts.sriov import Sriov
from wirespeed.model.command import Command
from wirespeed.model.finding import ByHand, Danger, Evidence, Finding, Remedy, Severity, StepCall
from wirespeed.model.observed import Known, known
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule
from wirespeed.model.symptom import Symptom

STACKED = ("bond", "team", "vlan", "macvlan", "macvtap", "ipvlan")
"""Kinds that send what they are given by the netdev below. A VRF has an MTU that bounds nothing."""
Pair = tuple[Severity, Link, Link]
"""Severity, the one that sends, and the one that drops."""


def _check(exam: PortExam) -> Iterator[Finding]:
    if exam.port.netdev is None:
        raise DoesNotApplyError("it has no netdev: its driver is not the kernel's")
    stack = exam.host[NetStack]
    seen: set[str] = set()
    for severity, upper, lower in _pairs(exam, stack, stack[exam.port.netdev], seen):
        above = known(upper.mtu, f"MTU of {upper.netdev}")
        below = known(lower.mtu, f"MTU of {lower.netdev}")
        if above > below:
            yield _finding(exam, severity, upper, lower, below)


def _pairs(exam: PortExam, stack: NetStack, link: Link, seen: set[str]) -> Iterator[Pair]:
    if link.netdev in seen:
        return
    seen.add(link.netdev)
    for upper in stack.directly_above(link.netdev):
        kind = upper.kind.value if isinstance(upper.kind, Known) else ""
        if kind == "bridge":
            yield from _through(link, (m for m in stack.members(upper.netdev)))
            if isinstance(upper.addresses, Known) and upper.addresses.value:
                yield Severity.FAULT, upper, link
        elif kind in STACKED:
            yield Severity.FAULT, upper, link
            yield from _pairs(exam, stack, upper, seen)
    bridge = exam.host[Ovs].bridge_of(link.netdev)
    if bridge is not None and isinstance(stack.links, Known):
        ports = (one.name for one in exam.host[Ovs].interfaces_in(bridge))
        beside = (stack.links.value[name] for name in ports if name in stack.links.value)
        yield from _through(link, (one for one in beside if one.is_vf_representor))
    pf = exam.host[Sriov].pfs.get(exam.port.pci_address or "")
    if link.netdev == exam.port.netdev:
        for vf in pf.vfs if pf else ():
            if isinstance(vf.netdev, Known) and isinstance(stack.links, Known):
                own = stack.links.value.get(vf.netdev.value)
                yield from [(Severity.FAULT, own, link)] if own else []


def _through(uplink: Link, ports: Iterator[Link]) -> Iterator[Pair]:
    """Ports of the same switch: what they send may have to leave by the uplink."""
    for port in ports:
        if port.netdev != uplink.netdev:
            yield Severity.RISK, port, uplink


def _finding(exam: PortExam, severity: Severity, upper: Link, lower: Link, below: int) -> Finding:
    found = [(upper, upper.mtu), (lower, lower.mtu)]
    mtu, is_plain = known(upper.mtu, f"MTU of {upper.netdev}"), named_plainly(lower.netdev)
    return exam.finding(
        severity,
        tuple(
            Evidence.of(mtu, f"{link.netdev}: MTU {mtu.value}")
            for link, mtu in found
            if isinstance(mtu, Known)
        ),
        so=f"packets longer than {below} bytes from {upper.netdev} are dropped at {lower.netdev}, "
        "and the sender gets no error",
        remedies=(
            Remedy(
                text="raise the MTU of the lower netdev (and of the switch and the peer), or "
                "lower that of the upper one",
                commands=(
                    Command(argv=("ip", "link", "set", "dev", lower.netdev, "mtu", str(mtu))),
                )
                if is_plain
                else (),
                danger=Danger.DROPS_LINK,
                steps=(StepCall.of("mtu", netdev=lower.netdev, mtu=mtu),) if is_plain else (),
                by_hand=None if is_plain else ByHand.NO_NAME,
            ),
        ),
        unpriced="all longer packets are lost; short packets are not affected",
    )


RULE = PortRule(
    slug="mtu.larger_above",
    title="MTU larger than that of the interface below",
    why="Each netdev of a stack drops packets longer than its own MTU. If the upper netdev has "
    "the larger MTU, small packets pass and large ones are dropped: connections start and "
    "then hang.",
    source="https://docs.kernel.org/networking/bonding.html; "
    "https://www.rfc-editor.org/rfc/rfc2923 (black holes of path MTU discovery)",
    explains=(Symptom.SEGMENTS_RESENT, Symptom.LOW_FIGURE),
    check=_check,
)
