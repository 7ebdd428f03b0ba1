"""A link whose two ends are set as one change, and undone as one: a card and a switch's port. Pure.

The switch comes first. Its port tells what it is set to without a link; a card that is set by hand
tells its speed only once the link is up, so that its reading, which is the last, proves both ends.
Between the two the link is down: the way to the host, and to the switch, must be another one. Where
the card's end fails, or the link does not come up, both are put back, the card first.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Literal, TypeAlias

from pydantic import ValidationError

from wirespeed.model.error import InputError
from wirespeed.model.step import Step
from wirespeed.model.switch_kind import SwitchKind
from wirespeed.platforms.switch.steps.switchport_fec import SwitchportFec
from wirespeed.platforms.switch.steps.switchport_link import SwitchportLink
from wirespeed.platforms.switch.steps.switchport_mtu import SwitchportMtu
from wirespeed.steps.link_mode import LinkMode

Encoding: TypeAlias = Literal["auto", "off", "rs", "baser"]
MBIT = 10**6


def link_speed(
    host: str, card: Step, switch: str, switchport: SwitchportLink
) -> Iterator[tuple[str, Step]]:
    """Give place and step of both ends, in order."""
    return link_ends(host, (card,), switch, (switchport,))


def link_ends(
    host: str, card: Iterable[Step], switch: str, switchport: Iterable[Step]
) -> Iterator[tuple[str, Step]]:
    """Give place and step of all that is set at both ends, in order."""
    for step in switchport:
        yield switch, step
    for step in card:
        yield host, step


def card_end(netdev: str, link_bps: int | None) -> LinkMode:
    """Give the step of a card that Linux drives; None: it negotiates."""
    if link_bps is None:
        return LinkMode(netdev=netdev, autoneg=True)
    return LinkMode(netdev=netdev, autoneg=False, link_mbit_per_s=link_bps // MBIT, duplex="full")


def switch_end(kind: SwitchKind, port: str, link_bps: int | None) -> SwitchportLink:
    """Give the step of the switch's port; None: it negotiates. Raises InputError `link.switch`."""
    mbit = None if link_bps is None else link_bps // MBIT
    with _named(kind, port):
        return SwitchportLink(kind=kind, port=port, link_mbit_per_s=mbit)


def switch_fec(kind: SwitchKind, port: str, encoding: Encoding) -> SwitchportFec:
    """Give the step of the FEC of the switch's port. Raises InputError `link.switch`."""
    with _named(kind, port):
        return SwitchportFec(kind=kind, port=port, encoding=encoding)


def switch_mtu(kind: SwitchKind, port: str, mtu: int) -> SwitchportMtu:
    """Give the step of the MTU of the switch's port. Raises InputError `link.switch`."""
    with _named(kind, port):
        return SwitchportMtu(kind=kind, port=port, mtu=mtu)


@contextmanager
def _named(kind: SwitchKind, port: str) -> Iterator[None]:
    try:
        yield
    except ValidationError as error:
        raise InputError(
            "link.switch",
            where=f"{port} of {kind}",
            found=str(error.errors()[0]["msg"]).removeprefix("Value error, "),
            next="write the port as the switch does, and a speed of 1G or more; "
            "docs/link-speed.md lists what each kind of switch supports",
        ) from None
