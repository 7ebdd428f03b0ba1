"""The host's end of each cable to a switch, of Linux or of Windows: what both tell alike."""

from collections.abc import Iterator
from dataclasses import dataclass

from wirespeed.facts.netstack import NetStack
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import CannotTellError, Known, Observed, Unreadable
from wirespeed.model.rule import DoesNotApplyError
from wirespeed.platforms.switch.facts.switchport import Switches
from wirespeed.platforms.switch.facts.switchport_pairs import mac_of, own_name, pairs
from wirespeed.platforms.switch.facts.switchport_port import SwitchPort
from wirespeed.platforms.switch.facts.windows_far_end import windows_pairs
from wirespeed.platforms.windows.facts.windows_host import has_windows_side


@dataclass(frozen=True, slots=True)
class CableEnd:
    """What a host's port and a switch's port are to each other."""

    name: str
    """Netdev, or adapter of Windows."""
    mac: str
    """Twelve digits; empty where it is not known."""
    mtu: Observed[int]
    place: str
    """Name of the switch's end."""
    port: SwitchPort
    host: str
    """What the host calls itself; empty where it did not say."""
    is_named: bool
    """The user said what is plugged in where; else the switch reports it by LLDP."""


def cable_ends(host: HostFacts) -> tuple[CableEnd, ...]:
    """Give all that are known. Raises as `pairs` does."""
    if not host[Switches].by_name or not has_windows_side(host.capture):
        return tuple(_linux(host))
    found: list[CableEnd] = []
    unknown: CannotTellError | DoesNotApplyError | None = None
    for side in (_linux, _windows):
        try:
            found += side(host)
        except (CannotTellError, DoesNotApplyError) as error:
            unknown = error
    if not found and unknown is not None:
        raise unknown
    return tuple(found)


def _linux(host: HostFacts) -> Iterator[CableEnd]:
    links = host[NetStack].links
    for pair in pairs(host):
        own = links.value.get(pair.netdev) if isinstance(links, Known) else None
        unread = Unreadable("the MTU was not read", f"ip link show {pair.netdev}")
        yield CableEnd(
            name=pair.netdev,
            mac=mac_of(host, pair.netdev),
            mtu=own.mtu if own is not None else unread,
            place=pair.place,
            port=pair.port,
            host=own_name(host),
            is_named=pair.is_named,
        )


def _windows(host: HostFacts) -> Iterator[CableEnd]:
    named = {name for switch in host[Switches].by_name.values() for name, _ in switch.cables}
    for pair in windows_pairs(host):
        card = pair.adapter
        yield CableEnd(
            name=card.name,
            mac=card.mac,
            mtu=card.mtu_bytes,
            place=pair.place,
            port=pair.port,
            host=own_name(host),
            is_named=card.name in named,
        )
