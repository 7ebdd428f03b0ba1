"""Which port of a switch is at the other end of a card of Windows: as said, or by LLDP. Pure."""

from dataclasses import dataclass

from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import CannotTellError, Known
from wirespeed.model.rule import DoesNotApplyError
from wirespeed.platforms.switch.facts.switchport import Switches
from wirespeed.platforms.switch.facts.switchport_pairs import is_own, own_name
from wirespeed.platforms.switch.facts.switchport_port import SwitchPort
from wirespeed.platforms.windows.facts.windows_adapters import WindowsAdapter, WindowsAdapters
from wirespeed.platforms.windows.facts.windows_host import require_windows

FAR_END = "wirespeed doctor HOST --far-end 'ADAPTER=switch+KIND://SWITCH/PORT'"


@dataclass(frozen=True, slots=True)
class WindowsPair:
    """Both ends of a cable."""

    adapter: WindowsAdapter
    switch: str
    port: SwitchPort

    @property
    def place(self) -> str:
        """Name of the switch's end."""
        return f"{self.port.name} of {self.switch}"


def windows_pairs(host: HostFacts) -> tuple[WindowsPair, ...]:
    """Give all that are known, one for an adapter: the user's word before what is heard.

    Raises DoesNotApplyError where the capture has not both ends, CannotTellError where nobody can
    tell what is plugged in where.
    """
    switches = host[Switches].by_name
    if not switches:
        raise DoesNotApplyError("the capture has no switch: --far-end adds it")
    require_windows(host)
    cards = {card.name: card for card in host[WindowsAdapters].cards()}
    found: dict[str, WindowsPair] = {}
    for name, switch in switches.items():
        for port in switch.ports.value if isinstance(switch.ports, Known) else ():
            for neighbor in port.neighbors.value if isinstance(port.neighbors, Known) else ():
                for card in cards.values():
                    macs = (card.mac,) if card.mac else ()
                    if is_own(neighbor, card.name, macs, own_name(host)):
                        found[card.name] = WindowsPair(card, name, port)
    for name, switch in switches.items():
        for adapter, port_name in switch.cables:
            if adapter in cards:
                found[adapter] = WindowsPair(cards[adapter], name, switch.port(port_name))
    if not found:
        raise CannotTellError(
            "no port of the switch reports a card of this Windows by LLDP, and no cable is named",
            FAR_END,
        )
    return tuple(found.values())
