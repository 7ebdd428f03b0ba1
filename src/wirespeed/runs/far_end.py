"""`--far-end` of the doctor: the switch whose port a netdev's cable is in."""

from collections.abc import Sequence
from dataclasses import replace

from wirespeed.host.capture_request import Captured
from wirespeed.host.reach_destination import Recorded, SwitchHost, parse_destination
from wirespeed.model.error import InputError
from wirespeed.model.names import NETDEV
from wirespeed.model.shown import shown
from wirespeed.platforms.switch.far_end import with_far_end
from wirespeed.platforms.windows.facts.windows_adapters import MAX_NAME
from wirespeed.runs.captures import collect


def with_far_ends(text: str, far_ends: Sequence[str], seconds: int = 0) -> str:
    """Add to a host's capture what its switches say; what is counted twice, `seconds` apart.

    Raises InputError `far_end.invalid`, and what a switch cannot be reached for.
    """
    for far_end in far_ends:
        text = with_far_end(text, _captured(_place(far_end), seconds).text)
    return text


def _place(text: str) -> SwitchHost | Recorded:
    """Read `NETDEV=switch+KIND://HOST/PORT`, a switch alone, or the capture of one."""
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
        found="no port of a switch, and no capture of one",
        next="as in --far-end eth0=switch+dell_os6://admin@sw1/Te1/0/1; without `eth0=` and port, "
        "LLDP shows which netdev is plugged in where",
    )


def _is_name(netdev: str) -> bool:
    """Tell whether it is a netdev, or may be an adapter of Windows: `NIC 1`."""
    if NETDEV.fullmatch(netdev):
        return True
    is_plain = netdev.isprintable() and netdev == netdev.strip() and not netdev.startswith("-")
    return 0 < len(netdev) <= MAX_NAME and is_plain


def _captured(place: SwitchHost | Recorded, seconds: int) -> Captured:
    (captured,) = collect([place], interval_s=seconds)
    if not isinstance(captured, Captured):
        raise captured.error
    return captured
