"""Which cores frames of a receive queue are handed to (RPS)."""

from typing import ClassVar, Literal

from wirespeed.steps.queue_cpus import QueueCpus


class Rps(QueueCpus):
    """Frames of each receive queue of `cpus` go to the CPUs listed; none: they stay where they are.

    The kernel leaves out CPUs that are offline, and those that are kept free of housekeeping.
    """

    direction: ClassVar[str] = "rx"
    attribute: ClassVar[str] = "rps_cpus"
    step: Literal["rps"] = "rps"

    @property
    def why(self) -> str:
        """What it is good for."""
        return "One queue's frames are spread over cores by software, where the card cannot."
