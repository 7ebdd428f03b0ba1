"""Threads of the workload that run under a real-time policy, and what may take time from them."""

import re
from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.facts.workload import STAT, Workload
from wirespeed.model.capture import Capture
from wirespeed.model.fact import Fact
from wirespeed.model.observed import Known, Observed, read_as

POLICY = 37
"""Place after the state in /proc/PID/stat, proc(5) field 41: 1 is SCHED_FIFO, 2 is SCHED_RR."""
FAIR_SERVER = "/sys/kernel/debug/sched/fair_server"
RUNTIME = re.compile(rf"{FAIR_SERVER}/cpu(\d{{1,5}})/runtime")
FAIR_SERVERS = (6, 12)
"""Since then the sysctl limits nothing that runs: a fair server of each CPU runs its ordinary
threads, if they wait. *sched/fair: Fair server interface*."""
FAIR_NS = (50_000_000, 1_000_000_000)
"""What each has of which period, where it was not read: fair_server_init() of Linux 6.12."""
POLICIES = {1: "SCHED_FIFO", 2: "SCHED_RR"}


@dataclass(frozen=True, slots=True)
class RealtimeThread:
    """One busy thread under SCHED_FIFO or SCHED_RR."""

    tid: int
    cpu: int
    """Where it ran last."""
    name: str
    policy: str
    cpu_share: Observed[float]
    """Part of the time that it ran, as the workload has it."""


@dataclass(frozen=True, slots=True)
class RealtimeThreads(Fact):
    """Busy threads that a time limit on real-time threads would stop."""

    threads: Observed[tuple[RealtimeThread, ...]]
    fair_server_ns: dict[int, tuple[int, int]]
    """CPU: how long its ordinary threads run of which period, if they wait behind real-time ones.

    Since Linux 6.12; (0, …): they are never run. Empty where debugfs was not read.
    """

    script: ClassVar[str] = f"""\
fair_servers() (
	set +f
	cd {FAIR_SERVER} || return 2
	grep -H '' "$PWD"/cpu[0-9]*/runtime "$PWD"/cpu[0-9]*/period
)
show fair-server - fair_servers
"""

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read `fair-server`, and the workload's `threads` once more, for what it leaves out."""
        workload = Workload.parse(capture).threads
        servers = _fair_servers(capture)
        if not isinstance(workload, Known):
            return cls(workload, servers)
        section = capture.section("threads")
        policies = {
            int(match[3]): int(match[5].split()[POLICY])
            for match in STAT.finditer(section.output if section else "")
            if len(match[5].split()) > POLICY
        }
        found = tuple(
            RealtimeThread(t.tid, t.last_cpu, t.name, POLICIES[policies[t.tid]], t.cpu_share)
            for t in workload.value
            if policies.get(t.tid) in POLICIES
        )
        source = "ps -eLo tid,cls,rtprio,psr,pcpu,comm --sort=-pcpu"
        return cls(Known(found, source), servers)


def _fair_servers(capture: Capture) -> dict[int, tuple[int, int]]:
    files = capture.files("fair-server", ("runtime", "period"))
    found = {}
    for path in files.paths():
        if match := RUNTIME.fullmatch(path):
            runtime = read_as(files[path], int)
            period = read_as(files[f"{FAIR_SERVER}/cpu{match[1]}/period"], int)
            if isinstance(runtime, Known) and isinstance(period, Known):
                found[int(match[1])] = (runtime.value, period.value)
    return {cpu: (run, of) for cpu, (run, of) in found.items() if 0 <= run <= of and of}
