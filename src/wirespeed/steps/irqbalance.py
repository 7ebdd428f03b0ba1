"""Whether irqbalance runs, now and after the next boot."""

from typing import ClassVar, Literal

from wirespeed.model.step import Phase
from wirespeed.steps.systemd_unit import SystemdUnit

UNIT = "irqbalance.service"


class Irqbalance(SystemdUnit):
    """The daemon that moves interrupts between cores runs, or does not."""

    phase: ClassVar[Phase | None] = Phase.INTERRUPT_DAEMON
    step: Literal["irqbalance"] = "irqbalance"

    @property
    def subject(self) -> str:
        return UNIT

    @property
    def why(self) -> str:
        if self.is_running:
            return "It spreads interrupts that were not placed by hand over the cores."
        return "It moves interrupts that were placed by hand to other cores."
