"""Frames that found no receive descriptor."""

from collections.abc import Iterator

from wirespeed.ceilings.share import LOST_FORMULA, frames_lost
from wirespeed.facts.counters import Counters, Place
from wirespeed.facts.counters_loss import loss_at
from wirespeed.facts.ethtool import ethtool_command
from wirespeed.facts.queues import Queues
from wirespeed.model.ceiling import Direction
from wirespeed.model.finding import ByHand, Danger, Finding, Remedy, StepCall
from wirespeed.model.observed import Known
from wirespeed.model.rule import PortExam, PortRule
from wirespeed.model.symptom import Symptom


def _check(exam: PortExam) -> Iterator[Finding]:
    loss = loss_at(exam.host[Counters], exam.port, Place.NO_RECEIVE_BUFFER, Place.RECEIVED)
    if loss is None:
        return
    yield exam.finding(
        loss.severity,
        loss.evidence,
        so=f"frames {loss.are} dropped because the CPU does not empty the receive queues in time",
        remedies=(
            *_bigger_rings(exam),
            Remedy(
                text="give the queues more CPU: more channels on cores of the card's NUMA node, "
                "interrupts spread over those cores, and no other work on them",
                by_hand=ByHand.FIND_FIRST,
            ),
        ),
        changes=frames_lost(
            exam.ledger, Direction.RECEIVE, loss.share_now, loss.evidence[0].source
        ),
        unpriced=loss.unpriced,
    )


def _bigger_rings(exam: PortExam) -> Iterator[Remedy]:
    """Rings help with bursts; a CPU that is too slow on the whole fills any ring."""
    netdev = exam.port.netdev or ""
    queues = exam.host[Queues].of(netdev)
    now, most = queues.rx_ring_descriptors, queues.rx_ring_descriptors_max
    if isinstance(now, Known) and isinstance(most, Known) and now.value < most.value:
        yield Remedy(
            text=f"for bursts: set {most.value} receive descriptors instead of {now.value}",
            commands=(ethtool_command("-G", netdev, "rx", str(most.value)),),
            danger=Danger.DROPS_LINK,
            steps=(StepCall.of("rings", netdev=netdev, rx=most.value),),
        )


RULE = PortRule(
    slug="errors.no_receive_buffer",
    title="Frames dropped: no receive buffer free",
    why="A card writes a frame into memory only where the driver posted a descriptor for it. If "
    "the CPU of a queue is slower than the incoming frames, or away for longer than the ring "
    "lasts, no descriptor is free and the frame is dropped: `rx_out_of_buffer`, or `imissed` "
    "in DPDK. TCP then reduces its window.",
    source="https://docs.kernel.org/networking/device_drivers/ethernet/mellanox/mlx5/counters.html"
    "; https://docs.kernel.org/networking/statistics.html",
    price=LOST_FORMULA,
    shows=(Symptom.NO_DESCRIPTOR,),
    explains=(Symptom.PAUSES_SENT, Symptom.SEGMENTS_RESENT, Symptom.LOW_FIGURE),
    check=_check,
)
