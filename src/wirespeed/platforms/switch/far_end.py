"""A switch as a user names it, and a host's capture with the sections of the one at its far end."""

import re
from dataclasses import replace

from wirespeed.host.reach_destination import Recorded, SwitchHost, parse_destination
from wirespeed.model.capture import HEADER, MAX_PREAMBLE_CHARACTERS, parse_capture
from wirespeed.model.error import InputError
from wirespeed.model.names import NETDEV
from wirespeed.model.shown import shown
from wirespeed.platforms.windows.facts.windows_adapters import MAX_NAME


def with_far_end(host: str, switch: str) -> str:
    """Give one capture of both: the switch's sections under the host's mark.

    Raises InputError `capture.*` where one of them is none. A capture that was cut off stays so.
    """
    for text, name in ((host, "the host"), (switch, "the far end")):
        parse_capture(text, name)
    ours, theirs = _mark(host), _mark(switch)
    body = switch[theirs.end() :].replace("\r\n", "\n")
    body = re.sub(rf"^{re.escape(theirs[2])} done\s*\Z", "", body, flags=re.M)
    body = re.sub(rf"^{re.escape(theirs[2])} ", f"{ours[2]} ", body, flags=re.M)
    # Before the host's own sections: what was cut off at its end is still seen to be.
    at = ours.end()
    return host[:at] + body + host[at:]


def _mark(text: str) -> re.Match[str]:
    found = HEADER.search(text[:MAX_PREAMBLE_CHARACTERS])
    if found is None:
        raise AssertionError("it was parsed as a capture")
    return found


def switchport_place(text: str) -> SwitchHost:
    """Read `switch+KIND://HOST/PORT`. Raises InputError `link.switch`."""
    place = parse_destination(text)
    if not isinstance(place, SwitchHost) or not place.switchport:
        raise InputError(
            "link.switch",
            where=shown(text, 80),
            found="not a switch port",
            next="write it as in switch+dell_os6://admin@sw1/Te1/0/1",
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
        found="neither a switch port nor the capture of a switch",
        next="write it as in --far-end eth0=switch+dell_os6://admin@sw1/Te1/0/1; without `eth0=` "
        "and port, LLDP tells which netdev is plugged in where",
    )


def _is_name(netdev: str) -> bool:
    """Tell whether it is a netdev, or may be an adapter of Windows: `NIC 1`."""
    if NETDEV.fullmatch(netdev):
        return True
    is_plain = netdev.isprintable() and netdev == netdev.strip() and not netdev.startswith("-")
    return 0 < len(netdev) <= MAX_NAME and is_plain
