"""Hosts watched while something else runs: their counters, read each second."""

from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event
from typing import ClassVar, Protocol

from wirespeed.host.runner import Completed, Runner
from wirespeed.measure.workload.use import READ, Counters, host_use, parse_counters
from wirespeed.model.error import MeasurementError, WirespeedError
from wirespeed.model.shown import shown
from wirespeed.model.workload_trial import HostUse

EVERY_S = 1.0
READ_S = 15.0
"""A host that takes longer for four files is not to be waited for."""


class CounterSource(Protocol):
    """A host whose counters can be read."""

    clock: ClassVar[str]
    """Where it reads the time that they are divided by."""

    def read(self) -> tuple[Completed, Counters | None]:
        """Give what the reading printed, and its counters; None: without a time."""
        ...


class LinuxCounters:
    """Those of a Linux host, from files."""

    clock: ClassVar[str] = "/proc/uptime"

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    def read(self) -> tuple[Completed, Counters | None]:
        """Read them once."""
        completed = self._runner.run(READ, timeout_s=READ_S)
        return completed, parse_counters(completed.output)


@contextmanager
def watched(hosts: Mapping[str, CounterSource]) -> Iterator[list[HostUse]]:
    """Watch hosts while the body runs; the list is filled, in their order, when it has ended.

    Each host's source is used by one thread alone meanwhile. Raises the error of the first host
    that cannot be read to begin with; one that is lost later says so in its place.
    """
    first = {name: read_counters(name, source) for name, source in hosts.items()}
    uses: list[HostUse] = []
    stop = Event()
    with ThreadPoolExecutor(max_workers=max(len(hosts), 1)) as pool:
        watches: list[Future[HostUse]] = [
            pool.submit(_watch, name, source, first[name], stop) for name, source in hosts.items()
        ]
        try:
            yield uses
        finally:
            stop.set()
        uses += [watch.result() for watch in watches]


def read_counters(name: str, source: CounterSource) -> Counters:
    """Read a host's counters. Raises MeasurementError `host.unreadable`, and what reaching does."""
    completed, counters = source.read()
    if counters is None:
        said = shown(completed.errors.strip(), 120)
        raise MeasurementError(
            "host.unreadable",
            where=name,
            found=f"no time in {source.clock} (exit code {completed.returncode}) {said}".strip(),
            so="wirespeed cannot read what this host does while the command runs",
            next="leave it out of --on, or give a Windows host as winssh:// or winrm://",
        )
    return counters


def _watch(name: str, source: CounterSource, first: Counters, stop: Event) -> HostUse:
    readings = [first]
    try:
        while not stop.wait(EVERY_S):
            readings.append(read_counters(name, source))
        readings.append(read_counters(name, source))
    except WirespeedError as error:
        return host_use(name, readings, failed=f"{error.what}: {error.found}")
    return host_use(name, readings)
