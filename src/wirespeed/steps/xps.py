"""Which cores send over which transmit queue (XPS)."""

from typing import ClassVar, Literal

from wirespeed.steps.queue_cpus import QueueCpus


class Xps(QueueCpus):
    """Each transmit queue of `cpus` is used by the CPUs listed; none: a hash of the flow chooses.

    Queues are those of the channels that are there now; the kernel leaves out CPUs that are
    offline. A netdev with one queue has no XPS.
    """

    direction: ClassVar[str] = "tx"
    attribute: ClassVar[str] = "xps_cpus"
    step: Literal["xps"] = "xps"

    @property
    def why(self) -> str:
        """What it is good for."""
        return "A core that has a transmit queue of its own waits for no lock of another."
