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
        raise DoesNotApplyError("hardware offload is not enabled for any flow")
    flows = known(ovs.datapath_flows, "the number of flows")
    if isinstance(ovs.offloaded_flows, Absent):
        raise DoesNotApplyError(
            "the daemon counts no offloaded flows at all: see ovs.offload_not_in_force"
        )
    offloaded = known(ovs.offloaded_flows, "the number of offloaded flows")
    if flows < FEW_FLOWS:
        raise CannotTellError(f"{flows} flows are too few to judge", UPCALL)
    if offloaded * 2 >= flows:
        return
    yield exam.finding(
        Severity.RISK if offloaded else Severity.FAULT,
        (
            Evidence(found=f"{offloaded} of {flows} flows are in hardware", source=UPCALL),
            *_filters(exam.host[Tc]),
        ),
        so="the host's cores forward every packet of the other flows",
        remedies=(
            Remedy(
                text="list these flows and find why the card refuses them (an unsupported "
                "action, a tunnel over a port of another card, a driver without this "
                "offload)",
                commands=(
                    Command(argv=("ovs-appctl", "dpctl/dump-flows", "-m", "type=non-offloaded")),
                    Command(argv=("dmesg", "-T")),
                ),
                by_hand=ByHand.FIND_FIRST,
            ),
        ),
        unpriced="wirespeed does not read the traffic of each flow: measure under load",
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
    why="The host's cores forward the flows that the card refuses. That is normal for a few "
    "flows (ARP, traffic to the host itself), but lowers the packet rate if it applies to "
    "most of them.",
    source="https://docs.openvswitch.org/en/latest/howto/tc-offload/; "
    "kernel commit e696028acc45 (in_hw and not_in_hw of a filter)",
    check=_check,
)
