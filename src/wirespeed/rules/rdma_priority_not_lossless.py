"""RoCE whose packets are not of the priority that pause frames protect."""

from collections.abc import Iterator

from wirespeed.facts.dcb import Dcb, PortDcb
from wirespeed.facts.netstack import NetStack
from wirespeed.facts.rdma import Rdma, RdmaPort
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import CannotTellError, Known, Unreadable, known
from wirespeed.model.question import Purpose
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule
from wirespeed.model.symptom import Symptom

UNTAGGED = ("mlx5_core", "mlx4_core")
"""Drivers whose RoCE has a tag in a VLAN alone. Others add one of VLAN 0 for its priority:
bnxt_re_setup_qos() in drivers/infiniband/hw/bnxt_re/main.c, dcb_vlan_mode of irdma/verbs.c."""


def _check(exam: PortExam) -> Iterator[Finding]:
    netdev = exam.port.netdev
    if netdev is None or not _roce(exam):
        raise DoesNotApplyError("no RoCE device of it is active")
    dcb = exam.host[Dcb].by_netdev[netdev]
    lossless = known(dcb.lossless, "priorities with PFC")
    if not lossless:
        if exam.question.purpose is Purpose.STORAGE:
            yield _without_any(exam, dcb.lossless.source)
        return
    trust = known(dcb.trust, "the priority trust mode of the card")
    if trust == "dscp":
        yield from _by_dscp(exam, dcb, lossless)
        return
    if 0 in lossless or has_vlan(exam, netdev):
        return
    if exam.port.driver not in UNTAGGED:
        raise CannotTellError(
            f"{exam.port.driver} may tag RoCE without a VLAN, and does not show the priority",
            f"dcb app show dev {netdev}",
        )
    shown = ", ".join(map(str, sorted(lossless)))
    yield exam.finding(
        Severity.RISK,
        (
            Evidence(found=f"PFC is on for priority {shown}", source=dcb.lossless.source),
            Evidence(
                found="the card takes the priority from the VLAN tag (trust pcp)",
                source=dcb.trust.source,
            ),
            Evidence(found=f"no VLAN is on {netdev}", source="ip -d link show"),
        ),
        so="RoCE packets without a tag have priority 0, which PFC does not protect: a full "
        "switch drops them, and each loss stalls its connection",
        remedies=(
            Remedy(
                text=f"let the card and the switch trust the DSCP ({_to_trust(dcb, netdev)}), and "
                "give RoCE the DSCP of that priority (rdma_cm: cma_roce_tos; else the "
                "application's traffic class)",
                by_hand=ByHand.FIND_FIRST,
            ),
        ),
        unpriced="the cost of a loss depends on the round-trip time: rdma.packets_lost shows "
        "current losses",
    )


def _to_trust(dcb: PortDcb, netdev: str) -> str:
    """Give the command of the tool that answered; with the kernel's, mapping one DSCP does it."""
    if dcb.trust.source.startswith("mlnx_qos"):
        return f"mlnx_qos -i {netdev} --trust dscp"
    return f"dcb app add dev {netdev} dscp-prio DSCP:PRIORITY"


def _roce(exam: PortExam) -> list[RdmaPort]:
    return [port for port in exam.host[Rdma].of(exam.port) if port.is_active_roce]


def _by_dscp(exam: PortExam, dcb: PortDcb, lossless: frozenset[int]) -> Iterator[Finding]:
    """Hold the type of service that all RoCE is given against the priorities with PFC.

    Where each program chooses, nothing is read of it: docs/doctor.md says so.
    """
    for rdma in _roce(exam):
        if isinstance(rdma.tos, Unreadable):
            known(rdma.tos, f"the type of service of RoCE on {rdma.device}")
        if not isinstance(rdma.tos, Known) or not isinstance(dcb.priorities, Known):
            continue
        dscp = rdma.tos.value >> 2
        priority = dcb.priorities.value.get(dscp, 0)
        if priority in lossless:
            continue
        shown = ", ".join(map(str, sorted(lossless)))
        fitting = sorted(d for d, p in dcb.priorities.value.items() if p in lossless)
        yield exam.finding(
            Severity.RISK,
            (
                Evidence.of(rdma.tos, f"RoCE has type of service {rdma.tos.value}: DSCP {dscp}"),
                Evidence.of(dcb.priorities, f"DSCP {dscp} has priority {priority}"),
                Evidence(found=f"PFC is on for priority {shown}", source=dcb.lossless.source),
            ),
            so=f"all RoCE packets of {rdma.device} have a priority that PFC does not protect: "
            "a full switch drops them, and each loss stalls its connection",
            remedies=(
                Remedy(
                    text=(
                        f"give RoCE, on every host, a DSCP that the card maps to priority {shown}, "
                        f"such as {fitting[0]}"
                        if fitting
                        else f"map a DSCP to priority {shown} on every host and switch, and give "
                        "it to RoCE on every host"
                    )
                    + ": the type of service is 4 x DSCP + 2 for ECN (cma_roce_tos -d "
                    f"{rdma.device} -t TOS)",
                    by_hand=ByHand.FAR_END,
                ),
            ),
            unpriced="the cost of a loss depends on the round-trip time; rdma.packets_lost "
            "shows current losses",
        )


def has_vlan(exam: PortExam, netdev: str) -> bool:
    """Whether a VLAN lies on a netdev, or on the bond or bridge that it belongs to.

    The RDMA device gives GIDs to the VLANs above a bond as well (drivers/infiniband/core/
    roce_gid_mgmt.c, is_eth_port_of_netdev_filter). Raises CannotTellError where netdevs are not
    known.
    """
    links = known(exam.host[NetStack].links, "the netdevs")
    below, todo = set(), netdev
    while todo and todo not in below:
        below.add(todo)
        master = links[todo].master if todo in links else None
        todo = master.value if isinstance(master, Known) else ""
    return any(
        isinstance(link.vlan_id, Known) and isinstance(link.lower, Known)
        and link.lower.value in below
        for link in links.values()
    )  # fmt: skip


def _without_any(exam: PortExam, source: str) -> Finding:
    return exam.finding(
        Severity.NOTE,
        (Evidence(found="PFC is on for no priority", source=source),),
        so="RoCE without PFC relies on ECN alone: if a full switch drops a packet, all packets "
        "from that one on are sent again",
        remedies=(
            Remedy(
                text="enable ECN on both cards and every switch of the path; or give RoCE one "
                "priority with PFC on all of them",
                by_hand=ByHand.FIND_FIRST,
            ),
        ),
        unpriced="rdma.packets_lost shows current losses",
    )


RULE = PortRule(
    slug="rdma.priority_not_lossless",
    title="RoCE packets outside the priority that PFC protects",
    why="PFC pauses single priorities. A packet's priority comes from its VLAN tag (pcp) or its "
    "DSCP, depending on the port's trust mode. On an untagged network RoCE packets have no "
    "tag: with trust pcp, all of them have priority 0.",
    source="IEEE 802.1Qbb; dcb-pfc(8): https://man7.org/linux/man-pages/man8/dcb-pfc.8.html; "
    "drivers/net/ethernet/mellanox/mlx5/core/en_dcbnl.c (trust); default_roce_tos: "
    "https://kernel.org/doc/Documentation/ABI/testing/configfs-rdma_cm; RFC 2474 section 3",
    explains=(Symptom.RDMA_LOSS, Symptom.LOW_FIGURE),
    check=_check,
)
