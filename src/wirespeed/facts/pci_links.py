"""The state of a PCI Express link, put together from what its ends report; and where it is."""

from collections.abc import Sequence
from enum import StrEnum

from wirespeed.facts.pci import PciLink
from wirespeed.facts.pci_config import PciConfig
from wirespeed.model.observed import Absent, CannotTellError, Known, Observed, known
from wirespeed.model.pcie_link import PcieLink


class LinkPlace(StrEnum):
    """What a hand could reach of a link."""

    SLOT = "the slot that the card is in"
    CARD = "within the card"
    BOARD = "on the board, where the card is soldered"
    ABOVE = "on the board, above the slot"


def place_of(link: PciLink, links: Sequence[PciLink], config: PciConfig) -> LinkPlace:
    """Give where a link is, by which port says that it has a slot.

    `links` is the way up from the card. A card may have a switch of its own, above which its slot
    is. Where no port could be read, the card is taken to be in a slot.
    """
    slots = [config.of(one.upper.address).has_slot for one in links]
    place = links.index(link)
    seat = next((n for n, slot in enumerate(slots) if isinstance(slot, Known) and slot.value), None)
    if seat is None:
        on_board = all(isinstance(slot, Known) for slot in slots)
        below = LinkPlace.BOARD if on_board else LinkPlace.SLOT
        return LinkPlace.ABOVE if place else below
    if place == seat:
        return LinkPlace.SLOT
    return LinkPlace.CARD if place < seat else LinkPlace.ABOVE


TRAIN_BETTER = {
    LinkPlace.SLOT: "reseat the card and look for bent pins, a riser or a BIOS bifurcation",
    LinkPlace.CARD: "the link is within the card: update the card's firmware, else replace it",
    LinkPlace.BOARD: "the board reports no slot there, so the card is soldered: look in the BIOS "
    "for the link's width and speed, update the BIOS, then ask the board's maker",
    LinkPlace.ABOVE: "the link is on the board, above the card's slot: look in the BIOS for its "
    "width, speed and bifurcation, and whether a riser or a cabled backplane carries it",
}
"""What to do about a link that both of its ends could run better."""


def link_state(link: PciLink, config: PciConfig, card_address: str) -> PcieLink:
    """Give the state of a link on the way of `card_address`.

    The card's own settings hold on the whole way: it sends no longer writes, and what answers it
    is set alike. Sizes that could not be read stay None. Raises CannotTellError without speed or
    width.
    """
    for emulator in (link.lower.emulator, link.upper.emulator):
        if emulator is not None:
            raise CannotTellError(
                f"{emulator} made up the link at {link.lower.address}: it tells nothing of the "
                "hardware",
                "lspci -vv on the host of this guest",
            )
    card = config.of(card_address)
    return PcieLink(
        gt_per_s=known(link.lower.gt_per_s, f"speed of the link at {link.lower.address}"),
        lanes=known(link.lower.lanes, f"width of the link at {link.lower.address}"),
        max_payload_bytes=_or_none(card.max_payload_bytes),
        max_read_request_bytes=_or_none(card.max_read_request_bytes),
    )


def has_state(link: PciLink) -> bool:
    """False for a link that the kernel says is none, as a guest's VF has, and for a tunnel."""
    return not isinstance(link.lower.lanes, Absent) and not link.is_tunnel


def is_below_its_ends(link: PciLink, state: PcieLink) -> bool:
    """Whether it could run faster: that is a fault of its own, and another slot no remedy."""
    ends = (link.lower, link.upper)
    lanes = [end.max_lanes.value for end in ends if isinstance(end.max_lanes, Known)]
    speeds = [end.max_gt_per_s.value for end in ends if isinstance(end.max_gt_per_s, Known)]
    return (len(lanes) == len(ends) and state.lanes < min(lanes)) or (
        len(speeds) == len(ends) and state.gt_per_s < min(speeds)
    )


def _or_none(size: Observed[int]) -> int | None:
    return size.value if isinstance(size, Known) else None
