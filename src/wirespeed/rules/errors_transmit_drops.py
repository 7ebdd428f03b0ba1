"""Frames that were dropped on their way out."""

from collections.abc import Iterator

from wirespeed.ceilings.share import LOST_FORMULA, frames_lost
from wirespeed.facts.counters import Counters, Place
from wirespeed.facts.counters_loss import loss_at
from wirespeed.model.ceiling import Direction
from wirespeed.model.finding import ByHand, Finding, Remedy
from wirespeed.model.rule import PortExam, PortRule


def _check(exam: PortExam) -> Iterator[Finding]:
    loss = loss_at(exam.host[Counters], exam.port, Place.TRANSMIT, Place.SENT)
    if loss is None:
        return
    yield exam.finding(
        loss.severity,
        loss.evidence,
        so=f"frames {loss.are} dropped on their way out, after the stack believed them sent",
        remedies=(
            Remedy(
                text="look whether pause frames hold the port back, whether the link went down, "
                "and whether the transmit rings are small; a frame longer than the card's MTU is "
                "dropped here too",
                by_hand=ByHand.FIND_FIRST,
            ),
        ),
        changes=frames_lost(
            exam.ledger, Direction.TRANSMIT, loss.share_now, loss.evidence[0].source
        ),
        unpriced=loss.unpriced,
    )


RULE = PortRule(
    slug="errors.transmit_drops",
    title="Frames dropped on transmit",
    why="The driver drops what it cannot map or queue, and the card what it may not send: the "
    "link is down, the peer pauses it for too long, a frame is longer than the MTU. The sender "
    "learns of it only by the missing acknowledgement.",
    source="https://docs.kernel.org/networking/device_drivers/ethernet/mellanox/mlx5/counters.html"
    "; https://docs.kernel.org/networking/statistics.html",
    price=LOST_FORMULA,
    check=_check,
)
