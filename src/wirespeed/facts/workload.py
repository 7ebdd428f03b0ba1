"""The threads that do the work: which process they belong to and which CPU they run on."""

import re
from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.facts.cpu_list import parse_cpu_list
from wirespeed.model.capture import Capture, Section
from wirespeed.model.fact import Fact
from wirespeed.model.observed import Absent, Known, Observed, Unreadable, read_as

MAX_THREADS = 4096
"""What is read of a host; more are cut off."""
COMM_BYTES = 15
"""What the kernel keeps of a process's name."""
MOVES_FRAMES = re.compile(
    r"(iperf|netperf|netserver|sockperf|vhost-|CPU \d+/KVM|pmd-c|rte-worker|lcore-|dpdk-|testpmd"
    r"|l[23]fwd|vpp_|ovs-vswitchd|flanneld|tailscaled|wireguard-go|openvpn|zerotier-one|tincd|passt"
    r"|pasta|slirp4netns)"
)
POLLS = re.compile(r"rte-worker|lcore-(worker|slave)|dpdk-worker|pmd-c")
"""Threads of DPDK that poll, as several versions name them, and those of Open vSwitch."""
DPDK_HELPERS = frozenset(
    {"rte_mp_handle", "dpdk-mp-msg", "eal-intr-thread", "dpdk-intr", "telemetry-v2", "dpdk-telemet"}
)
"""Threads that every DPDK program has beside those that poll, before 23.11 and since."""
SOURCE = "ps -eLo pid,tid,psr,pcpu,comm --sort=-pcpu"
# pid (comm) state ppid … cmajflt utime stime …, proc(5); the 37th after the name is the CPU.
STAT = re.compile(
    r"(/proc/(\d{1,9})/task/(\d{1,9})/stat):\d+ \((.*)\) [A-Za-z]((?: -?\d{1,20}){37,60})"
)
STATUS = re.compile(r"/proc/(\d+)(?:/task/(\d+))?/status:(Name|Cpus_allowed_list):\s*(.*)")
UTIME, STIME, STARTTIME, PROCESSOR = 10, 11, 18, 35
"""Places after the state, from 0."""
TICKS_PER_S = 100
"""USER_HZ, whatever CONFIG_HZ is, on every architecture that has such a card."""
SHORTEST_S = 0.2
"""In less, ticks of 10 ms tell too little of how busy a thread is."""


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
    """Part of the time that it ran, 0 to 1 and a little: during the capture; since it started
    where the two readings are less than 0.2 s apart."""
    allowed_cpus: Observed[frozenset[int]]

    @property
    def polls(self) -> bool:
        """Its name says that it polls: it is never idle."""
        return bool(POLLS.match(self.name))

    @property
    def polls_beside(self) -> bool:
        """It polls, and so may its process' other threads; those of Open vSwitch do not."""
        return self.polls and not self.name.startswith("pmd-")

    @property
    def moves_frames(self) -> bool:
        """It is of a program or a kind of thread that is known to move frames."""
        if self.name in DPDK_HELPERS:
            return False
        return bool(MOVES_FRAMES.match(self.name) or MOVES_FRAMES.match(self.process))


