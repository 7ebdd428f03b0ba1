"""Threads of the workload that run under a real-time policy."""

from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.facts.workload import STAT, Workload
from wirespeed.model.capture import Capture
from wirespeed.model.fact import Fact
from wirespeed.model.observed import Known, Observed

POLICY = 37
"""Place after the state in /proc/PID/stat, proc(5) field 41: 1 is SCHED_FIFO, 2 is SCHED_RR."""
POLICIES = {1: "SCHED_FIFO", 2: "SCHED_RR"}


@dataclass(frozen=True, slots=True)
class RealtimeThread:
    """One busy thread under SCHED_FIFO or SCHED_RR."""

    tid: int
    name: str
    policy: str
    cpu_share: Observed[float]
    """Part of the time that it ran, as the workload has it."""


@dataclass(frozen=True, slots=True)
class RealtimeThreads(Fact):
    """Busy threads that a time limit on real-time threads would stop."""

    threads: Observed[tuple[RealtimeThread, ...]]

    script: ClassVar[str] = ""

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read the section `threads` of the workload once more, for what it leaves out."""
        workload = Workload.parse(capture).threads
        if not isinstance(workload, Known):
            return cls(workload)
        section = capture.section("threads")
        policies = {
            int(match[3]): int(match[5].split()[POLICY])
            for match in STAT.finditer(section.output if section else "")
            if len(match[5].split()) > POLICY
        }
        found = tuple(
            RealtimeThread(t.tid, t.name, POLICIES[policies[t.tid]], t.cpu_share)
            for t in workload.value
            if policies.get(t.tid) in POLICIES
        )
        return cls(Known(found, "ps -eLo tid,cls,rtprio,psr,pcpu,comm --sort=-pcpu"))
