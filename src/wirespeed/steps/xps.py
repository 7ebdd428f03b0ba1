"""Which cores send over which transmit queue (XPS)."""

import re
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field

from wirespeed.facts.cpu_list import cpu_list_text, parse_cpu_list, parse_cpu_mask
from wirespeed.model.capture import Files, Section
from wirespeed.model.command import Command, write_file
from wirespeed.model.names import Netdev
from wirespeed.model.observed import Known, Observed, Unreadable, read_as
from wirespeed.model.step import Scope, State, Step

ATTRIBUTE = "xps_cpus"
MASK = re.compile(r"[0-9a-f]{1,8}(,[0-9a-f]{8})*")
BITS_PER_GROUP = 32
"""The kernel reads masks in groups of eight digits (lib/bitmap-str.c)."""


def cpu_list(text: str) -> str:
    """Give a list of CPUs as the kernel writes it; raises ValueError where it is none."""
    return cpu_list_text(parse_cpu_list(text))


CpuList = Annotated[str, AfterValidator(cpu_list)]


class Xps(Step):
    """Each transmit queue of `cpus` is used by the CPUs listed; none: a hash of the flow chooses.

    Queues are those of the channels that are there now; the kernel leaves out CPUs that are
    offline. A netdev with one queue has no XPS.
    """

    scope: ClassVar[Scope] = Scope.BOOT
    step: Literal["xps"] = "xps"
    netdev: Netdev
    cpus: Annotated[
        dict[Annotated[int, Field(ge=0, le=65535)], CpuList], Field(min_length=1, max_length=4096)
    ]
    """Transmit queue: CPUs, as in `0-3,8`; empty for none."""

    @property
    def subject(self) -> str:
        """The netdev."""
        return self.netdev

    @property
    def why(self) -> str:
        """What it is good for."""
        return "A core that has a transmit queue of its own waits for no lock of another."

    def read(self) -> Command:
        """Print every queue's mask."""
        return Command(argv=("grep", "-H", "", *(self._path(queue) for queue in self.cpus)))

    def parse(self, section: Section) -> Observed[State]:
        """Read the masks as lists of CPUs."""
        source = self.read().line()
        files = Files(section, (ATTRIBUTE,))
        state: State = {}
        for queue in self.cpus:
            cpus = read_as(files[self._path(queue)], _cpus)
            if not isinstance(cpus, Known):
                return Unreadable(f"tx-{queue}: {cpus.reason}", source)
            state[f"tx-{queue}"] = cpus.value
        return Known(state, source)

    def wanted(self, before: State) -> State:  # noqa: ARG002
        """Give the lists that are asked for."""
        return {f"tx-{queue}": cpus for queue, cpus in self.cpus.items()}

    def change(self, now: State, to: State) -> tuple[Command, ...]:
        """Write the masks that differ."""
        return tuple(
            write_file(self._path(queue), cpu_mask_text(str(to[f"tx-{queue}"])))
            for queue in self.cpus
            if now[f"tx-{queue}"] != to[f"tx-{queue}"]
        )

    def _path(self, queue: int) -> str:
        return f"/sys/class/net/{self.netdev}/queues/tx-{queue}/{ATTRIBUTE}"


def cpu_mask_text(cpus: str) -> str:
    """Write a list of CPUs as a mask that the kernel reads: `3,80000001`."""
    mask = sum(1 << cpu for cpu in parse_cpu_list(cpus))
    groups = []
    while mask >> BITS_PER_GROUP:
        groups.append(f"{mask & 0xFFFFFFFF:08x}")
        mask >>= BITS_PER_GROUP
    return ",".join([f"{mask:x}", *reversed(groups)])


def _cpus(mask: str) -> str:
    if not MASK.fullmatch(mask):
        raise ValueError(f"{mask[:40]!r} is no mask")
    return cpu_list_text(parse_cpu_mask(mask))
