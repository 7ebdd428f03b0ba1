"""The hosts of a spec, reached: their facts, and what changes them."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from wirespeed.apply.control import HostControl
from wirespeed.apply.control_posix import PosixControl
from wirespeed.apply.spec_file import parse_spec
from wirespeed.host.files import read_text
from wirespeed.host.reach_destination import (
    Destination,
    EsxiHost,
    Here,
    Recorded,
    VsphereHost,
    WindowsHost,
    parse_destination,
)
from wirespeed.host.runner import Runner
from wirespeed.model.error import InputError
from wirespeed.model.fact import HostFacts
from wirespeed.model.spec.members import Esxi, Wsl2
from wirespeed.model.spec.spec import Spec
from wirespeed.runs.access import runner_at
from wirespeed.runs.captures import Gathered, gather
from wirespeed.runs.guest_machines import guest_controls, guest_runners, with_guest_keys
from wirespeed.runs.plan_hosts import require_whole
from wirespeed.runs.recorded_hosts import Either, RecordedControls, RecordedFacts
from wirespeed.runs.wsl_hosts import is_of_windows, windows_controls, wsl_controls, wsl_facts


def read_spec(path: Path) -> Spec:
    """Read a spec's file. Raises InputError `spec.*`, `file.unreadable`."""
    return with_guest_keys(parse_spec(read_text(path), str(path)))


def here_of(spec: Spec) -> set[str]:
    """Give the hosts of a spec that are this machine."""
    return {
        name for name, host in spec.hosts.items() if isinstance(parse_destination(host.reach), Here)
    }


@contextmanager
def controls_of(spec: Spec) -> Iterator[dict[str, PosixControl]]:
    """Give control of every host and virtual machine, each with a connection of its own.

    Raises InputError `spec.not_a_host` for a recorded one.
    """
    if isinstance(spec, Wsl2):
        with wsl_controls(spec) as sides:
            yield sides
        return
    if is_of_windows(spec):
        with windows_controls(spec) as windows:
            yield windows
        return
    if isinstance(spec, Esxi):
        from wirespeed.runs.esxi_hosts import esxi_controls

        with esxi_controls(spec) as hosts:
            yield hosts
        return
    with runners_of(spec) as runners:
        yield controls_by(spec, runners)


def controls_by(spec: Spec, runners: Mapping[str, Runner]) -> dict[str, PosixControl]:
    """Give control of every host and virtual machine, by what runs commands there."""
    hosts = {name: PosixControl(name, runners[name]) for name in spec.hosts}
    guests = {name: runner for name, runner in runners.items() if name not in hosts}
    return hosts | guest_controls(guests)


@contextmanager
def runners_of(spec: Spec) -> Iterator[dict[str, Runner]]:
    """Give what runs commands on every host and in every virtual machine of theirs.

    Raises InputError `spec.not_a_host` for a recorded one.
    """
    if isinstance(spec, Esxi):
        raise InputError(
            "spec.esxi_host",
            where=spec.approach,
            found="guests of ESXi are not measured by wirespeed: it does not run them",
            next="wirespeed plan, apply, undo; then measure within the guest",
        )
    with ExitStack() as stack:
        hosts = _host_runners(spec, stack)
        yield hosts | guest_runners(spec, hosts, stack)


@contextmanager
def readers_of(spec: Spec) -> Iterator[tuple[Mapping[str, HostFacts], Mapping[str, HostControl]]]:
    """Give facts and control of every host to plan by; a recorded one is read when it is asked for.

    Raises the error of the first that cannot be reached.
    """
    places = {name: parse_destination(host.reach) for name, host in spec.hosts.items()}
    recorded = {name: place for name, place in places.items() if isinstance(place, Recorded)}
    hosts = {name: host for name, host in spec.hosts.items() if name not in recorded}
    guests = {name for name, guest in spec.guests.items() if guest.host in recorded}
    live = spec.model_copy(update={"hosts": hosts})
    facts = RecordedFacts(recorded)
    with controls_of(live) as controls:
        is_wsl = isinstance(spec, Wsl2)
        yield (
            Either(wsl_facts(live, controls) if is_wsl else facts_of(live), facts),
            Either(controls, RecordedControls(facts, guests) if recorded else {}),
        )


def facts_of(spec: Spec) -> dict[str, HostFacts]:
    """Read every host, many at once. Raises the error of the first that cannot be reached."""
    places = {name: parse_destination(host.reach) for name, host in spec.hosts.items()}
    facts: dict[Destination, HostFacts] = {}
    with closing(gather(list(dict.fromkeys(places.values())))) as results:
        for gathered in results:
            if not isinstance(gathered, Gathered):
                raise gathered.error
            require_whole(gathered.destination.text, gathered.facts.capture)
            facts[gathered.destination] = gathered.facts
    return {name: facts[place] for name, place in places.items()}


def _host_runners(spec: Spec, stack: ExitStack) -> dict[str, Runner]:
    return {
        name: _runner(name, parse_destination(host.reach), stack)
        for name, host in spec.hosts.items()
    }


def _runner(name: str, place: Destination, stack: ExitStack) -> Runner:
    if isinstance(place, WindowsHost):
        raise InputError(
            "spec.windows_host",
            where=name,
            found=f"{place.text} is Windows",
            so="this approach is for Linux hosts",
            next=f"approach: {'wsl2'}, or the address of a Linux host",
        )
    if isinstance(place, EsxiHost | VsphereHost):
        raise InputError(
            "spec.esxi_host",
            where=name,
            found=f"{place.text} is ESXi",
            so="this approach is for Linux hosts",
            next=f"approach: {'esxi'}, or the address of a Linux host",
        )
    runner = runner_at(place, stack)
    if runner is not None:
        return runner
    raise InputError(
        "spec.not_a_host",
        where=name,
        found=f"{place.text} is a file",
        so="there is nothing to change",
        next="name a host: `here`, or ssh://USER@HOST",
    )
