"""A link above the card, as a switch's or a chipset's, that carries less than the card's own."""

from collections.abc import Iterator

from wirespeed.ceilings.pcie import pcie_changes
from wirespeed.facts.pci import Pci
from wirespeed.facts.pci_config import PciConfig
from wirespeed.facts.pci_links import LinkPlace, has_state, is_below_its_ends, link_state, place_of
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Known
from wirespeed.model.port import PortKind
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule
from wirespeed.model.symptom import Symptom


def _check(exam: PortExam) -> Iterator[Finding]:
    links = exam.host[Pci].links(exam.port.pci_address)
    if exam.port.kind is PortKind.VIRTIO or not any(map(has_state, links)):
        raise DoesNotApplyError("no PCI Express link can be seen behind this port")
    if len(links) < 2:
        raise DoesNotApplyError("the card's slot is on a root port: there is no hop above it")
    config, address = exam.host[PciConfig], exam.port.pci_address or ""
    card = link_state(links[0], config, address)
    for link in links[1:]:
        hop = link_state(link, config, address)
        if hop.raw_bps >= card.raw_bps or is_below_its_ends(link, hop):
            continue
        bounds = exam.ledger.is_bound_by(link.element)
        yield exam.finding(
            Severity.CEILING if bounds else Severity.NOTE,
            tuple(
                Evidence.of(observed, text)
                for observed, text in (
                    (
                        link.lower.lanes,
                        f"the hop at {link.lower.address} is x{hop.lanes} at {hop.gt_per_s:g} GT/s",
                    ),
                    (links[0].lower.lanes, f"the card is x{card.lanes} at {card.gt_per_s:g} GT/s"),
                )
                if isinstance(observed, Known)
            ),
            so=f"all devices behind {link.lower.address} share {hop.raw_bps / 1e9:.1f} Gb/s, "
            f"while the card's own link has {card.raw_bps / 1e9:.1f} Gb/s",
            remedies=(
                Remedy(
                    text="this card is soldered to the board: use another card, in a slot that "
                    "is wired to the processor"
                    if place_of(links[0], links, config) is LinkPlace.BOARD
                    else (
                        "move the card to a slot that is wired to the processor, not to the "
                        "chipset or a PCIe switch"
                    ),
                    by_hand=ByHand.HARDWARE,
                ),
            ),
            changes=pcie_changes(card, link.element, exam.question),
        )


RULE = PortRule(
    slug="pcie.hop_below_card",
    title="PCIe path above the slot slower than the slot",
    why="A slot may have the right width but sit behind a chipset or a PCIe switch whose own "
    "uplink is narrower and shared with disks and other cards. `lspci -vv` of the card does "
    "not show this; that of the hop above does.",
    source="PCI Express Base Specification, section 1.3 (fabric topology); "
    "https://docs.kernel.org/PCI/sysfs-pci.html",
    price="the lowest ceiling of the path now and with this hop as fast as the card's own link: "
    "wirespeed ceiling --explain",
    explains=(
        Symptom.CARD_STALLED,
        Symptom.CARD_BUFFER_FULL,
        Symptom.PAUSES_SENT,
        Symptom.LOW_FIGURE,
    ),
    check=_check,
)
