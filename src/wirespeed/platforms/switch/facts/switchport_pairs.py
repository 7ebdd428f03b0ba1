"""Which port of a switch is at the other end of a netdev's cable: as the user said, or by LLDP."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from wirespeed.facts.link import Link, Links
from wirespeed.facts.netstack import NetStack
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import CannotTellError, Known
from wirespeed.model.rule import DoesNotApplyError
from wirespeed.model.switch_kind import SwitchKind
from wirespeed.platforms.switch.facts.switchport import Switches
from wirespeed.platforms.switch.facts.switchport_port import Neighbor, SwitchPort

FAR_END = "wirespeed doctor HOST --far-end NETDEV=switch+KIND://SWITCH/PORT"


@dataclass(frozen=True, slots=True)
class Pair:
    """Both ends of a cable."""

    link: Link
    """The host's end."""
    switch: str
    kind: SwitchKind
    port: SwitchPort
    is_named: bool
    """The user said what is plugged in where; else the switch reports it by LLDP."""

    @property
    def netdev(self) -> str:
        """Name of the host's end."""
        return self.link.netdev

    @property
    def place(self) -> str:
        """Name of the switch's end."""
        return f"{self.port.name} of {self.switch}"


def pairs(host: HostFacts) -> tuple[Pair, ...]:
    """Give all that are known, one for a netdev: the user's word before what is heard.

    Raises DoesNotApplyError where the capture has not both ends, CannotTellError where nobody can
    tell what is plugged in where.
    """
    switches = host[Switches].by_name
    if not switches:
        raise DoesNotApplyError("the capture has no switch: --far-end adds it")
    if host.capture.section("ports") is None:
        raise DoesNotApplyError("the capture has no Linux host beside the switch")
    links = host[Links].by_netdev
    found = {pair.netdev: pair for pair in _heard(host, links)}
    for name, switch in switches.items():
        for netdev, port in switch.cables:
            if netdev in links:
                found[netdev] = Pair(links[netdev], name, switch.kind, switch.port(port), True)
    if not found:
        raise CannotTellError(
            "no port of the switch reports a netdev of this host by LLDP, and no cable is named",
            FAR_END,
        )
    return tuple(found.values())


def hears(neighbor: Neighbor, netdev: str, mac: str) -> bool:
    """Tell by MAC address or name whether the neighbour that LLDP reports is this netdev."""
    words = (neighbor.port, neighbor.port_text)
    return (mac != "" and mac in map(_digits, words)) or any(
        re.search(rf"(?:^|[\s]){re.escape(netdev)}$", word) for word in words
    )


def is_own(neighbor: Neighbor, name: str, macs: Collection[str], host: str) -> bool | None:
    """Tell whether the neighbor of a switch port is this port of this host; None: not known.

    Its address says so, or its name with that of its host: hosts of one make have netdevs of the
    same names. `host` is what the host calls itself, empty where it did not say.
    """
    if any(_digits(word) in macs for word in (neighbor.port, neighbor.port_text) if _digits(word)):
        return True
    if not hears(neighbor, name, ""):
        return False
    theirs, ours = (text.partition(".")[0].lower() for text in (neighbor.system, host))
    if neighbor.system[len(theirs) :] == "..." and ours.startswith(theirs):
        # Dell's tables cut a name to their column: hosts of one rack begin alike.
        return None
    return theirs == ours if theirs and ours else None


def own_name(host: HostFacts) -> str:
    """Give what a host calls itself; empty where it did not say."""
    for name in ("names", "windows-names"):
        said = host.capture.section(name)
        for line in said.output.splitlines() if said is not None else ():
            key, _, value = line.partition(" ")
            if key == "hostname" and value.strip():
                return value.strip()
    return ""


def mac_of(host: HostFacts, netdev: str) -> str:
    """Give the twelve digits of a netdev's MAC address; empty where it is not known."""
    links = host[NetStack].links
    own = links.value.get(netdev) if isinstance(links, Known) else None
    return _digits(own.mac.value) if own is not None and isinstance(own.mac, Known) else ""


def _heard(host: HostFacts, links: dict[str, Link]) -> Iterator[Pair]:
    own = own_name(host)
    for netdev, link in links.items():
        mac = mac_of(host, netdev)
        surely: list[Pair] = []
        perhaps: list[Pair] = []
        for name, switch in host[Switches].by_name.items():
            for port in switch.ports.value if isinstance(switch.ports, Known) else ():
                for neighbor in port.neighbors.value if isinstance(port.neighbors, Known) else ():
                    found = is_own(neighbor, netdev, (mac,) if mac else (), own)
                    if found is not False:
                        pair = Pair(link, name, switch.kind, port, False)
                        (surely if found else perhaps).append(pair)
        # A name alone is taken where only one port reports it.
        yield from surely or (perhaps if len(perhaps) == 1 else ())


def _digits(text: str) -> str:
    digits = re.sub(r"[.:-]", "", text.lower())
    return digits if re.fullmatch(r"[0-9a-f]{12}", digits) else ""
