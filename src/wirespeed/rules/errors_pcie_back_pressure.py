"""A card that waits for PCI Express, or drops because of it."""

from collections.abc import Iterator

from wirespeed.facts.counters import Counters, Place
from wirespeed.facts.counters_loss import loss_at
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Absent, Known
from wirespeed.model.rule import PortExam, PortRule
from wirespeed.model.symptom import Symptom

STALLED_PERCENT = 30
"""From here on the card itself counts a second as one with stalls."""


def _check(exam: PortExam) -> Iterator[Finding]:
    counters = exam.host[Counters]
    netdev = exam.port.netdev or ""
    # Cards whose firmware does not count the overflow may count the stalls all the same.
    counts_stalls = not isinstance(counters.delta(netdev, Place.PCIE_STALLED_SECONDS), Absent)
    counts_loss = not isinstance(counters.delta(netdev, Place.PCIE), Absent)
    loss = (
        loss_at(counters, exam.port, Place.PCIE, Place.RECEIVED)
        if counts_loss or not counts_stalls
        else None
    )
    stalls = _stalls(counters, netdev)
    if loss is None and not stalls:
        return
    dropped = loss is not None and loss.now is not None
    yield exam.finding(
        Severity.FAULT if dropped else Severity.RISK if stalls else Severity.NOTE,
        (*(loss.evidence if loss else ()), *stalls),
        so="PCI Express is slower than the incoming traffic: frames are dropped"
        if dropped
        else "the card waits for PCI Express and its buffer fills",
        remedies=(
            Remedy(
                text="see the findings about the PCIe link's width and speed, read-request size, "
                "NUMA node and IOMMU; a CPU that saves power slows PCIe too",
                by_hand=ByHand.FIND_FIRST,
            ),
        ),
        unpriced=loss.unpriced if loss else "the card counted waiting time but no lost frames",
    )


def _stalls(counters: Counters, netdev: str) -> tuple[Evidence, ...]:
    found = []
    port = counters.by_netdev[netdev]
    percent = port.stalled_percent
    if isinstance(percent, Known) and percent.value >= STALLED_PERCENT:
        text = f"waited for PCIe credits {percent.value} % of the last second"
        found.append(Evidence.of(percent, text))
    grown = counters.delta(netdev, Place.PCIE_STALLED_SECONDS)
    if isinstance(grown, Known) and grown.value.count > 0:
        text = (
            f"{grown.value.count} more seconds in which the card waited over {STALLED_PERCENT} % "
            "of the time"
        )
        found.append(Evidence.of(grown, text))
    return tuple(found)


RULE = PortRule(
    slug="errors.pcie_back_pressure",
    title="Card stalls on PCIe back-pressure",
    why="Every frame goes through PCI Express, with its descriptors and completions. When the "
    "host gives the card no credits in time, the card's buffer fills and frames are dropped, "
    "although the link on the wire is fine. Causes: too few lanes or a slower generation, "
    "small read requests, memory of another socket, an IOMMU that translates each access, a "
    "CPU in a deep idle state.",
    source="https://docs.kernel.org/networking/device_drivers/ethernet/mellanox/mlx5/counters.html",
    shows=(Symptom.CARD_STALLED,),
    explains=(Symptom.CARD_BUFFER_FULL, Symptom.PAUSES_SENT, Symptom.LOW_FIGURE),
    check=_check,
)
