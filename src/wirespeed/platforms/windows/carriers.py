"""Which adapters of a Windows it is reached by: what takes them down may cut the user off. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from ipaddress import ip_address

from wirespeed.facts.routes import Routes
from wirespeed.facts.session import Session
from wirespeed.model.command import Command
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import CannotTellError, Known, known, value_or_none
from wirespeed.model.powershell import exactly
from wirespeed.platforms.windows.facts.windows_adapters import WindowsAdapter, WindowsAdapters
from wirespeed.platforms.windows.facts.windows_addresses import ADDRESSES_SOURCE, WindowsAddresses
from wirespeed.platforms.windows.facts.windows_behind import card_behind, switch_of
from wirespeed.platforms.windows.facts.windows_sessions import SOURCE as SESSIONS_SOURCE
from wirespeed.platforms.windows.facts.windows_sessions import WindowsSessions
from wirespeed.platforms.windows.facts.windows_switches import WindowsSwitches
from wirespeed.platforms.windows.facts.windows_teams import WindowsTeams


def windows_carriers(host: HostFacts) -> dict[str, str]:
    """Adapters that carry a session or a default route, by name and by description.

    With a virtual switch or a team come the cards below it, and the switch's own name. Raises
    CannotTellError where addresses, routes or sessions are not known.
    """
    found: dict[str, str] = {}
    for adapter, what in _carrying(host):
        for one in (adapter, *_below(host, adapter)):
            for name in filter(None, (one.name, one.description)):
                found[name] = what
            if one.is_of_switch and (switch := switch_of(host, one)):
                found[switch] = what
    return found


def windows_carried(host: HostFacts, commands: Sequence[Command]) -> Iterator[tuple[str, str]]:
    """Give those of them that these commands name. Raises CannotTellError, as they do."""
    carried = windows_carriers(host)
    named = named_in(commands, carried)
    return ((name, what) for name, what in carried.items() if name in named)


def named_in(commands: Iterable[Command], names: Iterable[str]) -> set[str]:
    """Give those of `names` that a command names; with wildcards in them they are escaped there."""
    words = {word for command in commands for word in command.argv}
    return {name for name in names if name in words or exactly(name) in words}


def _carrying(host: HostFacts) -> Iterator[tuple[WindowsAdapter, str]]:
    adapters = {a.index: a for a in host[WindowsAdapters].known()}
    addresses = host[WindowsAddresses]
    by_index = known(addresses.by_index, "the addresses of Windows' adapters")
    for index in known(addresses.default_routes, "the default routes of Windows"):
        if index in adapters:
            yield adapters[index], "the default route"
    for local in known(host[WindowsSessions].local_addresses, "who is logged in to Windows"):
        if _is_loopback(local):
            continue
        found = [
            adapters[index]
            for index, mine in by_index.items()
            if index in adapters and local in {one.partition("%")[0] for one in mine}
        ]
        if not found:
            raise CannotTellError("no adapter has the address of a session", ADDRESSES_SOURCE)
        for adapter in found:
            yield adapter, "a session"
    yield from ((adapter, "your session") for adapter in _by_wsl(host))


def _by_wsl(host: HostFacts) -> Iterator[WindowsAdapter]:
    """Give the cards that a session with WSL's own Linux goes by, where there is one."""
    if host.capture.section("session") is None:
        return
    peer = value_or_none(host[Session].peer)
    if peer is None:
        return
    for netdev in host[Routes].route_to(peer).value.netdevs:
        card = card_behind(host, netdev)
        if card is None:
            raise CannotTellError(
                f"your session with WSL goes by its {netdev}, and by which card of Windows is not "
                "known",
                SESSIONS_SOURCE,
            )
        yield card


def _below(host: HostFacts, adapter: WindowsAdapter) -> Iterator[WindowsAdapter]:
    """Give what carries the frames of a virtual adapter: cards of its switch, or of its team."""
    guids: set[str] = set()
    names: set[str] = set()
    switches = host[WindowsSwitches].all
    name = switch_of(host, adapter) if adapter.is_of_switch else None
    for switch in switches.value if isinstance(switches, Known) else ():
        if name is not None and switch.name == name:
            guids |= set(switch.card_guids)
            names |= set(switch.card_descriptions)
    if adapter.is_of_switch and name is None:
        raise CannotTellError(
            f"on which switch {adapter.name[:60]!r} is is not known", "Get-VMNetworkAdapter -All"
        )
    teams = host[WindowsTeams].lbfo
    for team in teams.value if isinstance(teams, Known) else ():
        if team.name == adapter.name:
            names |= set(team.members)
    for one in host[WindowsAdapters].known():
        if one.index != adapter.index and (
            one.guid in guids or one.name in names or one.description in names
        ):
            yield one
            yield from _below(host, one)


def _is_loopback(address: str) -> bool:
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return False
