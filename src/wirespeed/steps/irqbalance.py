"""Whether irqbalance runs, now and after the next boot."""

from typing import Literal

from wirespeed.steps.systemd_unit import SystemdUnit

UNIT = "irqbalance.service"


class Irqbalance(SystemdUnit):
    """The daemon that moves interrupts between cores runs, or does not."""

    step: Literal["irqbalance"] = "irqbalance"

    @property
    def subject(self) -> str:
        """The unit of systemd."""
        return UNIT

    @property
    def why(self) -> str:
        """What it is good for."""
        if self.is_running:
            return "It spreads interrupts that nobody placed by hand over the cores."
        return "It moves interrupts that were placed by hand to other cores."
