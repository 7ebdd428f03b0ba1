"""The threads that do the work: which process they belong to and which CPU they run on."""

from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.model.capture import Capture
from wirespeed.model.fact import Fact
from wirespeed.model.observed import Observed


@dataclass(frozen=True, slots=True)
class Thread:
    """One thread that has used CPU time, or that is of a kind that moves frames."""

    pid: int
    tid: int
    process: str
    """/proc/PID/comm: `qemu-system-x86`, `dpdk-testpmd`, `iperf3`."""
    name: str
    """The thread's own: `CPU 0/KVM`, `rte-worker-3`, `pmd-c01/id:8`, `vhost-4711`."""
    last_cpu: int
    """Where it ran last."""
    cpu_share: Observed[float]
    """Part of the capture during which it ran, 0 to 1."""
    allowed_cpus: Observed[frozenset[int]]


@dataclass(frozen=True, slots=True)
class Workload(Fact):
    """Busy threads, the busiest first."""

    threads: Observed[tuple[Thread, ...]]

    script: ClassVar[str] = ""
    script_again: ClassVar[str] = ""

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read `threads` (stat lines), `threads-again`, `thread-status` and `uptime`."""
        raise NotImplementedError

    def of_process(self, name: str | None) -> Observed[tuple[Thread, ...]]:
        """Threads of the process of that name; None: of those known to move frames."""
        raise NotImplementedError
