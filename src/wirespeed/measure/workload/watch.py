"""Hosts watched while something else runs: their counters, read each second."""

from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event
from typing import TypeAlias

from wirespeed.host.powershell import run_powershell
from wirespeed.host.runner import Runner
from wirespeed.measure.workload.use import READ, Counters, host_use, parse_counters
from wirespeed.measure.workload.use_windows import SCRIPT, parse_windows_counters
from wirespeed.model.error import MeasurementError, WirespeedError
from wirespeed.model.shown import shown
from wirespeed.model.workload_trial import HostUse

EVERY_S = 1.0
READ_S = 15.0
"""A host that takes longer for four files is not to be waited for."""
POWERSHELL_S = 60.0
"""It loads its modules at each reading: seconds, and more where the host is busy."""


@dataclass(frozen=True, slots=True)
class ByPowerShell:
    """A host that Windows runs on."""

    runner: Runner


Host: TypeAlias = Runner | ByPowerShell


@contextmanager
def watched(hosts: Mapping[str, Host]) -> Iterator[list[HostUse]]:
    """Watch hosts while the body runs; the list is filled, in their order, when it has ended.

    Each host's runner is used by one thread alone meanwhile. Raises the error of the first host
    that cannot be read to begin with; one that is lost later says so in its place.
    """
    first = {name: read_counters(name, runner) for name, runner in hosts.items()}
    uses: list[HostUse] = []
    stop = Event()
    with ThreadPoolExecutor(max_workers=max(len(hosts), 1)) as pool:
        watches: list[Future[HostUse]] = [
            pool.submit(_watch, name, runner, first[name], stop) for name, runner in hosts.items()
        ]
        try:
            yield uses
        finally:
            stop.set()
        uses += [watch.result() for watch in watches]


def read_counters(name: str, runner: Host) -> Counters:
    """Read a host's counters. Raises MeasurementError `host.unreadable`, and what reaching does."""
    if isinstance(runner, ByPowerShell):
        completed = run_powershell(runner.runner, SCRIPT, timeout_s=POWERSHELL_S)
        counters, clock = parse_windows_counters(completed.output), "its performance counters"
    else:
        completed = runner.run(READ, timeout_s=READ_S)
        counters, clock = parse_counters(completed.output), "/proc/uptime"
    if counters is None:
        said = shown(completed.errors.strip(), 120)
        raise MeasurementError(
            "host.unreadable",
            where=name,
            found=f"no time in {clock} (exit code {completed.returncode}) {said}".strip(),
            so="what this host does beside the command cannot be read",
            next="leave it out of --on, or name a Windows host as winssh:// or winrm://",
        )
    return counters


def _watch(name: str, runner: Host, first: Counters, stop: Event) -> HostUse:
    readings = [first]
    try:
        while not stop.wait(EVERY_S):
            readings.append(read_counters(name, runner))
        readings.append(read_counters(name, runner))
    except WirespeedError as error:
        return host_use(name, readings, failed=f"{error.what}: {error.found}")
    return host_use(name, readings)
