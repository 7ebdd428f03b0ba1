"""What XPS and RPS have in common: a mask of CPUs in a file of every queue."""

import re
from typing import Annotated, ClassVar

from pydantic import AfterValidator, Field

from wirespeed.facts.cpu_list import cpu_list_text, parse_cpu_list, parse_cpu_mask
from wirespeed.facts.locality import cpu_mask_text
from wirespeed.model.capture import Files, Section
from wirespeed.model.command import Command, write_file
from wirespeed.model.names import Netdev
from wirespeed.model.observed import Known, Observed, Unreadable, read_as
from wirespeed.model.step import Scope, State, Step

MASK = re.compile(r"[0-9a-f]{1,8}(,[0-9a-f]{8})*")


def cpu_list(text: str) -> str:
    """Give a list of CPUs as the kernel writes it; raises ValueError where it is none."""
    return cpu_list_text(parse_cpu_list(text))


CpuList = Annotated[str, AfterValidator(cpu_list)]


class QueueCpus(Step):
    """Each queue of `cpus` has the CPUs listed; none where the list is empty."""

    scope: ClassVar[Scope] = Scope.BOOT
    direction: ClassVar[str]
    """`tx` or `rx`, as the folders of queues are called."""
    attribute: ClassVar[str]
    """The file with the mask."""
    netdev: Netdev
    cpus: Annotated[
        dict[Annotated[int, Field(ge=0, le=65535)], CpuList], Field(min_length=1, max_length=4096)
    ]
    """Queue: CPUs, as in `0-3,8`; empty for none."""

    @property
    def subject(self) -> str:
        return self.netdev

    def read(self) -> Command:
        return Command(argv=("grep", "-H", "", *(self._path(queue) for queue in self.cpus)))

    def parse(self, section: Section) -> Observed[State]:
        source = self.read().line()
        files = Files(section, (self.attribute,))
        state: State = {}
        for queue in self.cpus:
            cpus = read_as(files[self._path(queue)], _cpus)
            if not isinstance(cpus, Known):
                return Unreadable(f"{self._key(queue)}: {cpus.reason}", source)
            state[self._key(queue)] = cpus.value
        return Known(state, source)

    def wanted(self, before: State) -> State:
        return {self._key(queue): cpus for queue, cpus in self.cpus.items()}

    def commands(self, now: State, to: State) -> tuple[Command, ...]:
        lists = {queue: str(to[self._key(queue)]) for queue in self.cpus}
        return tuple(
            write_file(self._path(queue), cpu_mask_text(parse_cpu_list(cpus)))
            for queue, cpus in lists.items()
            if now[self._key(queue)] != cpus
        )

    def _key(self, queue: int) -> str:
        return f"{self.direction}-{queue}"

    def _path(self, queue: int) -> str:
        return f"/sys/class/net/{self.netdev}/queues/{self._key(queue)}/{self.attribute}"


def _cpus(mask: str) -> str:
    if not MASK.fullmatch(mask):
        raise ValueError(f"{mask[:40]!r} is not a mask")
    return cpu_list_text(parse_cpu_mask(mask))
