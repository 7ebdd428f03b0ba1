"""A switch as a user names it: one of its ports, and what is plugged in there."""

from dataclasses import replace

from wirespeed.host.reach_destination import Recorded, SwitchHost, parse_destination
from wirespeed.model.error import InputError
from wirespeed.model.names import NETDEV
from wirespeed.model.shown import shown
from wirespeed.platforms.windows.facts.windows_adapters import MAX_NAME


def switchport_place(text: str) -> SwitchHost:
    """Read `switch+KIND://HOST/PORT`. Raises InputError `link.switch`."""
    place = parse_destination(text)
    if not isinstance(place, SwitchHost) or not place.switchport:
        raise InputError(
            "link.switch",
            where=shown(text, 80),
            found="not the port of a switch",
            next="as in switch+dell_os6://admin@sw1/Te1/0/1",
        )
    return place


def far_end_place(text: str) -> SwitchHost | Recorded:
    """Read `NETDEV=switch+KIND://HOST/PORT`, a switch alone, or the capture of one.

    Raises InputError `far_end.invalid`.
    """
    netdev, is_cable, rest = text.partition("=")
    place = parse_destination(rest if is_cable else text)
    if isinstance(place, SwitchHost):
        if not is_cable:
            return place
        if _is_name(netdev) and place.switchport:
            return replace(place, netdev=netdev)
    elif isinstance(place, Recorded) and not is_cable:
        return place
    raise InputError(
        "far_end.invalid",
        where=shown(text, 100),
        found="neither the port of a switch nor the capture of one",
        next="as in --far-end eth0=switch+dell_os6://admin@sw1/Te1/0/1; without `eth0=` and port, "
        "LLDP shows which netdev is plugged in where",
    )


def _is_name(netdev: str) -> bool:
    """Tell whether it is a netdev, or may be an adapter of Windows: `NIC 1`."""
    if NETDEV.fullmatch(netdev):
        return True
    is_plain = netdev.isprintable() and netdev == netdev.strip() and not netdev.startswith("-")
    return 0 < len(netdev) <= MAX_NAME and is_plain
