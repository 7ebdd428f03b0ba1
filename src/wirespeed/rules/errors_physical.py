"""Frames that arrived damaged."""

from collections.abc import Iterator

from wirespeed.ceilings.share import LOST_FORMULA, frames_lost
from wirespeed.facts.counters import Counters, Place
from wirespeed.facts.counters_loss import loss_at
from wirespeed.facts.ethtool import ethtool_command
from wirespeed.model.ceiling import Direction
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy
from wirespeed.model.observed import Known
from wirespeed.model.rule import PortExam, PortRule
from wirespeed.model.symptom import Symptom


def _check(exam: PortExam) -> Iterator[Finding]:
    loss = loss_at(exam.host[Counters], exam.port, Place.PHYSICAL, Place.RECEIVED)
    if loss is None:
        return
    yield exam.finding(
        loss.severity,
        (*loss.evidence, *_symbols(exam)),
        so=f"damaged frames {loss.are} dropped on arrival: suspect cable, module or a wrong FEC "
        "mode",
        remedies=(
            Remedy(
                text="check the module's signal and temperature, clean or replace the cable, and "
                "set the same FEC at both ends; a cut-through switch passes a damaged frame on: "
                "if the counter of this cable's switch port stands still, look further back for "
                "the first port that counts them",
                commands=(
                    ethtool_command("-m", exam.port.netdev or ""),
                    ethtool_command("--show-fec", exam.port.netdev or ""),
                ),
                by_hand=ByHand.HARDWARE,
            ),
        ),
        changes=frames_lost(
            exam.ledger, Direction.RECEIVE, loss.share_now, loss.evidence[0].source
        ),
        unpriced=loss.unpriced,
    )


def _symbols(exam: PortExam) -> Iterator[Evidence]:
    """Symbols that FEC could not mend: the same fault, seen below the frame."""
    grown = exam.host[Counters].delta(exam.port.netdev, Place.FEC_UNCORRECTED)
    if isinstance(grown, Known) and grown.value.count > 0:
        names = " + ".join(grown.value.grown)
        yield Evidence.of(grown, f"{names} grew by {grown.value.count}")


RULE = PortRule(
    slug="errors.physical",
    title="Damaged frames received",
    why="The card drops a frame with a wrong checksum without a message. A healthy link has "
    "almost none: IEEE 802.3 allows one wrong bit in 10^12. TCP treats each loss as "
    "congestion, so a few in a million already cost much of the throughput of a fast path "
    "with a long round trip.",
    source="IEEE 802.3 clause 30.3.1.1.6 (aFrameCheckSequenceErrors); "
    "https://docs.kernel.org/networking/statistics.html",
    price=LOST_FORMULA,
    shows=(Symptom.DAMAGED_FRAMES,),
    explains=(Symptom.SEGMENTS_RESENT, Symptom.RDMA_LOSS, Symptom.LOW_FIGURE),
    check=_check,
)
