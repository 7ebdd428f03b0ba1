"""The hosts of a spec, reached: their facts, and what changes them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from wirespeed.apply.control import HostControl
from wirespeed.apply.control_posix import PosixControl
from wirespeed.apply.spec_file import parse_spec
from wirespeed.apply.spec_yaml import MAX_BYTES
from wirespeed.host.files import read_limited_text
from wirespeed.host.reach_destination import (
    HERE,
    Destination,
    Here,
    Recorded,
    parse_destination,
)
from wirespeed.host.runner import Runner
from wirespeed.model.error import InputError
from wirespeed.model.fact import HostFacts
from wirespeed.model.spec.members import read_spec_data
from wirespeed.model.spec.spec import Spec
from wirespeed.platforms.access import access_for, route_to
from wirespeed.runs.access import control_by, runner_at
from wirespeed.runs.captures import Gathered, gather
from wirespeed.runs.guest_machines import guest_controls, guest_runners, with_guest_keys
from wirespeed.runs.plan_hosts import require_whole
from wirespeed.runs.recorded_hosts import Either, RecordedControls, RecordedFacts

NO_PORT = "0000:00:00.0"
"""Where no port is asked for: a spec has to name one."""


def read_spec(path: Path) -> Spec:
    """Read a spec's file. Raises InputError `spec.*`, `file.unreadable`."""
    return with_guest_keys(parse_spec(read_limited_text(path, MAX_BYTES), str(path)))


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
    own = access_for(spec)
    if own is not None and own.controls is not None:
        with own.controls(spec) as sides:
            yield sides
        return
    with runners_of(spec) as runners:
        yield controls_by(spec, runners)


def controls_by(spec: Spec, runners: Mapping[str, Runner]) -> dict[str, PosixControl]:
    """Give control of every host and virtual machine, by what runs commands there."""
    hosts = {
        name: control_by(name, parse_destination(host.reach), runners[name])
        for name, host in spec.hosts.items()
    }
    guests = {name: runner for name, runner in runners.items() if name not in hosts}
    return hosts | guest_controls(guests)


@contextmanager
def runners_of(spec: Spec) -> Iterator[dict[str, Runner]]:
    """Give what runs commands on every host and in every virtual machine of theirs.

    Raises InputError `spec.not_a_host` for a recorded one, `spec.windows_host`, `spec.esxi_host`.
    """
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
        own = access_for(spec)
        read = own.facts if own is not None else None
        yield (
            Either(facts_of(live) if read is None else read(live, controls), facts),
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
        name: _runner(name, parse_destination(host.reach), stack, spec)
        for name, host in spec.hosts.items()
    }


def _runner(name: str, place: Destination, stack: ExitStack, spec: Spec) -> Runner:
    found = route_to(place)
    if found is not None:
        access, way = found
        if way.instead and spec.approach not in (way.approaches or ()):
            raise InputError(
                f"spec.{access.name.lower()}_host",
                where=name,
                found=f"{place.text} is {access.name}",
                so=f"approach: {spec.approach} is for Linux hosts",
                next=f"use approach: {way.instead}, or the address of a Linux host",
            )
    runner = runner_at(place, stack)
    if runner is not None:
        return runner
    raise InputError(
        "spec.not_a_host",
        where=name,
        found=f"{place.text} is {'a file' if found is None else found[0].name}",
        so="there is nothing to change",
        next="give a host: `here`, or ssh://USER@HOST",
    )


def lone_host(reach: str, ports: Sequence[str] = (NO_PORT,)) -> Spec:
    """Give it; the host is called by what of its name a spec allows."""
    name = re.sub(r"[^a-z0-9]+", "-", reach.rpartition("@")[2].rpartition("/")[2].lower())
    return read_spec_data(
        {
            "hosts": {name.strip("-")[:32].strip("-") or HERE: {"reach": reach, "ports": ports}},
            "approach": "none",
        }
    )
