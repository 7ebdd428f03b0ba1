"""How many hugepages of one size there are, in all or on one NUMA node."""

import re
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from wirespeed.model.capture import Section
from wirespeed.model.command import Command, write_file
from wirespeed.model.observed import Known, Observed, Unreadable, read_as
from wirespeed.model.step import Phase, Scope, State, Step
from wirespeed.steps.readings import files_of, number

TOTAL = re.compile(r"^(?:Node \d+ )?MemTotal: +(\d{1,15}) kB$", re.M)
REST_KIB, REST_SHARE = 256 << 10, 8
"""What is left to all else: an eighth of the memory, and no less than 256 MiB."""


class Hugepages(Step):
    """There are at least so many hugepages: pages that others count on are never taken away.

    No more than the memory can spare: asked for too many, the kernel gives all that it has, and the
    host can no longer start a shell (seen on Linux 6.12).

    The kernel gives what it finds, and says nothing where memory is too fragmented for all of
    them: they are counted after. Undo frees what was added; pages in use by then stay, and the
    host is then said to be left changed.
    """

    scope: ClassVar[Scope] = Scope.BOOT
    purpose: ClassVar[str] = (
        "DPDK and guests get memory that the CPU and the card find by few address "
        "translations, near the card where they are of its node."
    )
    phase: ClassVar[Phase | None] = Phase.MEMORY
    step: Literal["hugepages"] = "hugepages"
    page_kib: Annotated[int, Field(ge=64, le=16 << 20)]
    """2048 or 1048576 on x86, others elsewhere."""
    numa_node: Annotated[int, Field(ge=0, le=1023)] | None
    """None: of the whole host, spread over its nodes by the kernel."""
    count: Annotated[int, Field(ge=1, le=1 << 30)]

    @property
    def subject(self) -> str:
        where = "" if self.numa_node is None else f" of node {self.numa_node}"
        return f"hugepages of {self.page_kib} KiB{where}"

    @property
    def _path(self) -> str:
        pool = f"hugepages/hugepages-{self.page_kib}kB/nr_hugepages"
        if self.numa_node is None:
            return f"/sys/kernel/mm/{pool}"
        return f"/sys/devices/system/node/node{self.numa_node}/{pool}"

    @property
    def _memory(self) -> str:
        if self.numa_node is None:
            return "/proc/meminfo"
        return f"/sys/devices/system/node/node{self.numa_node}/meminfo"

    def read(self) -> Command:
        """Print the number, and how much memory there is."""
        return Command(argv=("grep", "-H", "", self._path, self._memory))

    def parse(self, section: Section) -> Observed[State]:
        """Give the number; unreadable without such a size or node, or the memory for them."""
        source = self.read().line()
        files = files_of(section, (self._path, self._memory))
        pages, memory = read_as(files[self._path], number), files[self._memory]
        if not isinstance(pages, Known):
            return Unreadable(f"{self._path}: {pages.reason}", source)
        total = TOTAL.search(memory.value) if isinstance(memory, Known) else None
        if total is None:
            return Unreadable(f"{self._memory} does not show how much memory there is", source)
        spare_kib = int(total[1]) - max(int(total[1]) // REST_SHARE, REST_KIB)
        if self.count * self.page_kib > spare_kib:
            most = max(0, spare_kib // self.page_kib)
            return Unreadable(
                f"of {int(total[1]) >> 10} MiB at most {most} such pages can be spared", source
            )
        return Known({"nr_hugepages": pages.value}, source)

    def wanted(self, before: State) -> State:
        """Give the number that is asked for, or what is there where that is more."""
        return {"nr_hugepages": max(self.count, int(str(before["nr_hugepages"])))}

    def commands(self, now: State, to: State) -> tuple[Command, ...]:
        return (write_file(self._path, str(to["nr_hugepages"])),)
