"""This port's pause frames hold back the peer: it cannot take what comes in."""

from collections.abc import Iterator

from wirespeed.ceilings.share import PAUSED_FORMULA, pause_unpriced, time_paused
from wirespeed.facts.counters import Counters, Place
from wirespeed.facts.counters_pause import paused, without_pause
from wirespeed.facts.rdma import Rdma
from wirespeed.model.ceiling import Direction
from wirespeed.model.finding import ByHand, Finding, Remedy
from wirespeed.model.observed import Known
from wirespeed.model.rule import PortExam, PortRule
from wirespeed.model.symptom import Symptom

PAST_THE_RINGS = (
    ". What RDMA receives goes past rings and cores: there it is the slot, the NUMA node of the "
    "memory or GPU that it is written to, or the IOMMU"
)


def _check(exam: PortExam) -> Iterator[Finding]:
    found = paused(exam.host[Counters], exam.port, Place.PAUSE_SENT, Place.PAUSE_SENT_US)
    if found is None:
        return
    yield exam.finding(
        found.severity,
        found.evidence,
        so="this host takes frames more slowly than they arrive, so the card pauses the peer"
        if found.is_now
        else "this host took frames more slowly than they arrived, so the card paused the peer",
        remedies=(
            Remedy(
                text="find the slow part of the receive path: PCIe, receive rings, the cores "
                "that serve the queues. Each of these has findings of its own"
                + (PAST_THE_RINGS if _has_roce(exam) else ""),
                by_hand=ByHand.FIND_FIRST,
            ),
            without_pause(
                exam.port.netdev or "",
                found,
                "tx",
                "or stop sending pause frames: the peer no longer waits, and this host drops "
                "what it cannot take",
                "or stop sending priority pause frames (PFC): the peer no longer waits, and this "
                "host drops what it cannot take",
            ),
        ),
        changes=time_paused(exam.ledger, Direction.RECEIVE, found.share, found.evidence[0].source),
        unpriced=pause_unpriced(found.share, is_now=found.is_now),
    )


def _has_roce(exam: PortExam) -> bool:
    found = exam.host[Rdma].by_address
    ports = found.value.get(exam.port.pci_address or "", ()) if isinstance(found, Known) else ()
    return any(one.is_active_roce for one in ports)


RULE = PortRule(
    slug="pause.sent",
    title="Pause frames sent by the card",
    why="The card sends pause frames when its receive buffer fills. This host loses no frames, "
    "so no drop counter moves, but the switch queues, drops, or pauses its own senders: a "
    "host that receives too slowly causes congestion in the whole fabric.",
    source="IEEE 802.3 annex 31B; "
    "https://docs.kernel.org/networking/device_drivers/ethernet/mellanox/mlx5/counters.html",
    price=PAUSED_FORMULA,
    shows=(Symptom.PAUSES_SENT,),
    explains=(Symptom.LOW_FIGURE,),
    check=_check,
)
