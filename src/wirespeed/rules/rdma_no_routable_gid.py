"""An active RoCE port without an address that RoCE v2 could go by."""

from collections.abc import Iterator

from wirespeed.facts.netstack import NetStack
from wirespeed.facts.rdma import Rdma, RdmaPort
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Absent, Known, known
from wirespeed.model.question import Purpose
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule

WANTED = ("RoCE v2", "ip")


def _check(exam: PortExam) -> Iterator[Finding]:
    active = [rdma for rdma in exam.host[Rdma].of(exam.port) if rdma.is_active_roce]
    if not active:
        raise DoesNotApplyError("no RoCE device of it is active")
    netdev = _with_address(exam)
    for rdma in active:
        gids = known(rdma.gids, f"GIDs of {rdma.device}") if not _is_bare(rdma) else frozenset()
        if WANTED not in gids:
            yield _finding(exam, rdma, gids, netdev or f"the netdev of {rdma.device}")


def _with_address(exam: PortExam) -> str | None:
    """Give the bond whose address a member's RDMA device has; None: the port's own, or not known.

    What is in a VRF keeps its own. A port of a bridge or Open vSwitch has none by intent, and of a
    bond only an active member has the bond's GIDs (is_eth_port_inactive_slave() in
    drivers/infiniband/core/roce_gid_mgmt.c).
    """
    links = exam.host[NetStack].links
    own = links.value.get(exam.port.netdev or "") if isinstance(links, Known) else None
    if own is None or not isinstance(links, Known) or not isinstance(own.master, Known):
        return None
    master = links.value.get(own.master.value)
    if master is not None and isinstance(master.kind, Known) and master.kind.value == "vrf":
        return None
    if master is None or master.bond is None:
        raise DoesNotApplyError(f"it is a port of {own.master.value}, which has the addresses")
    active = master.bond.active_port
    if isinstance(active, Known) and active.value != own.netdev:
        raise DoesNotApplyError(f"it is not the active member of {master.netdev}")
    return master.netdev


def _is_bare(rdma: RdmaPort) -> bool:
    return isinstance(rdma.gids, Absent)


def _finding(
    exam: PortExam, rdma: RdmaPort, gids: frozenset[tuple[str, str]], netdev: str
) -> Finding:
    has_v2 = any(kind == "RoCE v2" for kind, _ in gids)
    shown = ", ".join(sorted(f"{kind} ({of})" for kind, of in gids)) or "none"
    return exam.finding(
        Severity.RISK if exam.question.purpose is Purpose.STORAGE else Severity.NOTE,
        (Evidence(found=f"{rdma.device}: GIDs {shown}", source=rdma.gids.source),),
        so="a RoCE connection needs a GID: none can be made"
        if not gids
        else "RoCE reaches only hosts of this network segment, and programs that use rdma_cm "
        "with an IP address reach none"
        if has_v2
        else "RoCE v1 has no IP header: routers do not forward it, and switches cannot mark "
        "it (ECN) or classify it by DSCP",
        remedies=(
            Remedy(
                text=f"give {netdev} an IP address, which also creates a GID of RoCE v2"
                if has_v2 or not gids
                else "use RoCE v2 at both ends: it needs an IP address on the netdev, and a "
                f"driver and card that support it (cma_roce_mode -d {rdma.device} -m 2)",
                by_hand=ByHand.FIND_FIRST,
            ),
        ),
        unpriced="whether RDMA is used was not read: `rdma resource show qp` lists connections",
    )


RULE = PortRule(
    slug="rdma.no_routable_gid",
    title="RoCE without a routable address (GID)",
    why="Each address of a netdev gives its RDMA device a GID of RoCE v1 and one of RoCE v2. "
    "RoCE v2 runs over UDP and IP: routers forward it, ECN marks it, and switches can "
    "classify it by DSCP. RoCE v1 has only an Ethernet header. A port without an IP address "
    "has only link-local GIDs, which rdma_cm and most libraries do not choose.",
    source="drivers/infiniband/core/roce_gid_mgmt.c and cache.c; https://kernel.org/doc/"
    "Documentation/ABI/testing/configfs-rdma_cm; InfiniBand Architecture, annex A17 (RoCEv2)",
    check=_check,
)
