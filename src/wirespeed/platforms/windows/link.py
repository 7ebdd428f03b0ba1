"""The card of a Windows host as one end of a link: set by mlx5cmd, and what that says now.

A card that is none of Mellanox is set by its property *SpeedDuplex, where its driver has that: to a
value that the driver itself lists.
"""

from wirespeed.model.error import InputError
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import CannotTellError, known
from wirespeed.model.shown import shown
from wirespeed.platforms.windows.facts.windows_adapters import WindowsAdapter, WindowsAdapters
from wirespeed.platforms.windows.facts.windows_advanced import WindowsAdvanced
from wirespeed.platforms.windows.facts.windows_mlx5cmd import WindowsMlx5cmd
from wirespeed.platforms.windows.steps.windows_link import GBIT, WindowsLink
from wirespeed.platforms.windows.steps.windows_property import WindowsProperty

MELLANOX = 0x15B3
SPEED_DUPLEX = "*SpeedDuplex"
NEGOTIATES = "0"
ENUMERATED = {10**9: "6", 10 * 10**9: "7", 40 * 10**9: "9", 100 * 10**9: "10"}
"""Full duplex. Others, and these with some drivers, are in Mb/s: learn.microsoft.com, `Enumeration
keywords` of network drivers."""


def windows_card_end(
    facts: HostFacts, name: str, link_bps: int | None, card_is: int | str | None
) -> WindowsLink | WindowsProperty:
    """Give the step of a card that Windows drives; `link_bps` None: it negotiates.

    `card_is`: the setting that the user read, in bit/s or `auto`; None: not given. Raises
    InputError `link.*`.
    """
    adapter = _adapter(facts, name)
    if adapter.pci_vendor != MELLANOX:
        return _by_property(facts, adapter, link_bps)
    try:
        said = known(facts[WindowsMlx5cmd].said_of(adapter.guid), "what the card is set to")
    except CannotTellError as error:
        raise InputError(
            "link.cannot_tell",
            where=f"{shown(name)} of {facts.name}",
            found=shown(error.reason, 200),
            so="wirespeed does not plan on a guess: undo would not know what to restore",
            next="install WinOF-2, which has mlx5cmd, or set the card by hand: docs/link-speed.md",
        ) from None
    if card_is is None:
        raise InputError(
            "link.card_is",
            where=f"{shown(name)} of {facts.name}",
            found=f"mlx5cmd says: {shown(said, 400)}",
            so="the format of this output is not documented, and wirespeed does not guess",
            next="read the present setting and give it: --card-is auto if the card negotiates, "
            "else for example --card-is 10G",
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
            next="mlx5cmd takes whole Gb/s, and names without quotation marks: rename the "
            "adapter if needed",
        ) from None


def _adapter(facts: HostFacts, name: str) -> WindowsAdapter:
    try:
        cards = facts[WindowsAdapters].cards()
    except CannotTellError as error:
        raise _cannot_tell(facts.name, error) from None
    found = [card for card in cards if card.name == name]
    if len(found) != 1:
        there = ", ".join(shown(card.name, 60) for card in cards)
        raise InputError(
            "link.netdev",
            where=f"{shown(name, 80)} of {facts.name}",
            found=f"{len(found)} cards have that name; there are {there or 'none'}",
            next="give a name that Get-NetAdapter lists under Name",
        )
    return found[0]


def _cannot_tell(where: str, error: CannotTellError) -> InputError:
    return InputError(
        "link.cannot_tell",
        where=where,
        found=error.reason,
        so="the card's setting is not known, and nothing was planned",
        next=f"run there: {error.would_tell}",
    )


def _by_property(facts: HostFacts, card: WindowsAdapter, link_bps: int | None) -> WindowsProperty:
    """Give the step that sets *SpeedDuplex. Raises InputError `link.*`."""
    where = f"{shown(card.name, 80)} of {facts.name}"
    try:
        has = facts[WindowsAdvanced].of(card.guid).get(SPEED_DUPLEX.lower())
    except CannotTellError as error:
        raise _cannot_tell(where, error) from None
    if has is None or not card.has_safe_name:
        raise InputError(
            "link.netdev",
            where=where,
            found=f"{shown(card.description, 80)} is not a Mellanox card, and its driver has no "
            f"property {SPEED_DUPLEX}",
            so="neither mlx5cmd nor Windows can set its speed",
            next="set the card with its maker's tool, and the switch port as in docs/link-speed.md",
        )
    values = [NEGOTIATES]
    if link_bps is not None:
        values = [str(link_bps // 10**6), ENUMERATED.get(link_bps, "")]
    for value in values:
        if value in has.valid:
            return WindowsProperty(adapter=card.description, keyword=has.keyword, value=value)
    raise InputError(
        "link.card",
        where=where,
        found=f"its driver lists {', '.join(shown(one, 20) for one in has.valid) or 'nothing'} for "
        f"{SPEED_DUPLEX}",
        so="the requested speed is not among them",
        next="choose a listed one: 0 is auto, 6 is 1G, 7 is 10G, numbers from 1000 on are Mb/s",
    )


def _gbit(bps: int | None) -> int | None:
    if bps is not None and bps % GBIT:
        raise ValueError(f"{bps / GBIT:g} Gb/s is not a whole number")
    return None if bps is None else bps // GBIT
