"""The remedy that puts interrupts on CPUs, and keeps irqbalance from moving them again."""

from collections.abc import Mapping

from wirespeed.facts.irqbalance import Irqbalance
from wirespeed.model.command import Command, write_file
from wirespeed.model.fact import HostFacts
from wirespeed.model.finding import Remedy, StepCall
from wirespeed.model.observed import Known

UNIT = "irqbalance.service"
STOPPED = (
    Command(argv=("systemctl", "stop", UNIT)),
    Command(argv=("systemctl", "disable", UNIT)),
)


def placed_remedy(
    host: HostFacts, pci_address: str | None, text: str, cpu_of: Mapping[int, int]
) -> Remedy:
    """Make the remedy that gives each interrupt its CPU; irqbalance is stopped where it runs."""
    runs = host[Irqbalance].is_running
    is_moved = isinstance(runs, Known) and runs.value
    cpus = {str(number): str(cpu) for number, cpu in cpu_of.items()}
    return Remedy(
        text=f"{text}{', without irqbalance, which would move them back' if is_moved else ''} "
        "(an interrupt that the kernel manages itself refuses to be set)",
        commands=(
            *(STOPPED if is_moved else ()),
            *(write_file(f"/proc/irq/{n}/smp_affinity_list", cpu) for n, cpu in cpus.items()),
        ),
        steps=(
            *((StepCall.of("irqbalance", is_running=False),) if is_moved else ()),
            StepCall.of("irq_affinity", pci_address=pci_address, cpus=cpus),
        ),
    )
