"""How many hugepages of one size there are, in all or on one NUMA node."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from wirespeed.model.capture import Section
from wirespeed.model.command import Command, write_file
from wirespeed.model.observed import Observed
from wirespeed.model.step import Scope, State, Step
from wirespeed.steps.readings import number, state_of


class Hugepages(Step):
    """There are at least so many hugepages: pages that others count on are never taken away.

    The kernel gives what it finds, and says nothing where memory is too fragmented for all of
    them: they are counted after. Undo frees what was added; pages in use by then stay, and the
    host is then said to be left changed.
    """

    scope: ClassVar[Scope] = Scope.BOOT
    step: Literal["hugepages"] = "hugepages"
    page_kib: Annotated[int, Field(ge=64, le=16 << 20)]
    """2048 or 1048576 on x86, others elsewhere."""
    numa_node: Annotated[int, Field(ge=0, le=1023)] | None
    """None: of the whole host, spread over its nodes by the kernel."""
    count: Annotated[int, Field(ge=1, le=1 << 30)]

    @property
    def subject(self) -> str:
        """Size and node."""
        where = "" if self.numa_node is None else f" of node {self.numa_node}"
        return f"hugepages of {self.page_kib} KiB{where}"

    @property
    def why(self) -> str:
        """Say who needs them."""
        return (
            "DPDK and guests get memory that the CPU and the card find by few address "
            "translations, near the card where they are of its node."
        )

    @property
    def _path(self) -> str:
        where = (
            "kernel/mm" if self.numa_node is None else f"devices/system/node/node{self.numa_node}"
        )
        return f"/sys/{where}/hugepages/hugepages-{self.page_kib}kB/nr_hugepages"

    def read(self) -> Command:
        """Print the number."""
        return Command(argv=("cat", self._path))

    def parse(self, section: Section) -> Observed[State]:
        """Give the number; unreadable where there is no such size or node."""
        return state_of(section, self.read(), lambda text: {"nr_hugepages": number(text)})

    def wanted(self, before: State) -> State:
        """Give the number that is asked for, or what is there where that is more."""
        return {"nr_hugepages": max(self.count, int(str(before["nr_hugepages"])))}

    def change(self, now: State, to: State) -> tuple[Command, ...]:
        """Write the number."""
        return () if now == to else (write_file(self._path, str(to["nr_hugepages"])),)
