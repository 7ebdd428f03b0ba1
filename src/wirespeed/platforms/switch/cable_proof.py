"""Whether a port of a switch is the one that a card is plugged in: a wrong one is somebody else's.

LLDP proves it: the port hears the card. Another neighbour, a card that is heard at another port,
and ends of which one has a link and the other has none contradict it. A link that is down proves
nothing, and then a person has to say so. Pure.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from wirespeed.model.error import InputError
from wirespeed.model.observed import CannotTellError, Known, Observed
from wirespeed.model.shown import shown
from wirespeed.platforms.switch.facts.switchport import Switch
from wirespeed.platforms.switch.facts.switchport_pairs import is_own
from wirespeed.platforms.switch.facts.switchport_port import Neighbor, SwitchPort

T = TypeVar("T")


class Match(StrEnum):
    """What is known of a cable."""

    PROVEN = "proven"
    CONTRADICTED = "contradicted"
    UNKNOWN = "unknown"


SAYING = (Match.PROVEN, Match.UNKNOWN)
"""What one neighbour of several may say of a port, the first before the second."""


@dataclass(frozen=True, slots=True)
class PortMatch:
    """Whether the card is in the port, and what says so."""

    match: Match
    found: str


@dataclass(frozen=True, slots=True)
class CardEnd:
    """How LLDP names a card, and the state of its link."""

    name: str
    macs: Sequence[str]
    """Twelve digits each."""
    is_up: Observed[bool]
    link_bps: Observed[int]
    host: str = ""
    """What the host calls itself: a netdev of the same name is in every host of its make."""


def port_match(card: CardEnd, switch: Switch, port: str) -> PortMatch:
    """Compare both ends."""
    try:
        own = switch.port(port)
    except CannotTellError as error:
        return PortMatch(Match.UNKNOWN, error.reason)
    heard_at = [one.name for one in _ports(switch) if _hears(one, card) is Match.PROVEN]
    if own.name in heard_at:
        return PortMatch(Match.PROVEN, f"the LLDP neighbor of {own.name} is {card.name}")
    if heard_at:
        return PortMatch(
            Match.CONTRADICTED, f"{card.name} is the LLDP neighbor of {', '.join(heard_at)}"
        )
    if others := [f"{one.port} of {one.system or '?'}" for one in _heard(own)]:
        found = f"{own.name} hears {shown(', '.join(others[:4]), 120)}"
        if _hears(own, card) is Match.UNKNOWN:
            return PortMatch(Match.UNKNOWN, f"{found}; which host that is could not be determined")
        return PortMatch(Match.CONTRADICTED, f"{found}, and not {card.name}")
    if reason := _links_differ(card, own):
        return PortMatch(Match.CONTRADICTED, reason)
    return PortMatch(Match.UNKNOWN, f"{own.name} has no LLDP neighbor")


def refuse_port(found: PortMatch, where: str, *, is_right: bool, asks: bool) -> None:
    """Raise InputError `link.wrong_port`, or `link.port_not_proven` if the user cannot be asked.

    `is_right`: the user looked at the cable.
    """
    if is_right or found.match is Match.PROVEN:
        return
    if found.match is Match.UNKNOWN and asks:
        return
    wrong = found.match is Match.CONTRADICTED
    raise InputError(
        "link.wrong_port" if wrong else "link.port_not_proven",
        where=where,
        found=found.found,
        so="the port seems to belong to another device, and was not changed"
        if wrong
        else "the port may belong to another device, and was not changed",
        next="give the right port; or, if you traced the cable, add --port-is-right",
    )


def _links_differ(card: CardEnd, port: SwitchPort) -> str:
    here, there = _value(card.is_up), _value(port.is_up)
    if here is None or there is None:
        return ""
    if here != there:
        up, down = (card.name, port.name) if here else (port.name, card.name)
        return f"{up} has a link, and {down} has none"
    ours, theirs = _value(card.link_bps), _value(port.link_bps)
    if here and ours is not None and theirs is not None and ours != theirs:
        at = f"{port.name} at {theirs / 1e9:g} Gb/s"
        return f"{card.name} runs at {ours / 1e9:g} Gb/s, and {at}"
    return ""


def _value(observed: Observed[T]) -> T | None:
    return observed.value if isinstance(observed, Known) else None


def _ports(switch: Switch) -> Iterator[SwitchPort]:
    if isinstance(switch.ports, Known):
        yield from switch.ports.value


def _heard(port: SwitchPort) -> tuple[Neighbor, ...]:
    return port.neighbors.value if isinstance(port.neighbors, Known) else ()


def _hears(port: SwitchPort, card: CardEnd) -> Match:
    """Tell whether a port hears the card: its address proves it, its name with its host's does."""
    found = {_is_card(neighbor, card) for neighbor in _heard(port)}
    return next((match for match in SAYING if match in found), Match.CONTRADICTED)


def _is_card(neighbor: Neighbor, card: CardEnd) -> Match:
    found = is_own(neighbor, card.name, card.macs, card.host)
    if found is None:
        return Match.UNKNOWN
    return Match.PROVEN if found else Match.CONTRADICTED
