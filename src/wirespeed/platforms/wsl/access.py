"""Both sides of hosts with WSL 2: `desk` is its Linux, `desk.windows` its Windows.

here, ssh://   the way leads to the Linux; powershell.exe, by WSL's interop, to its Windows
winssh://, winrm://   the way leads to the Windows; wsl.exe to its Linux
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
from wirespeed.model.spec.members import Wsl2
from wirespeed.platforms.access import Access
from wirespeed.platforms.linux.access import ACCESS as LINUX
from wirespeed.platforms.windows.access import ACCESS as WINDOWS
from wirespeed.platforms.windows.control import WindowsControl
from wirespeed.platforms.wsl.approach import SIDE
from wirespeed.platforms.wsl.control import WslControl


@contextmanager
def wsl_controls(spec: Wsl2) -> Iterator[dict[str, PosixControl]]:
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


def wsl_facts(spec: Wsl2, controls: Mapping[str, PosixControl]) -> dict[str, HostFacts]:
    """Read both sides of every host, by its Linux, many at once."""

    def look(name: str) -> HostFacts:
        capture, _ = controls[name].capture(collector_script(), [])
        return HostFacts(spec.hosts[name].reach, capture)

    return on_each(spec.hosts, look)


def _runner(name: str, place: Destination, stack: ExitStack) -> Runner:
    for way in (*LINUX.ways, *WINDOWS.ways):
        if isinstance(place, way.leads_to) and way.runner is not None:
            return way.runner(place, stack)
    raise InputError(
        "spec.not_a_host",
        where=name,
        found=f"{place.text} is neither a Linux nor a Windows host",
        so="there is nothing to change",
        next="give a machine with WSL 2: `here` inside it, winssh://USER@HOST, winrm://USER@HOST",
    )


ACCESS = Access("WSL", spec=Wsl2, controls=wsl_controls, facts=wsl_facts)
