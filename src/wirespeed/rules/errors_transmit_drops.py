"""Frames that were dropped on their way out."""

from collections.abc import Iterator

from wirespeed.ceilings.share import LOST_FORMULA, frames_lost
from wirespeed.facts.counters import Counters, Place
from wirespeed.facts.counters_loss import SHOWN, loss_at
from wirespeed.facts.queues import Queues
from wirespeed.model.ceiling import Direction
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy
from wirespeed.model.observed import Known
from wirespeed.model.rule import PortExam, PortRule
from wirespeed.model.symptom import Symptom


def _check(exam: PortExam) -> Iterator[Finding]:
    loss = loss_at(exam.host[Counters], exam.port, Place.TRANSMIT, Place.SENT)
    if loss is None:
        return
    not_it = tuple(_acquitted(exam)) if loss.now else ()
    left = [text for name, text in SUSPECTS.items() if name not in dict(not_it)]
    yield exam.finding(
        loss.severity,
        (*loss.evidence, *(evidence for _, evidence in not_it)),
        so=f"frames {loss.are} dropped after the network stack had handed them to the driver",
        remedies=(
            Remedy(
                text=f"find what drops them: {', '.join(left)}",
                by_hand=ByHand.FIND_FIRST,
            ),
        ),
        changes=frames_lost(
            exam.ledger, Direction.TRANSMIT, loss.share_now, loss.evidence[0].source
        ),
        unpriced=loss.unpriced,
    )


SUSPECTS = {
    "pause": "pause frames that stop the port",
    "rings": "small transmit rings",
    "link": "a link that flaps",
    "long": "frames longer than the card's MTU",
    "driver": "buffers that the driver cannot map",
}


def _acquitted(exam: PortExam) -> Iterator[tuple[str, Evidence]]:
    """What it is not, by what the host itself counted or has set."""
    netdev = exam.port.netdev or ""
    paused = exam.host[Counters].delta(netdev, Place.PAUSE_RECEIVED)
    if isinstance(paused, Known) and paused.value.count == 0:
        name = " + ".join(paused.value.counters[:SHOWN])
        yield "pause", Evidence.of(paused, f"{name} did not grow: the peer does not pause the port")
    queues = exam.host[Queues].of(netdev)
    now, most = queues.tx_ring_descriptors, queues.tx_ring_descriptors_max
    if isinstance(now, Known) and isinstance(most, Known) and now.value >= most.value:
        yield "rings", Evidence.of(now, f"{now.value} transmit descriptors, the maximum")


RULE = PortRule(
    slug="errors.transmit_drops",
    title="Frames dropped on transmit",
    why="The driver drops frames that it cannot map or queue. The card drops frames that it may "
    "not send: the link is down, the peer pauses it for too long, or a frame is longer than "
    "the MTU. The sender notices only that the acknowledgement is missing.",
    source="https://docs.kernel.org/networking/device_drivers/ethernet/mellanox/mlx5/counters.html"
    "; https://docs.kernel.org/networking/statistics.html",
    price=LOST_FORMULA,
    shows=(Symptom.TRANSMIT_DROPS,),
    explains=(Symptom.SEGMENTS_RESENT, Symptom.LOW_FIGURE),
    check=_check,
)
