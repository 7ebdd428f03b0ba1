"""Which cores send over which transmit queue (XPS)."""

from typing import ClassVar, Literal

from wirespeed.model.step import Phase
from wirespeed.steps.queue_cpus import QueueCpus


class Xps(QueueCpus):
    """Each transmit queue of `cpus` is used by the CPUs listed; none: a hash of the flow chooses.

    Queues are those of the channels that are there now; the kernel leaves out CPUs that are
    offline. A netdev with one queue has no XPS.
    """

    direction: ClassVar[str] = "tx"
    attribute: ClassVar[str] = "xps_cpus"
    purpose: ClassVar[str] = (
        "A core that has a transmit queue of its own waits for no lock of another."
    )
    phase: ClassVar[Phase | None] = Phase.SPREADING
    step: Literal["xps"] = "xps"
