"""Both sides of hosts with WSL 2: `desk` is its Linux, `desk.windows` its Windows.

here, ssh://   we come to the Linux; powershell.exe, by WSL's interop, to its Windows
winssh://, winrm://   we come to the Windows; wsl.exe to its Linux
"""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager

from wirespeed.apply.control_posix import PosixControl
from wirespeed.apply.each_host import on_each
from wirespeed.doctor.collector import collector_script
from wirespeed.host.reach_destination import Destination, WindowsHost, parse_destination
from wirespeed.host.runner import Runner
from wirespeed.host.wsl import WslRunner
from wirespeed.model.error import InputError
from wirespeed.model.fact import HostFacts
from wirespeed.model.spec.members import HostsOnly
from wirespeed.model.spec.spec import Spec
from wirespeed.platforms.windows.control import WindowsControl
from wirespeed.platforms.wsl.approach import SIDE
from wirespeed.platforms.wsl.control import WslControl
from wirespeed.runs.access import runner_at


@contextmanager
def wsl_controls(spec: Spec) -> Iterator[dict[str, PosixControl]]:
    """Give control of both sides of every host, each with a connection of its own.

    Raises InputError `spec.not_a_host` for a recorded one.
    """
    with ExitStack() as stack:
        found: dict[str, PosixControl] = {}
        for name, host in spec.hosts.items():
            place = parse_destination(host.reach)
            linux = _runner(name, place, stack)
            is_windows = isinstance(place, WindowsHost)
            found[name] = WslControl(name, WslRunner(linux) if is_windows else linux)
            there = name + SIDE
            found[there] = WindowsControl(there, _runner(name, place, stack))
        yield found


def is_of_windows(spec: Spec) -> bool:
    """Whether a spec wants nothing and only says how a Windows is reached, as `remedy` makes it."""
    return isinstance(spec, HostsOnly) and (
        bool(spec.hosts)
        and all(isinstance(parse_destination(h.reach), WindowsHost) for h in spec.hosts.values())
    )


@contextmanager
def windows_controls(spec: Spec) -> Iterator[dict[str, PosixControl]]:
    """Give control of Windows hosts, whether or not there is a WSL on them."""
    with ExitStack() as stack:
        yield {
            name: WindowsControl(name, _runner(name, parse_destination(host.reach), stack))
            for name, host in spec.hosts.items()
        }


def wsl_facts(spec: Spec, controls: Mapping[str, PosixControl]) -> dict[str, HostFacts]:
    """Read both sides of every host, by its Linux, many at once."""

    def look(name: str) -> HostFacts:
        capture, _ = controls[name].look(collector_script(), [])
        return HostFacts(spec.hosts[name].reach, capture)

    return on_each(spec.hosts, look)


def _runner(name: str, place: Destination, stack: ExitStack) -> Runner:
    runner = runner_at(place, stack)
    if runner is not None:
        return runner
    raise InputError(
        "spec.not_a_host",
        where=name,
        found=f"{place.text} is a file",
        so="there is nothing to change",
        next="name a machine with WSL 2: `here` within it, winssh://USER@HOST, winrm://USER@HOST",
    )
