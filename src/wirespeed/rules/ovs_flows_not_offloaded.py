"""Flows of Open vSwitch that the card did not take."""

from collections.abc import Iterator

from wirespeed.facts.netstack import NetStack
from wirespeed.facts.ovs import UPCALL, Ovs
from wirespeed.facts.tc import Tc
from wirespeed.model.command import Command
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Absent, CannotTellError, known
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule

FEW_FLOWS = 10
"""Fewer than this are ARP, neighbour discovery and the like, which belong into software."""


def _check(exam: HostExam) -> Iterator[Finding]:
    ovs = exam.host[Ovs]
    if isinstance(ovs.other_config, Absent):
        raise DoesNotApplyError(ovs.other_config.reason)
    if not ovs.is_offload_asked or not ovs.representors(exam.host[NetStack]):
        raise DoesNotApplyError("no flow is meant for a card")
    flows = known(ovs.datapath_flows, "the number of flows")
    if isinstance(ovs.offloaded_flows, Absent):
        raise DoesNotApplyError("the daemon counts none at all: see ovs.offload_not_in_force")
    offloaded = known(ovs.offloaded_flows, "the number of offloaded flows")
    if flows < FEW_FLOWS:
        raise CannotTellError(f"{flows} flows are too few to judge by", UPCALL)
    if offloaded * 2 >= flows:
        return
    yield exam.finding(
        Severity.RISK if offloaded else Severity.FAULT,
        (
            Evidence(found=f"{offloaded} of {flows} flows are in hardware", source=UPCALL),
            *_filters(exam.host[Tc]),
        ),
        so="packets of the other flows go through the host's cores, one by one",
        remedies=(
            Remedy(
                text="see which flows they are and why the card refuses them (an action, a tunnel "
                "over a port that is not the card's, a driver without it)",
                commands=(
                    Command(argv=("ovs-appctl", "dpctl/dump-flows", "-m", "type=non-offloaded")),
                    Command(argv=("dmesg", "-T")),
                ),
                by_hand=ByHand.FIND_FIRST,
            ),
        ),
        unpriced="flows differ in their traffic, which is not read: measure while it runs",
    )


def _filters(tc: Tc) -> Iterator[Evidence]:
    for netdev, filters in tc.ingress.items():
        if filters.not_in_hw:
            yield Evidence(
                found=f"{netdev}: {filters.not_in_hw} filters not in hardware, {filters.in_hw} in",
                source=f"tc -s filter show dev {netdev} ingress",
            )


RULE = HostRule(
    slug="ovs.flows_not_offloaded",
    title="Open vSwitch flows not offloaded",
    why="A flow that the card refuses is carried by the host's cores. That is right for a few "
    "(ARP, what goes to the host itself), and costs the packet rate when it is most of them.",
    source="https://docs.openvswitch.org/en/latest/howto/tc-offload/; "
    "kernel commit e696028acc45 (in_hw and not_in_hw of a filter)",
    check=_check,
)
