"""Threads of Open vSwitch that poll: which queues each has, and how much of its time they take."""

import re
from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.model.capture import Capture
from wirespeed.model.fact import Fact
from wirespeed.model.observed import Absent, Known, Observed, Unreadable

SHOW = "ovs-appctl dpif-netdev/pmd-rxq-show"
NO_DATAPATH = "specify an existing datapath"
"""Words of a daemon without a userspace datapath (lib/dpif-netdev.c)."""
THREAD = re.compile(r"pmd thread numa_id (\d{1,4}) core_id (\d{1,5}):")
QUEUE = re.compile(
    r"  port: (\S{1,64}) +queue-id: +(\d{1,4}) (?:\((?:en|dis)abled\))? +"
    r"pmd usage: +(?:(\d{1,3}) %|NOT AVAIL)"
)
OVERHEAD = re.compile(r"  overhead: +(\d{1,3}) %")
"""Since 2.16."""


@dataclass(frozen=True, slots=True)
class PolledQueue:
    """A receive queue."""

    port: str
    queue: int
    busy_percent: Observed[int]
    """Of its thread's time, over the last minute; Absent where it has not run for that long."""


@dataclass(frozen=True, slots=True)
class PollingThread:
    """One `pmd` thread."""

    numa_node: int
    cpu: int
    queues: tuple[PolledQueue, ...]
    overhead_percent: int
    """What no queue alone takes; 0 where the version does not show it."""

    @property
    def busy_percent(self) -> Observed[int]:
        """Give the part of its time that is not idle polling; Absent while it is not measured."""
        busy = self.overhead_percent
        for queue in self.queues:
            if not isinstance(queue.busy_percent, Known):
                return queue.busy_percent
            busy += queue.busy_percent.value
        return Known(busy, SHOW)


@dataclass(frozen=True, slots=True)
class OvsPolling(Fact):
    """Every thread that has a queue to poll, or none."""

    threads: Observed[tuple[PollingThread, ...]]
    """Absent: there is no userspace datapath, or no Open vSwitch."""

    script: ClassVar[str] = """\
if command -v ovs-appctl >/dev/null 2>&1; then
	run ovs-pmd-rxq - ovs-appctl --timeout=2 dpif-netdev/pmd-rxq-show
fi
"""

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read a heading a thread, and the lines below it."""
        section = capture.section("ovs-pmd-rxq")
        if section is None:
            return cls(Absent(SHOW, "Open vSwitch is not installed, or was not asked"))
        if NO_DATAPATH in section.errors:
            return cls(Absent(SHOW, "Open vSwitch has no userspace datapath"))
        text = section.text(SHOW)
        if not isinstance(text, Known):
            return cls(text)
        parts = re.split(r"^(?=pmd thread )", text.value, flags=re.M)[1:]
        threads = [_thread(part) for part in parts]
        found = tuple(thread for thread in threads if thread is not None)
        if len(found) < len(threads):
            return cls(Unreadable("a line of it makes no sense", SHOW))
        return cls(Known(found, SHOW))


def _thread(part: str) -> PollingThread | None:
    heading = THREAD.match(part)
    if heading is None:
        return None
    queues, overhead = [], 0
    for line in part.splitlines()[1:]:
        if line.startswith("  port: "):
            queue = QUEUE.match(line)
            if queue is None:
                return None
            said = queue[3]
            busy = Known(int(said), SHOW) if said else Absent(SHOW, "it is not measured yet")
            queues.append(PolledQueue(queue[1], int(queue[2]), busy))
        elif of_thread := OVERHEAD.match(line):
            overhead = int(of_thread[1])
    return PollingThread(int(heading[1]), int(heading[2]), tuple(queues), overhead)
