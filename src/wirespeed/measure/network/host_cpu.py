"""What a host spends, from /proc/stat before and after: while something runs, or no guest sends.

What polling costs is spent whether it carries anything or not: a core that polls is busy for
/proc/stat. What else runs on a host at rest counts too: the least of its readings is nearest to
what the approach itself takes.

Source: proc_stat(5): user nice system idle iowait irq softirq steal guest guest_nice, in ticks
since boot; guest is counted in user, guest_nice in nice.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from wirespeed.host.clock import sleep_s
from wirespeed.host.runner import Runner
from wirespeed.model.error import WirespeedError
from wirespeed.model.network_trial import HostCpu, IdleTrial

_ALL = re.compile(r"^cpu +(\d+(?: \d+)*) *$", re.M)
_ONE = re.compile(r"^cpu\d+ ", re.M)
_FIELDS = 8
"""Up to steal: what a core did with its time, each tick in one of them."""
_IDLE, _IOWAIT, _STEAL = 3, 4, 7
TICKS_PER_S = 100
"""USER_HZ, which every architecture that Debian builds for has: proc(5)."""
IDLE_RUNS = 3
IDLE_S = 2.0
"""Of one reading: 200 ticks for each core, so 0.5 % of a core can be told."""


@dataclass(frozen=True, slots=True)
class CpuTicks:
    """Of all cores together, since boot."""

    busy: int
    total: int
    cores: int


def parse_cpu_ticks(text: str) -> CpuTicks | None:
    """Read /proc/stat; None where it makes no sense."""
    line = _ALL.search(text)
    if line is None:
        return None
    ticks = [int(word) for word in line[1].split()[:_FIELDS]]
    cores = len(_ONE.findall(text))
    if len(ticks) < _FIELDS or not cores:
        return None
    total = sum(ticks)
    return CpuTicks(total - ticks[_IDLE] - ticks[_IOWAIT] - ticks[_STEAL], total, cores)


def spent(host: str, before: CpuTicks | None, after: CpuTicks | None) -> HostCpu | None:
    """Give the mean of busy cores between two readings; None where there are not two."""
    if before is None or after is None or after.total <= before.total:
        return None
    share = (after.busy - before.busy) / (after.total - before.total)
    window_s = (after.total - before.total) / (TICKS_PER_S * after.cores)
    return HostCpu(host=host, busy_cores=share * after.cores, cores=after.cores, window_s=window_s)


def read_cpu_ticks(runner: Runner) -> CpuTicks | None:
    """Read it on a host; None where it cannot be: it is beside the point of a run."""
    try:
        return parse_cpu_ticks(runner.run(("cat", "/proc/stat"), timeout_s=30.0).output)
    except WirespeedError:
        return None


def idle_hosts(
    hosts: Mapping[str, Runner],
    record: Callable[[IdleTrial], None],
    doing: Callable[[str], None],
) -> None:
    """Record what every host spends while its guests are silent; one that cannot be read: none."""
    doing("hosts at rest")
    for number in range(1, IDLE_RUNS + 1):
        before = {name: read_cpu_ticks(runner) for name, runner in hosts.items()}
        sleep_s(IDLE_S)
        for name, runner in hosts.items():
            cpu = spent(name, before[name], read_cpu_ticks(runner))
            if cpu is not None:
                record(IdleTrial(number=number, cpu=cpu))
