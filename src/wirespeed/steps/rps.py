"""Which cores frames of a receive queue are handed to (RPS)."""

from typing import ClassVar, Literal

from wirespeed.model.step import Phase
from wirespeed.steps.queue_cpus import QueueCpus


class Rps(QueueCpus):
    """Frames of each receive queue of `cpus` go to the CPUs listed; none: they stay where they are.

    The kernel leaves out CPUs that are offline, and those that are kept free of housekeeping.
    """

    direction: ClassVar[str] = "rx"
    attribute: ClassVar[str] = "rps_cpus"
    purpose: ClassVar[str] = (
        "One queue's frames are spread over cores by software, where the card cannot."
    )
    phase: ClassVar[Phase | None] = Phase.SPREADING
    step: Literal["rps"] = "rps"
