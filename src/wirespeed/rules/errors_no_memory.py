"""Receive buffers for which there was no memory."""

from collections.abc import Iterator

from wirespeed.facts.counters import Counters, Place
from wirespeed.facts.counters_loss import loss_at
from wirespeed.model.finding import ByHand, Finding, Remedy
from wirespeed.model.rule import PortExam, PortRule
from wirespeed.model.symptom import Symptom


def _check(exam: PortExam) -> Iterator[Finding]:
    loss = loss_at(exam.host[Counters], exam.port, Place.NO_MEMORY, Place.RECEIVED)
    if loss is None:
        return
    yield exam.finding(
        loss.severity,
        loss.evidence,
        so=f"receive descriptors {loss.are} left empty because the kernel had no memory for them",
        remedies=(
            Remedy(
                text="look for `page allocation failure` in `dmesg`, free memory on the card's "
                "NUMA node, raise vm.min_free_kbytes, or use smaller rings or a smaller MTU",
                by_hand=ByHand.FIND_FIRST,
            ),
        ),
        unpriced=loss.unpriced,
    )


RULE = PortRule(
    slug="errors.no_memory",
    title="Receive buffers could not be allocated",
    why="A driver passes each received buffer on and must allocate another. If the kernel has "
    "none at once (memory is short, fragmented, or used up on that NUMA node), descriptors "
    "stay empty and frames that arrive meanwhile are dropped. In DPDK the same is "
    "`rx_nombuf`: a mempool that is too small.",
    source="https://docs.kernel.org/networking/device_drivers/ethernet/mellanox/mlx5/counters.html"
    "; https://docs.kernel.org/networking/statistics.html",
    explains=(Symptom.NO_DESCRIPTOR, Symptom.LOW_FIGURE),
    check=_check,
)
