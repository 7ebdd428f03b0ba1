"""What changed between two answers about a fleet. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from wirespeed.fleet.records import HostState


@dataclass(frozen=True, slots=True)
class HostThen:
    """A host as one answer has it."""

    state: HostState
    what: str
    rules: frozenset[str]
    """Of its findings above a note."""
    profile: str


@dataclass(frozen=True, slots=True)
class Then:
    """An answer, as far as it is compared."""

    at: str
    hosts: Mapping[str, HostThen]
    settings: Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Changed:
    """One change, and the hosts that it is of."""

    what: str
    hosts: tuple[str, ...]


def changes(before: Then, after: Then) -> tuple[Changed, ...]:
    """Give what changed, by number of hosts: hosts, states, findings, settings."""
    found: dict[str, list[str]] = {}
    for name in sorted(before.hosts.keys() | after.hosts.keys()):
        for what in _of_host(before, after, name):
            found.setdefault(what, []).append(name)
    rows = [Changed(what, tuple(hosts)) for what, hosts in found.items()]
    return tuple(sorted(rows, key=lambda row: (-len(row.hosts), row.what)))


def _of_host(before: Then, after: Then, name: str) -> Iterator[str]:
    was, now = before.hosts.get(name), after.hosts.get(name)
    if was is None or now is None:
        yield "new in the fleet" if was is None else "gone from the fleet"
        return
    if was.state is not now.state:
        yield f"{was.state} -> {now.state}"
    if not (was.profile and now.profile):
        # Of one without an answer nothing else is known.
        return
    for rule in sorted(now.rules - was.rules):
        yield f"finding {rule}: new"
    for rule in sorted(was.rules - now.rules):
        yield f"finding {rule}: gone"
    if was.profile != now.profile:
        old, new = before.settings[was.profile], after.settings[now.profile]
        for setting in sorted(old.keys() & new.keys()):
            if old[setting] != new[setting]:
                yield f"{setting}: {old[setting]} -> {new[setting]}"
