"""What is asked of both ends of a link: their speed, their FEC, the MTU of the switch's port."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from wirespeed.facts.ports import Ports
from wirespeed.host.clock import Deadline, sleep_s
from wirespeed.host.reach_destination import SwitchHost
from wirespeed.model.error import InputError
from wirespeed.model.fact import HostFacts
from wirespeed.model.names import NETDEV
from wirespeed.model.observed import Known
from wirespeed.model.shown import shown
from wirespeed.model.step import Step
from wirespeed.platforms.access import CardEnd
from wirespeed.platforms.switch.card_end import card_end_of
from wirespeed.platforms.windows.steps.windows_link import WindowsLink
from wirespeed.runs.link_steps import (
    Encoding,
    card_end,
    link_ends,
    switch_end,
    switch_fec,
    switch_mtu,
)
from wirespeed.steps.fec import Fec
from wirespeed.steps.link_mode import LinkMode
from wirespeed.steps.mlxlink_speed import MlxlinkSpeed

Tool: TypeAlias = Literal["ethtool", "mlxlink", "mstlink"]
PROVING = (LinkMode, WindowsLink)
"""Steps of a card that are known only once the link is up."""
COMES_UP_S = 30.0
PAUSE_S = 2.0


@dataclass(frozen=True, slots=True)
class LinkSettings:
    """What the user asks for."""

    host: str
    netdev: str
    switch: SwitchHost
    sets_speed: bool
    link_bps: int | None
    """None: negotiated."""
    fec: Encoding | None
    switch_mtu: int | None
    tool: Tool = "ethtool"
    """What sets the speed of a card that Linux drives."""
    card_is: int | str | None = None


def steps(wanted: LinkSettings, facts: HostFacts | None, own: CardEnd | None) -> list[Step]:
    """Give the steps of the card; `own` gives the one that sets its speed, if not as on Linux.

    `facts`: needed by `own`, and by a tool that takes PCI addresses. Raises InputError `link.*`.
    """
    if own is not None and facts is not None:
        if wanted.fec is not None:
            raise InputError(
                "link.fec",
                where=f"{shown(wanted.netdev, 40)} of {wanted.host}",
                found="wirespeed sets FEC on Linux hosts only",
                next="set FEC by hand in the card's properties and on the switch port",
            )
        if not wanted.sets_speed:
            return []
        return [own(facts, wanted.netdev, wanted.link_bps, wanted.card_is)]
    if not NETDEV.fullmatch(wanted.netdev):
        raise InputError(
            "link.netdev",
            where=shown(wanted.netdev, 40),
            found="not a valid name of a netdev",
            next="give a name that `ip link` lists",
        )
    # The speed comes last: its reading is known once the link is up, which proves all of them.
    found: list[Step] = []
    if wanted.fec is not None:
        found.append(Fec(netdev=wanted.netdev, encoding=wanted.fec))
    if wanted.sets_speed and wanted.tool == "ethtool":
        found.append(card_end(wanted.netdev, wanted.link_bps))
    elif wanted.sets_speed and facts is not None:
        bps = wanted.link_bps
        found.append(
            MlxlinkSpeed(
                pci_address=_pci_address(facts, wanted.netdev),
                link_mode=None if bps is None else mlxlink_name(bps),
                tool=wanted.tool,
            )
        )
    return found


def mlxlink_name(bps: int) -> str:
    """Give what mlxlink and mstlink call a speed: `10G`, `2.5G`, `100M`."""
    return f"{bps / 1e9:g}G" if bps >= 10**9 else f"{bps / 1e6:g}M"


def both_ends(wanted: LinkSettings, card: list[Step]) -> Iterator[tuple[str, Step]]:
    """Give place and step of all that is asked for, in order. Raises InputError `link.switch`."""
    kind, port = wanted.switch.kind, wanted.switch.switchport
    at_switch: list[Step] = []
    if wanted.switch_mtu is not None:
        at_switch.append(switch_mtu(kind, port, wanted.switch_mtu))
    if wanted.fec is not None:
        at_switch.append(switch_fec(kind, port, wanted.fec))
    if wanted.sets_speed:
        at_switch.append(switch_end(kind, port, wanted.link_bps))
    return link_ends(wanted.host, card, wanted.switch.text, at_switch)


def proves_link(card: list[Step]) -> bool:
    """Tell whether what the card says afterwards proves that the link is up."""
    return any(isinstance(step, PROVING) for step in card)


def has_link(facts: HostFacts, netdev: str) -> bool:
    """Tell whether a netdev, or an adapter of Windows, is known to have a link."""
    card = card_end_of(facts, netdev)
    return card is not None and isinstance(card.is_up, Known) and card.is_up.value


def pauses() -> Iterator[None]:
    """Give the moments at which to look whether a link has come up. Bounded."""
    latest = Deadline(COMES_UP_S)
    yield
    while not latest.expired:
        sleep_s(PAUSE_S)
        yield


def _pci_address(facts: HostFacts, netdev: str) -> str:
    found = [port.pci_address for port in facts[Ports].ports if port.netdev == netdev]
    if len(found) != 1 or not found[0]:
        raise InputError(
            "link.netdev",
            where=f"{netdev} of {facts.name}",
            found="its PCI address is not known",
            so="mlxlink needs the PCI address of a card",
            next="give a port of a ConnectX card, or leave --by out",
        )
    return found[0]
