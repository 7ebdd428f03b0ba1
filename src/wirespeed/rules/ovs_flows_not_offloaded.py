"""Flows of Open vSwitch that the card did not take."""

from collections.abc import Iterable, Iterator

from wirespeed.ceilings.bounds import SOFTWARE_SWITCH_FORMULA, software_switch_bounds
from wirespeed.facts.link import best_bps
from wirespeed.facts.netstack import NetStack
from wirespeed.facts.ovs import UPCALL, Ovs
from wirespeed.facts.tc import Tc, TcFilters
from wirespeed.model.command import Command
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Absent, CannotTellError, known
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule
from wirespeed.model.symptom import Symptom

FEW_FLOWS = 10
"""Fewer than this are ARP, neighbour discovery and the like, which belong into software."""
LEAVES_OUT_ZERO = (3, 7)
"""Open vSwitch from which `upcall/show` has no line for 0 flows (ofproto-dpif-upcall.c)."""


def _check(exam: HostExam) -> Iterator[Finding]:
    ovs = exam.host[Ovs]
    if isinstance(ovs.other_config, Absent):
        raise DoesNotApplyError(ovs.other_config.reason)
    if not ovs.is_offload_asked or not ovs.representors(exam.host[NetStack]):
        raise DoesNotApplyError("hardware offload is not enabled for any flow")
    flows = known(ovs.datapath_flows, "the number of flows")
    offloaded = _offloaded(ovs)
    if flows < FEW_FLOWS:
        raise CannotTellError(f"{flows} flows are too few to judge", UPCALL)
    tc, found = exam.host[Tc], f"{offloaded} of {flows} flows are in hardware"
    left = f"{flows - offloaded} flows"
    if offloaded * 2 >= flows:
        # With the kernel's datapath these are what tc took, in hardware or not
        # (netdev_tc_get_n_flows): its filters say where they are.
        found = f"{offloaded} of {flows} flows are filters of tc"
        offloaded, filters = _in_hw(tc.ingress.values())
        if filters < FEW_FLOWS or offloaded * 2 >= filters:
            return
        left = f"flows of {filters - offloaded} filters"
    yield exam.finding(
        Severity.RISK if offloaded else Severity.FAULT,
        (
            Evidence(found=found, source=UPCALL),
            *_filters(tc),
        ),
        so=f"the host's cores forward every packet of the {left} that are not in hardware",
        remedies=(
            Remedy(
                text="list these flows and find why the card refuses them (an unsupported "
                "action, a tunnel over a port of another card, a driver without this "
                "offload, hw-tc-offload off)",
                commands=(_list_flows(exam), Command(argv=("dmesg", "-T"))),
                by_hand=ByHand.FIND_FIRST,
            ),
        ),
        bounds=()
        if offloaded
        else software_switch_bounds(best_bps(exam.host, exam.ports), exam.question.frame_bytes),
        unpriced="how much of the traffic these flows carry was not read: the command above lists "
        "the packets of each",
    )


def _list_flows(exam: HostExam) -> Command:
    """Name the datapath: on a host with two, the command is refused else (dpctl.c, get_one_dp)."""
    ovs = exam.host[Ovs]
    in_kernel = any(map(ovs.is_in_kernel, ovs.representors(exam.host[NetStack])))
    name = "system@ovs-system" if in_kernel else "netdev@ovs-netdev"
    return Command(argv=("ovs-appctl", "dpctl/dump-flows", "-m", name, "type=non-offloaded"))


def _offloaded(ovs: Ovs) -> int:
    if isinstance(ovs.offloaded_flows, Absent):
        if ovs.release is not None and ovs.release >= LEAVES_OUT_ZERO:
            return 0
        raise DoesNotApplyError(
            "the daemon counts no offloaded flows at all: see ovs.offload_not_in_force"
        )
    return known(ovs.offloaded_flows, "the number of offloaded flows")


def _in_hw(counts: Iterable[TcFilters]) -> tuple[int, int]:
    """Give filters in hardware, and all that tell whether they are."""
    counts = tuple(counts)
    in_hw = sum(one.in_hw for one in counts)
    return in_hw, in_hw + sum(one.not_in_hw for one in counts)


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
    "kernel commit e696028acc45 (in_hw and not_in_hw of a filter); openvswitch "
    "lib/netdev-offload-tc.c (netdev_tc_get_n_flows)",
    price=SOFTWARE_SWITCH_FORMULA,
    shows=(Symptom.NOT_OFFLOADED,),
    explains=(Symptom.LOW_FIGURE,),
    check=_check,
)
