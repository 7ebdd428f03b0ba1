"""The state of a PCI Express link, put together from what its ends report."""

from wirespeed.facts.pci import PciLink
from wirespeed.facts.pci_config import PciConfig
from wirespeed.model.observed import Absent, CannotTellError, Known, Observed, known
from wirespeed.model.pcie_link import PcieLink


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
    """False for a link that the kernel says is none, as a guest's VF has."""
    return not isinstance(link.lower.lanes, Absent)


def _or_none(size: Observed[int]) -> int | None:
    return size.value if isinstance(size, Known) else None
