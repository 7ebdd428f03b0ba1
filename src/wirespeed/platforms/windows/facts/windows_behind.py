"""Which card of Windows carries what an adapter of WSL sends. Pure."""

from wirespeed.facts.netstack import NetStack
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import CannotTellError, Known
from wirespeed.platforms.windows.facts.windows_adapters import WindowsAdapter, WindowsAdapters
from wirespeed.platforms.windows.facts.windows_addresses import WindowsAddresses
from wirespeed.platforms.windows.facts.windows_host import has_windows_side
from wirespeed.platforms.windows.facts.windows_switches import VirtualSwitch, WindowsSwitches
from wirespeed.platforms.windows.facts.windows_teams import WindowsTeams
from wirespeed.platforms.windows.facts.windows_wslconfig import WslConfig

NOMINAL_BPS = 10 * 10**9
"""What an adapter of an internal switch reports, whatever the cards of the machine can do."""


def fast_cards(host: HostFacts) -> tuple[WindowsAdapter, ...]:
    """Give the cards that are up and faster than an internal switch; CannotTellError as facts."""
    return tuple(
        card
        for card in host[WindowsAdapters].cards()
        if card.is_up and (card.shown_bps or 0) > NOMINAL_BPS
    )


def receiving_cards(host: HostFacts) -> tuple[WindowsAdapter, ...]:
    """Give the cards that are up at 10 Gb/s or more: what RSS is for; CannotTellError as facts."""
    return tuple(
        card
        for card in host[WindowsAdapters].cards()
        if card.is_up and (card.shown_bps or 0) >= NOMINAL_BPS
    )


def is_below_switch(host: HostFacts, card: WindowsAdapter) -> bool:
    """Whether a card carries a switch of Hyper-V, as far as that is known.

    RSS of such a card is switched off as soon as the switch takes it, and VMQ spreads the frames
    (`Mastering Windows Server 2016 Hyper-V`, chapter 3).
    """
    switches = host[WindowsSwitches].all
    return any(
        card in cards_of_switch(host, switch)
        for switch in (switches.value if isinstance(switches, Known) else ())
    )


def card_of_switch(host: HostFacts, switch: VirtualSwitch) -> WindowsAdapter | None:
    """Give the first card that a switch is bound to; None where it is bound to none."""
    if not switch.reaches_a_card:
        return None
    for adapter in host[WindowsAdapters].known():
        if adapter.guid in switch.card_guids or (
            not switch.card_guids and adapter.description in switch.card_descriptions
        ):
            return adapter
    return None


def cards_of_switch(host: HostFacts, switch: VirtualSwitch) -> tuple[WindowsAdapter, ...]:
    """Give all that carry a switch: of a team, within it or of Windows itself, every member."""
    if not switch.reaches_a_card:
        return ()
    all_ = host[WindowsAdapters].known()
    bound = [
        one
        for one in all_
        if one.guid in switch.card_guids
        or (not switch.card_guids and one.description in switch.card_descriptions)
    ]
    teams = host[WindowsTeams].lbfo
    names = {one.name for one in bound}
    members = {
        name
        for team in (teams.value if isinstance(teams, Known) else ())
        if team.name in names
        for name in team.members
    }
    return (*bound, *(one for one in all_ if one.name in members and one not in bound))


def card_behind(host: HostFacts, netdev: str) -> WindowsAdapter | None:
    """Give the card that a netdev of WSL goes by, as far as both sides tell; None where not.

    In mirrored mode the netdev has the addresses of an adapter of Windows: of the card, or of the
    host's own on a switch that is bound to it. In bridged mode .wslconfig names the switch.
    """
    if not has_windows_side(host.capture):
        return None
    try:
        adapter = _mirrored(host, netdev)
        switches = host[WindowsSwitches].all
    except CannotTellError:
        return None
    if adapter is not None and adapter.is_card:
        return adapter
    found = switches.value if isinstance(switches, Known) else ()
    if adapter is not None and adapter.is_of_switch:
        name = switch_of(host, adapter)
    else:
        name = host[WslConfig].setting("wsl2.vmswitch")
    for switch in found:
        if switch.name == name:
            return card_of_switch(host, switch)
    return None


def _mirrored(host: HostFacts, netdev: str) -> WindowsAdapter | None:
    links = host[NetStack].links
    link = links.value.get(netdev) if isinstance(links, Known) else None
    if link is None or not isinstance(link.addresses, Known):
        return None
    ours = {str(address.ip) for address in link.addresses.value}
    theirs = host[WindowsAddresses].by_index
    if not isinstance(theirs, Known):
        return None
    for adapter in host[WindowsAdapters].known():
        if ours & set(theirs.value.get(adapter.index, ())):
            return adapter
    return None


def switch_of(host: HostFacts, adapter: WindowsAdapter) -> str | None:
    """Give the name of the switch that the host's own adapter hangs on; None: it is not known."""
    adapters = host[WindowsSwitches].adapters
    for one in adapters.value if isinstance(adapters, Known) else ():
        if one.is_of_host and one.mac and one.mac == adapter.mac:
            return one.switch_name
    return None
