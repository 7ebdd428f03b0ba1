"""A link of the card, or of a hop above it, that runs slower than its ends can do."""

from collections.abc import Iterator
from dataclasses import replace

from wirespeed.ceilings.pcie import pcie_changes
from wirespeed.facts.pci import Pci, PciLink
from wirespeed.facts.pci_config import PciConfig
from wirespeed.facts.pci_links import TRAIN_BETTER, LinkPlace, has_state, link_state, place_of
from wirespeed.model.command import Command
from wirespeed.model.finding import ByHand, Danger, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Known, known
from wirespeed.model.port import PortKind
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule
from wirespeed.model.symptom import Symptom
from wirespeed.rules.pcie_ports_share_slot import lost_by_all


def _check(exam: PortExam) -> Iterator[Finding]:
    links = exam.host[Pci].links(exam.port.pci_address)
    if exam.port.kind is PortKind.VIRTIO or not any(map(has_state, links)):
        raise DoesNotApplyError("no PCI Express link can be seen behind this port")
    for link in links:
        if has_state(link):
            place = place_of(link, links, exam.host[PciConfig])
            yield from _link(exam, link, place)


def _link(exam: PortExam, link: PciLink, place: LinkPlace) -> Iterator[Finding]:
    lower, upper = link.lower, link.upper
    now = link_state(link, exam.host[PciConfig], exam.port.pci_address or "")
    capable = known(lower.max_gt_per_s, f"maximum speed of {lower.address}")
    slot = known(upper.max_gt_per_s, f"maximum speed of {upper.address}")
    if now.gt_per_s >= capable:
        return
    is_fault = now.gt_per_s < min(capable, slot)
    after = replace(now, gt_per_s=min(capable, slot) if is_fault else capable)
    if is_fault:
        severe = exam.ledger.may_be_bound_by(link.element)
        severity = Severity.FAULT if severe else Severity.RISK
    else:
        severe = exam.ledger.is_bound_by(link.element)
        severity = Severity.CEILING if severe else Severity.NOTE
    limit = "may limit" if exam.ledger.may_be_bound_by(link.element) else "limits"
    least = "" if severe else f"; another element {limit} this port"
    shared = lost_by_all(exam, link, now, after)
    yield exam.finding(
        severity,
        tuple(
            Evidence.of(observed, text)
            for observed, text in (
                (lower.gt_per_s, f"{now.gt_per_s:g} GT/s now"),
                (lower.max_gt_per_s, f"{lower.address} can do {capable:g} GT/s"),
                (upper.max_gt_per_s, f"the slot above it, {upper.address}, can do {slot:g} GT/s"),
            )
            if isinstance(observed, Known)
        ),
        so=f"the link at {lower.address} runs at {now.gt_per_s:g}/{after.gt_per_s:g} of the speed "
        f"that {'both its ends support' if is_fault else 'the card supports'}"
        + least
        + ("; together its ports need more than this link carries" if shared else ""),
        remedies=_remedies(upper.address, place) if is_fault else (_slower_slot(place),),
        bounds=shared,
        changes=pcie_changes(after, link.element, exam.question),
    )


def _slower_slot(place: LinkPlace) -> Remedy:
    text = (
        "move the card to a slot of its own PCIe generation, or accept the lower rate; no "
        "software step "
    )
    text += "makes a slot faster"
    if place is LinkPlace.BOARD:
        text = "the card is soldered to the board: only another card, in a faster slot, is faster"
    return Remedy(text=text, by_hand=ByHand.HARDWARE)


def _remedies(upper_address: str, place: LinkPlace) -> tuple[Remedy, ...]:
    return (
        Remedy(
            text="make the port above retrain the link (bit 5 of Link Control), and check that "
            "it stays faster",
            commands=(Command(argv=("setpci", "-s", upper_address, "CAP_EXP+10.w=20:20")),),
            danger=Danger.DROPS_LINK,
            by_hand=ByHand.NO_UNDO,
        ),
        Remedy(
            text="set the slot's speed in the BIOS to automatic; reseat the card; remove a riser "
            "made for a slower generation"
            if place is LinkPlace.SLOT
            else TRAIN_BETTER[place],
            by_hand=ByHand.BIOS,
        ),
    )


RULE = PortRule(
    slug="pcie.speed_below_capability",
    title="PCIe link slower than the card supports",
    why="Each PCIe generation doubles the speed of the one before it. If both ends support more, "
    "the link fell back during training: because of a riser made for an older generation, a "
    "dirty contact, or a BIOS that limits the slot. A slot of an older generation is a "
    "ceiling, not a fault.",
    source="PCI Express Base Specification, section 7.5.3 (Link Capabilities, Link Status, Link "
    "Control); https://docs.kernel.org/PCI/sysfs-pci.html",
    price="the lowest ceiling of the path now and with this link at its full capability: "
    "wirespeed ceiling --explain; at most, for ports that share it: the shares of their line rate "
    "that it carries then and now",
    explains=(
        Symptom.CARD_STALLED,
        Symptom.CARD_BUFFER_FULL,
        Symptom.PAUSES_SENT,
        Symptom.LOW_FIGURE,
    ),
    check=_check,
)
