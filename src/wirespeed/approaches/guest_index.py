"""Which guests a host has, and a network: found once for a spec, asked for by every host. Pure."""

from dataclasses import dataclass
from functools import lru_cache

from wirespeed.model.spec.guests import GuestSpec
from wirespeed.model.spec.spec import Spec


@dataclass(frozen=True, slots=True)
class GuestIndex:
    """Names of guests in the order of the spec."""

    by_host: dict[str, tuple[str, ...]]
    by_network: dict[str, tuple[str, ...]]
    places: dict[tuple[str, str], int]
    """Place of a guest among those of its network, from 0: by network and guest."""


def guest_index(spec: Spec) -> GuestIndex:
    """Give the index of a spec."""
    return _index(_Same(spec.guests))


class _Same:
    """The very same guests: for a thousand hosts, to compare them costs what it is to save."""

    def __init__(self, guests: dict[str, GuestSpec]) -> None:
        self.guests = guests

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.guests is other.guests

    def __hash__(self) -> int:
        return id(self.guests)


@lru_cache(maxsize=1)
def _index(same: _Same) -> GuestIndex:
    by_host: dict[str, list[str]] = {}
    by_network: dict[str, list[str]] = {}
    places: dict[tuple[str, str], int] = {}
    for name, guest in same.guests.items():
        by_host.setdefault(guest.host, []).append(name)
        for network in guest.networks:
            members = by_network.setdefault(network, [])
            places[network, name] = len(members)
            members.append(name)
    return GuestIndex(
        {host: tuple(names) for host, names in by_host.items()},
        {network: tuple(names) for network, names in by_network.items()},
        places,
    )
