"""The card of a Windows host as one end of a link: set by mlx5cmd, and what that says now."""

from wirespeed.facts.windows_adapters import WindowsAdapter, WindowsAdapters
from wirespeed.facts.windows_mlx5cmd import WindowsMlx5cmd
from wirespeed.model.error import InputError
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import CannotTellError, known
from wirespeed.model.shown import shown
from wirespeed.steps.windows_link import GBIT, WindowsLink

MELLANOX = 0x15B3


def windows_card_end(
    facts: HostFacts, name: str, link_bps: int | None, card_is: int | str | None
) -> WindowsLink:
    """Give the step of a card that Windows drives; `link_bps` None: it negotiates.

    `card_is`: what a person read that it is set to, in bit/s or `auto`; None: nobody said. Raises
    InputError `link.*`.
    """
    adapter = _adapter(facts, name)
    try:
        said = known(facts[WindowsMlx5cmd].said_of(adapter.guid), "what the card is set to")
    except CannotTellError as error:
        raise InputError(
            "link.cannot_tell",
            where=f"{shown(name)} of {facts.name}",
            found=shown(error.reason, 200),
            so="nothing is planned on a guess: undo would have nothing to come back to",
            next="install WinOF-2, which has mlx5cmd, or set the card by hand: docs/link-speed.md",
        ) from None
    if card_is is None:
        raise InputError(
            "link.card_is",
            where=f"{shown(name)} of {facts.name}",
            found=f"mlx5cmd says: {shown(said, 400)}",
            so="how it says what a card is set to is nowhere written down, and is not guessed",
            next="read it, and say so: --card-is auto, where the card negotiates; or --card-is 10G",
        )
    try:
        return WindowsLink(
            name=name,
            link_gbit_per_s=_gbit(link_bps),
            found_gbit_per_s=_gbit(card_is if isinstance(card_is, int) else None),
            said=said,
        )
    except ValueError as error:
        raise InputError(
            "link.card",
            where=f"{shown(name)} of {facts.name}",
            found=shown(str(error).splitlines()[-1].strip(), 200),
            next="mlx5cmd takes whole Gb/s, and names without quotation marks: rename it",
        ) from None


def _adapter(facts: HostFacts, name: str) -> WindowsAdapter:
    try:
        cards = facts[WindowsAdapters].cards()
    except CannotTellError as error:
        raise InputError("link.cannot_tell", where=facts.name, found=error.reason) from None
    found = [card for card in cards if card.name == name]
    if len(found) != 1:
        there = ", ".join(shown(card.name, 60) for card in cards)
        raise InputError(
            "link.netdev",
            where=f"{shown(name, 80)} of {facts.name}",
            found=f"{len(found)} cards have that name; there are {there or 'none'}",
            next="name one as Get-NetAdapter lists it under Name",
        )
    if found[0].pci_vendor != MELLANOX:
        raise InputError(
            "link.netdev",
            where=f"{shown(name, 80)} of {facts.name}",
            found=f"{shown(found[0].description, 80)} is no card of Mellanox",
            so="mlx5cmd does not know it",
            next="set its property *SpeedDuplex by hand, where its driver has one; the switch's "
            "port as docs/link-speed.md says",
        )
    return found[0]


def _gbit(bps: int | None) -> int | None:
    if bps is not None and bps % GBIT:
        raise ValueError(f"{bps / GBIT:g} Gb/s are no whole number")
    return None if bps is None else bps // GBIT
