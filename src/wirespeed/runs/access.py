"""What leads to a destination: what runs commands there, and what changes it."""

from contextlib import ExitStack

from wirespeed.apply.control_posix import PosixControl
from wirespeed.host.reach_destination import Destination
from wirespeed.host.runner import Runner
from wirespeed.measure.workload.watch import CounterSource, LinuxCounters
from wirespeed.platforms.access import route_to

REACHED = "here, ssh://USER@HOST, winssh://USER@HOST or winrm://USER@HOST"
"""What leads to a Linux or a Windows, for a person who named something else."""


def runner_at(place: Destination, stack: ExitStack) -> Runner | None:
    """Give what runs commands there, ended by `stack`; None: nothing does.

    On Windows, commands are PowerShell.
    """
    found = route_to(place)
    return None if found is None or found[1].runner is None else found[1].runner(place, stack)


def control_by(name: str, place: Destination, runner: Runner) -> PosixControl:
    """Give control of a host, by what runs commands there. `name` is how the user calls it."""
    found = route_to(place)
    made = None if found is None else found[1].control
    return PosixControl(name, runner) if made is None else made(name, runner)


def control_at(name: str, place: Destination, stack: ExitStack) -> PosixControl | None:
    """Give control of a host, ended by `stack`; None: nothing runs commands there."""
    runner = runner_at(place, stack)
    return None if runner is None else control_by(name, place, runner)


def counters_at(place: Destination, stack: ExitStack) -> CounterSource | None:
    """Give what reads a host's counters, ended by `stack`; None: nothing runs commands there."""
    found = route_to(place)
    runner = runner_at(place, stack)
    if found is None or runner is None:
        return None
    return (found[1].counters or LinuxCounters)(runner)