@dataclass(frozen=True, slots=True)
class Workload(Fact):
    """Busy threads, the busiest during the capture first."""

    threads: Observed[tuple[Thread, ...]]

    # One grep over all threads, then only those that it found: a process for each would take
    # seconds. `busy`: it runs right now, or has run for 10 s (utime or stime of four digits, in
    # hundredths), or has a name that is known. `kernel`: it has no memory of its own, and is no
    # vhost thread, which is a kernel's before Linux 6.4.
    script: ClassVar[str] = """\
busy='\\) R -?[0-9]|\\) [A-Za-z]( -?[0-9]+){10} ([0-9]{4,} |[0-9]+ [0-9]{4,} )|^[0-9]+ \\((iperf'
busy="$busy"'|netperf|netserver|sockperf|vhost-|CPU [0-9]+/KVM|pmd-c|rte-worker|lcore-|dpdk-'
busy="$busy"'|rte_mp_handle|eal-intr-thr|testpmd|l[23]fwd|vpp_)'
kernel='\\([^v][^)]*\\) [A-Za-z]( -?[0-9]+){19} 0 0 '
list_threads() (
	set +f
	printf '%s\\0' /proc/[0-9]*/task/[0-9]*/stat
)
read -r uptime _ </proc/uptime
threads=$(list_threads | $limit xargs -0 grep -HsE "$busy" |
	grep -vE "$kernel" | head -n MAX_THREADS)
show threads - printf 'uptime %s\\n%s\\n' "$uptime" "$threads"
threads=$(printf '%s\\n' "$threads" | grep -oE '^/proc/[0-9]+/task/[0-9]+/')
list_status() {
	for path in $threads; do
		printf '%sstatus\\n%s\\n' "$path" "${path%/task/*}/status"
	done
}
list_status | sort -u | tr '\\n' '\\0' | run thread-status - \\
	xargs -0 grep -HsE '^(Name|Cpus_allowed_list):'
""".replace("MAX_THREADS", str(MAX_THREADS))
    script_again: ClassVar[str] = """\
threads_again() {
	read -r uptime _ </proc/uptime
	printf 'uptime %s\\n' "$uptime"
	for path in $threads; do
		printf '%sstat\\0' "$path"
	done | xargs -0 grep -Hs ''
}
show threads-again - threads_again
"""

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read `threads`, `threads-again` (stat lines below an uptime) and `thread-status`."""
        section, again = capture.section("threads"), capture.section("threads-again")
        if section is None or not section.output.startswith("uptime "):
            return cls(Unreadable("the capture has no threads", SOURCE))
        before, after = _Reading.of(section), _Reading.of(again)
        names, allowed = _status(capture.section("thread-status"))
        threads = [
            Thread(
                pid=pid,
                tid=tid,
                process=names.get(pid, name),
                name=name,
                last_cpu=(after.of_thread.get((pid, tid)) or before.of_thread[pid, tid])[1],
                cpu_share=_share(before, after, (pid, tid)),
                allowed_cpus=allowed.get(
                    tid, Absent(f"grep Cpus_allowed_list /proc/{pid}/task/{tid}/status")
                ),
            )
            for (pid, tid), name in before.names.items()
        ]
        threads.sort(
            key=lambda t: (
                -(t.cpu_share.value if isinstance(t.cpu_share, Known) else 0.0),
                t.pid,
                t.tid,
            )
        )
        return cls(Known(tuple(threads), SOURCE))

    @property
    def has_dpdk(self) -> bool:
        """A DPDK program runs, by its threads' names; False also if that is not known."""
        threads = self.threads.value if isinstance(self.threads, Known) else ()
        return any(t.name in DPDK_HELPERS or POLLS.match(t.name) for t in threads)

    def of_process(self, name: str | None) -> Observed[tuple[Thread, ...]]:
        """Threads of the process of that name; None: of those known to move frames.

        Absent: there is none that has worked. Known is never empty.
        """
        if not isinstance(self.threads, Known):
            return self.threads
        every = self.threads.value
        if name is None:
            # The main thread of a DPDK program polls too, whatever it is called.
            dpdk = {t.pid for t in every if t.name in DPDK_HELPERS}
            found = tuple(t for t in every if t.moves_frames or (t.tid == t.pid and t.pid in dpdk))
        else:
            found = tuple(t for t in every if t.process == name[:COMM_BYTES])
        if not found and len(every) >= MAX_THREADS:
            return Unreadable(f"more than {MAX_THREADS} threads work", SOURCE)
        if not found:
            whose = "that is known to move frames" if name is None else f"of {name}"
            return Absent(SOURCE, f"no thread {whose} has run for 10 s or was running")
        return Known(found, SOURCE)


@dataclass(frozen=True, slots=True)
class _Reading:
    """One reading of the stat lines."""

    uptime_s: float | None
    names: dict[tuple[int, int], str]
    of_thread: dict[tuple[int, int], tuple[int, int, int]]
    """(PID, TID): ticks of CPU time, the CPU that it ran on last, tick of its start since boot."""

    @classmethod
    def of(cls, section: Section | None) -> Self:
        uptime = re.match(r"uptime (\d{1,12}\.\d{1,4})\n", section.output if section else "")
        names, of_thread = {}, {}
        for match in STAT.finditer(section.output if section else ""):
            numbers = [int(word) for word in match[5].split()]
            key = int(match[2]), int(match[3])
            names[key] = match[4]
            ticks = numbers[UTIME] + numbers[STIME]
            of_thread[key] = ticks, numbers[PROCESSOR], numbers[STARTTIME]
        return cls(float(uptime[1]) if uptime else None, names, of_thread)


def _share(before: _Reading, after: _Reading, key: tuple[int, int]) -> Observed[float]:
    source = f"top -H -p {key[0]}"
    if before.uptime_s is None or after.uptime_s is None or key not in after.of_thread:
        return Unreadable("it was not read twice", source)
    ticks, _, start = after.of_thread[key]
    seconds = after.uptime_s - before.uptime_s
    if 0 <= seconds < SHORTEST_S:
        seconds = after.uptime_s - start / TICKS_PER_S
    else:
        ticks -= before.of_thread[key][0]
    if seconds < SHORTEST_S or ticks < 0:
        return Unreadable("the two readings tell nothing", source)
    return Known(ticks / TICKS_PER_S / seconds, source)


def _status(
    section: Section | None,
) -> tuple[dict[int, str], dict[int, Observed[frozenset[int]]]]:
    """PID: name of the process; TID: CPUs that it may run on."""
    names: dict[int, str] = {}
    allowed: dict[int, Observed[frozenset[int]]] = {}
    for match in STATUS.finditer(section.output if section else ""):
        pid, tid, what, value = match.groups()
        if what == "Name" and tid is None:
            names[int(pid)] = value
        elif what != "Name" and tid is not None:
            source = f"grep Cpus_allowed_list /proc/{pid}/task/{tid}/status"
            allowed[int(tid)] = read_as(Known(value, source), parse_cpu_list)
    return names, allowed
