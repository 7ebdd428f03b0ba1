"""What a host spends while no guest sends: what polling costs, whether it carries anything or not.

A core that polls is busy for /proc/stat. What else runs on the host counts too: the least of the
readings is nearest to what the approach itself takes.
"""

from collections.abc import Callable, Mapping

from wirespeed.host.clock import sleep_s
from wirespeed.host.runner import Runner
from wirespeed.measure.network.host_cpu import read_cpu_ticks, spent
from wirespeed.model.network_trial import IdleTrial

RUNS = 3
SECONDS = 2.0
"""Of one reading: 200 ticks for each core, so 0.5 % of a core can be told."""


def idle_hosts(
    hosts: Mapping[str, Runner],
    record: Callable[[IdleTrial], None],
    doing: Callable[[str], None],
) -> None:
    """Record what every host spends while its guests are silent; one that cannot be read: none."""
    doing("hosts at rest")
    for number in range(1, RUNS + 1):
        before = {name: read_cpu_ticks(runner) for name, runner in hosts.items()}
        sleep_s(SECONDS)
        for name, runner in hosts.items():
            cpu = spent(name, before[name], read_cpu_ticks(runner))
            if cpu is not None:
                record(IdleTrial(number=number, cpu=cpu))
