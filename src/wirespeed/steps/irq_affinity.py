"""On which cores interrupts of a port land."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field, field_validator

from wirespeed.facts.cpu_list import parse_cpu_list
from wirespeed.model.capture import Files, Section
from wirespeed.model.command import Command, write_file
from wirespeed.model.names import PciAddress
from wirespeed.model.observed import Known, Observed, Unreadable, read_as
from wirespeed.model.step import Phase, Scope, State, Step
from wirespeed.steps.queue_cpus import CpuList, cpu_list

ATTRIBUTE = "smp_affinity_list"


class IrqAffinity(Step):
    """Each interrupt of `cpus` may land on the CPUs listed only.

    Numbers are those that the driver has now: they are other ones after its channels change, it is
    loaded again, or the host boots. irqbalance moves them again where it runs. The kernel refuses
    a list without an online CPU, and interrupts that it manages itself (`managed`: NVMe, some
    cards).
    """

    scope: ClassVar[Scope] = Scope.BOOT
    purpose: ClassVar[str] = (
        "One core per queue, on the card's own NUMA node: no core waits, no frame travels."
    )
    phase: ClassVar[Phase | None] = Phase.INTERRUPTS
    is_of_this_boot: ClassVar[bool] = True
    step: Literal["irq_affinity"] = "irq_affinity"
    pci_address: PciAddress
    cpus: Annotated[
        dict[Annotated[int, Field(ge=0, le=1 << 24)], CpuList],
        Field(min_length=1, max_length=4096),
    ]
    """Interrupt: CPUs, as in `0-3,8`."""

    @field_validator("cpus")
    @classmethod
    def _names_a_cpu(cls, cpus: dict[int, str]) -> dict[int, str]:
        if "" in cpus.values():
            raise ValueError("an interrupt without a CPU")
        return cpus

    @property
    def subject(self) -> str:
        return self.pci_address

    def read(self) -> Command:
        return Command(argv=("grep", "-H", "", *(_path(number) for number in self.cpus)))

    def parse(self, section: Section) -> Observed[State]:
        source = self.read().line()
        files = Files(section, (ATTRIBUTE,))
        state: State = {}
        for number in self.cpus:
            cpus = read_as(files[_path(number)], _cpu_list)
            if not isinstance(cpus, Known):
                return Unreadable(f"interrupt {number}: {cpus.reason}", source)
            state[str(number)] = cpus.value
        return Known(state, source)

    def wanted(self, before: State) -> State:
        return {str(number): cpus for number, cpus in self.cpus.items()}

    def commands(self, now: State, to: State) -> tuple[Command, ...]:
        return tuple(
            write_file(_path(number), str(to[str(number)]))
            for number in self.cpus
            if now[str(number)] != to[str(number)]
        )


def _path(number: int) -> str:
    return f"/proc/irq/{number}/{ATTRIBUTE}"


def _cpu_list(text: str) -> str:
    if not parse_cpu_list(text):
        raise ValueError("no CPU in it")
    return cpu_list(text)
