"""Which places have to do with each other, and findings that say the same of several. Pure."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from wirespeed.catalog import platforms
from wirespeed.facts.bonds import Bonds
from wirespeed.facts.netstack import NetStack
from wirespeed.facts.ovs import Ovs
from wirespeed.model.fact import HostFacts
from wirespeed.model.finding import Finding
from wirespeed.model.observed import Known
from wirespeed.model.port import Port

ADDRESS = re.compile(r"\b[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]\b")
NUMBER = re.compile(r"\d[\d.,]*")


@dataclass(frozen=True, slots=True)
class Places:
    """What findings of one host are about. A name that is not listed is the host as a whole."""

    parts: Mapping[str, frozenset[str]]
    """Netdev, bond, bridge or port of Open vSwitch to itself and every port that it is made of."""
    others: frozenset[str] = frozenset()
    """Adapters of the system below: what a virtual port of this one may stand on."""

    def concern(self, one: str, other: str) -> bool:
        """Tell whether a condition at one place can be the reason of one at the other."""
        first, second = self._parts(one), self._parts(other)
        if not first or not second:
            return True
        is_below = bool(first & self.others), bool(second & self.others)
        return is_below[0] != is_below[1] or bool(first & second)

    def _parts(self, place: str) -> frozenset[str]:
        """Several places may be named at once: `p0, p1`."""
        named = [self.parts.get(name, frozenset()) for name in place.split(", ")]
        return frozenset().union(*named) if all(named) else frozenset()


def places_of(host: HostFacts, ports: tuple[Port, ...]) -> Places:
    """Read them from the stack of netdevs, the bonds, and the system below."""
    parts: dict[str, frozenset[str]] = {port.name: frozenset({port.name}) for port in ports}
    stack = host[NetStack]
    links = stack.links.value if isinstance(stack.links, Known) else {}
    for name in links:
        parts[name] = stack.ports_below(name)
    for name, members in _bonds(host):
        below = frozenset().union(*(parts.get(one, {one}) for one in members))
        parts[name] = parts.get(name, frozenset({name})) | below
    others = frozenset(name for platform in platforms() for name in platform.ports(host))
    return Places({**{name: frozenset({name}) for name in others}, **parts}, others)


def _bonds(host: HostFacts) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each bond with its members: the kernel's as its driver lists them, and Open vSwitch's."""
    for bond in host[Bonds].bonds.values():
        if isinstance(bond, Known):
            yield bond.value.netdev, tuple(member.netdev for member in bond.value.members)
    for port in host[Ovs].ports.values():
        yield port.name, port.interfaces


def alike(findings: Sequence[Finding]) -> list[tuple[int, ...]]:
    """Give the places in `findings` of each that is told once, in the order of the first ones.

    They have one rule, one severity, and the same words but for names and numbers.
    """
    groups: dict[tuple[str, ...], list[int]] = {}
    for number, finding in enumerate(findings):
        texts = (finding.so, *(remedy.text for remedy in finding.remedies))
        words = (_without_names(text, finding.where) for text in texts)
        key = (finding.rule, finding.severity.value, *words)
        groups.setdefault(key, []).append(number)
    return [tuple(numbers) for numbers in groups.values()]


def _without_names(text: str, where: str) -> str:
    for name in where.split(", "):
        text = text.replace(name, "*")
    return NUMBER.sub("#", ADDRESS.sub("*", text))
