"""Frames that the card dropped in its own buffer."""

from collections.abc import Iterator

from wirespeed.ceilings.share import LOST_FORMULA, frames_lost
from wirespeed.facts.counters import Counters, Place
from wirespeed.facts.counters_loss import SHOWN, loss_at
from wirespeed.facts.cpu import Cpus
from wirespeed.facts.ethtool import ethtool_command
from wirespeed.facts.link import Links
from wirespeed.model.ceiling import Direction
from wirespeed.model.finding import ByHand, Danger, Evidence, Finding, Remedy, StepCall
from wirespeed.model.observed import Known
from wirespeed.model.rule import PortExam, PortRule
from wirespeed.model.symptom import Symptom


def _check(exam: PortExam) -> Iterator[Finding]:
    loss = loss_at(exam.host[Counters], exam.port, Place.PORT_BUFFER, Place.RECEIVED)
    if loss is None:
        return
    not_it = tuple(_acquitted(exam)) if loss.now else ()
    left = [text for name, text in SUSPECTS.items() if name not in dict(not_it)]
    yield exam.finding(
        loss.severity,
        (*loss.evidence, *(evidence for _, evidence in not_it)),
        so=f"frames {loss.are} lost in the card, before they reach a queue of the host",
        remedies=(
            Remedy(
                text=f"find what is too slow to empty the buffer: {', '.join(left)}, {OTHERS}",
                by_hand=ByHand.FIND_FIRST,
            ),
            *_let_the_peer_wait(exam),
        ),
        changes=frames_lost(
            exam.ledger, Direction.RECEIVE, loss.share_now, loss.evidence[0].source
        ),
        unpriced=loss.unpriced,
    )


SUSPECTS = {
    "rings": "a queue without descriptors",
    "pcie": "a PCIe link that is narrow or slow",
    "node": "memory of another NUMA node",
}
OTHERS = (
    "bursts larger than the buffer or the part of it for one priority (`mlnx_qos -i`), more "
    "small frames a second than the card or its flow rules can process, an IOMMU that translates "
    "each access; the findings about these have their own remedies"
)


def _acquitted(exam: PortExam) -> Iterator[tuple[str, Evidence]]:
    """What it is not, by what the host itself counted in the same time."""
    counters, netdev = exam.host[Counters], exam.port.netdev
    rings = counters.delta(netdev, Place.NO_RECEIVE_BUFFER)
    if isinstance(rings, Known) and rings.value.count == 0:
        name = " + ".join(rings.value.counters[:SHOWN])
        yield "rings", Evidence.of(rings, f"{name} did not grow: no queue lacked descriptors")
    stalls = counters.delta(netdev, Place.PCIE_STALLED_SECONDS)
    overflow = counters.delta(netdev, Place.PCIE)
    told = [one for one in (stalls, overflow) if isinstance(one, Known)]
    if told and all(one.value.count == 0 for one in told) and not _pcie_may_bound(exam):
        yield (
            "pcie",
            Evidence.of(told[0], "the card never waited for PCIe, so PCIe is not the bottleneck"),
        )
    nodes = exam.host[Cpus].nodes
    if isinstance(nodes, Known) and len(nodes.value) == 1:
        yield "node", Evidence.of(nodes, "the host has one NUMA node")


def _pcie_may_bound(exam: PortExam) -> bool:
    """True also where no ceiling of PCI Express is known."""
    elements = {c.element for c in exam.ledger.ceilings if c.element.startswith("pcie ")}
    return not elements or any(map(exam.ledger.may_be_bound_by, elements))


def _let_the_peer_wait(exam: PortExam) -> Iterator[Remedy]:
    netdev = exam.port.netdev or ""
    sends_pause = exam.host[Links].by_netdev[netdev].pause.transmit
    if isinstance(sends_pause, Known) and not sends_pause.value:
        yield Remedy(
            text="or let the card send pause frames instead of dropping: no frames are lost "
            "then, but everything that sends to this port waits",
            commands=(ethtool_command("-A", netdev, "tx", "on"),),
            danger=Danger.DROPS_LINK,
            steps=(StepCall.of("pause", netdev=netdev, tx=True),),
        )


RULE = PortRule(
    slug="errors.port_buffer",
    title="Frames dropped in the card's buffer",
    why="A card has a buffer of its own that holds some microseconds of traffic. It fills when "
    "frames leave it more slowly than the wire delivers them: because of PCIe, memory, or, "
    "on cards that wait for one, a queue without a free descriptor. No setting of the "
    "protocol stack fixes that.",
    source="https://docs.kernel.org/networking/device_drivers/ethernet/mellanox/mlx5/counters.html"
    "; https://docs.kernel.org/networking/statistics.html",
    price=LOST_FORMULA,
    shows=(Symptom.CARD_BUFFER_FULL,),
    explains=(Symptom.SEGMENTS_RESENT, Symptom.RDMA_LOSS, Symptom.LOW_FIGURE),
    check=_check,
)
