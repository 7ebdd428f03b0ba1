"""What both ends of a cable say of whether it is one, before a port of a switch is changed."""

from wirespeed.host.capture_request import Captured
from wirespeed.host.reach_destination import SwitchHost
from wirespeed.model.capture import parse_capture
from wirespeed.model.error import InputError
from wirespeed.model.fact import HostFacts
from wirespeed.model.shown import shown
from wirespeed.platforms.switch.cable_proof import PortMatch, port_match
from wirespeed.platforms.switch.card_end import card_end_of
from wirespeed.platforms.switch.facts.switchport import Switches
from wirespeed.runs.captures import collect
from wirespeed.runs.plan_hosts import require_whole


def port_proof(facts: HostFacts, name: str, place: SwitchHost) -> PortMatch:
    """Read the switch, and compare its port with the card.

    Raises InputError `link.netdev` where the host has no such port, and what the switch is not
    reached for.
    """
    (captured,) = collect([place])
    if not isinstance(captured, Captured):
        raise captured.error
    capture = parse_capture(captured.text, place.host)
    require_whole(place.text, capture)
    card = card_end_of(facts, name)
    if card is None:
        raise InputError(
            "link.netdev",
            where=f"{shown(name, 40)} of {facts.name}",
            found="the host has no port of that name",
            next="give a name that `ls /sys/class/net` (Linux) or Get-NetAdapter (Windows) lists",
        )
    switches = Switches.parse(capture).by_name
    return port_match(card, next(iter(switches.values())), place.switchport)
