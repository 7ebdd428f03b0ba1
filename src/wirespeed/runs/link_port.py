"""What both ends of a cable say of whether it is one, before a port of a switch is changed."""

from wirespeed.facts.link import Links
from wirespeed.host.capture_request import Captured
from wirespeed.host.reach_destination import SwitchHost
from wirespeed.model.capture import parse_capture
from wirespeed.model.error import InputError
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import CannotTellError, Known, Observed, Unreadable
from wirespeed.model.shown import shown
from wirespeed.platforms.switch.cable_proof import CardEnd, PortMatch, port_match
from wirespeed.platforms.switch.facts.switchport import Switches
from wirespeed.platforms.switch.facts.switchport_pairs import mac_of, own_name
from wirespeed.platforms.windows.facts.windows_adapters import WindowsAdapters
from wirespeed.platforms.windows.facts.windows_host import has_windows_side
from wirespeed.runs.captures import collect
from wirespeed.runs.plan_hosts import require_whole


def port_proof(facts: HostFacts, name: str, place: SwitchHost) -> PortMatch:
    """Read the switch, and compare its port with the card. Raises what it is not reached for."""
    (captured,) = collect([place])
    if not isinstance(captured, Captured):
        raise captured.error
    capture = parse_capture(captured.text, place.host)
    require_whole(place.text, capture)
    switches = Switches.parse(capture).by_name
    return port_match(card_end_of(facts, name), next(iter(switches.values())), place.switchport)


def card_end_of(facts: HostFacts, name: str) -> CardEnd:
    """Give what a switch may hear of a netdev, or of an adapter of Windows.

    Raises InputError `link.netdev` where the host has none of that name.
    """
    if has_windows_side(facts.capture) and (found := _adapter(facts, name)) is not None:
        return found
    link = facts[Links].by_netdev.get(name)
    if link is None:
        raise InputError(
            "link.netdev",
            where=f"{shown(name, 40)} of {facts.name}",
            found="it has no such port",
            next="name one that `ls /sys/class/net` shows, or that Get-NetAdapter lists",
        )
    mac = mac_of(facts, name)
    return CardEnd(name, (mac,) if mac else (), link.is_up, link.link_bps, own_name(facts))


def _adapter(facts: HostFacts, name: str) -> CardEnd | None:
    try:
        cards = facts[WindowsAdapters].cards()
    except CannotTellError:
        return None
    for card in cards:
        if card.name == name:
            status = card.status
            is_up: Observed[bool] = Unreadable("its status is not known", "Get-NetAdapter")
            if isinstance(status, Known):
                is_up = Known(card.is_up, status.source)
            own = own_name(facts)
            return CardEnd(name, (card.mac,) if card.mac else (), is_up, card.link_bps, own)
    return None
