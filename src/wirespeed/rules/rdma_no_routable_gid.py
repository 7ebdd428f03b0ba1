"""An active RoCE port without an address that RoCE v2 could go by."""

from collections.abc import Iterator

from wirespeed.facts.rdma import Rdma, RdmaPort
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Absent, Known, known
from wirespeed.model.question import Purpose
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule

WANTED = ("RoCE v2", "ip")


def _check(exam: PortExam) -> Iterator[Finding]:
    active = [rdma for rdma in exam.host[Rdma].of(exam.port) if _is_roce(rdma)]
    if not active:
        raise DoesNotApplyError("no RoCE device of it is active")
    for rdma in active:
        gids = known(rdma.gids, f"GIDs of {rdma.device}") if not _is_bare(rdma) else frozenset()
        if WANTED not in gids:
            yield _finding(exam, rdma, gids)


def _is_bare(rdma: RdmaPort) -> bool:
    return isinstance(rdma.gids, Absent)


def _is_roce(rdma: RdmaPort) -> bool:
    layer, state = rdma.link_layer, rdma.state
    is_ethernet = isinstance(layer, Known) and layer.value == "Ethernet"
    return is_ethernet and isinstance(state, Known) and "ACTIVE" in state.value


def _finding(exam: PortExam, rdma: RdmaPort, gids: frozenset[tuple[str, str]]) -> Finding:
    has_v2 = any(kind == "RoCE v2" for kind, _ in gids)
    shown = ", ".join(sorted(f"{kind} ({of})" for kind, of in gids)) or "none"
    return exam.finding(
        Severity.RISK if exam.question.purpose is Purpose.STORAGE else Severity.NOTE,
        (Evidence(found=f"{rdma.device}: GIDs {shown}", source=rdma.gids.source),),
        so="RoCE reaches hosts of this network segment alone, and rdma_cm by an IP address none"
        if has_v2
        else "RoCE v1 has no IP header: no router carries it, and no switch marks it (ECN) or "
        "tells its DSCP",
        remedies=(
            Remedy(
                text=f"give the netdev of {rdma.device} an IP address: a GID of RoCE v2 comes "
                "with it"
                if has_v2 or not gids
                else "have RoCE v2 at both ends: an IP address on the netdev, and a driver and "
                f"card that know it (cma_roce_mode -d {rdma.device} -m 2)",
                by_hand=ByHand.FIND_FIRST,
            ),
        ),
        unpriced="it is not known whether RDMA is used",
    )


RULE = PortRule(
    slug="rdma.no_routable_gid",
    title="RoCE without an IP address to go by",
    why="Each address of a netdev gives its RDMA device a GID of RoCE v1 and one of RoCE v2. RoCE "
    "v2 goes in UDP over IP, is routed, and is marked by ECN and told by its DSCP; v1 has an "
    "Ethernet header alone. A port without an address has link-local GIDs, which rdma_cm and most "
    "libraries do not choose.",
    source="drivers/infiniband/core/roce_gid_mgmt.c and cache.c; https://kernel.org/doc/"
    "Documentation/ABI/testing/configfs-rdma_cm; InfiniBand Architecture, annex A17 (RoCEv2)",
    check=_check,
)
