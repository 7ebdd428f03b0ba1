"""A host's card as the other end of a switch's cable: a netdev, or an adapter of Windows."""

from wirespeed.facts.link import Links
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import CannotTellError, Known, Observed, Unreadable
from wirespeed.platforms.switch.cable_proof import CardEnd
from wirespeed.platforms.switch.facts.switchport_pairs import mac_of, own_name
from wirespeed.platforms.windows.facts.windows_adapters import WindowsAdapters
from wirespeed.platforms.windows.facts.windows_host import has_windows_side


def card_end_of(facts: HostFacts, name: str) -> CardEnd | None:
    """Give what a switch may hear of a netdev, or of an adapter of Windows; None: no such port."""
    if has_windows_side(facts.capture) and (found := _adapter(facts, name)) is not None:
        return found
    link = facts[Links].by_netdev.get(name)
    if link is None:
        return None
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
