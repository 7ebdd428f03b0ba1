"""A link of the card, or of a hop above it, that runs on fewer lanes than its ends can do."""

from collections.abc import Iterator
from dataclasses import replace

from wirespeed.ceilings.pcie import pcie_changes
from wirespeed.facts.link import Links
from wirespeed.facts.one_port import one_port
from wirespeed.facts.pci import Pci, PciLink
from wirespeed.facts.pci_config import PciConfig
from wirespeed.facts.pci_links import TRAIN_BETTER, LinkPlace, has_state, link_state, place_of
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
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
    capable = known(lower.max_lanes, f"maximum width of {lower.address}")
    slot = known(upper.max_lanes, f"maximum width of {upper.address}")
    if now.lanes >= capable:
        return
    is_fault = now.lanes < min(capable, slot)
    after = replace(now, lanes=min(capable, slot) if is_fault else capable)
    others = _elsewhere(exam, link)
    if is_fault:
        severe = exam.ledger.may_be_bound_by(link.element)
        severity = Severity.FAULT if severe else _without_cost(exam, link.element)
    else:
        severe = exam.ledger.is_bound_by(link.element)
        severity = Severity.CEILING if severe and not others else Severity.NOTE
    limit = "may limit" if exam.ledger.may_be_bound_by(link.element) else "limits"
    least = "" if severe else f"; another element {limit} this port"
    if severe and others and not is_fault:
        least = f"; the rest of the physical port's rate goes by {', '.join(others)}"
    shared = lost_by_all(exam, link, now, after)
    yield exam.finding(
        severity,
        tuple(
            Evidence.of(observed, text)
            for observed, text in (
                (lower.lanes, f"x{now.lanes} now"),
                (lower.max_lanes, f"{lower.address} can do x{capable}"),
                (upper.max_lanes, f"the slot above it, {upper.address}, can do x{slot}"),
            )
            if isinstance(observed, Known)
        ),
        so=f"the link at {lower.address} has {now.lanes} of the {after.lanes} lanes that "
        f"{'both its ends support' if is_fault else 'the card supports'}"
        + least
        + ("; together its ports need more than this link carries" if shared else ""),
        remedies=(
            Remedy(
                text=TRAIN_BETTER[place] if is_fault else _wider(place, capable, others),
                by_hand=ByHand.HARDWARE,
            ),
        ),
        bounds=shared,
        changes=pcie_changes(after, link.element, exam.question),
    )


def _without_cost(exam: PortExam, element: str) -> Severity:
    """A risk where the port could ask more of the slot: at a faster speed that it supports."""
    carried = [c.load_bps_l1.low for c in exam.ledger.ceilings if c.element == element]
    links = exam.host[Links].by_netdev.get(exam.port.netdev or "")
    modes = links.supported_bps if links is not None else None
    best_bps = modes.value[-1] if isinstance(modes, Known) and modes.value else None
    is_enough = best_bps is not None and carried and best_bps <= min(carried)
    return Severity.NOTE if is_enough else Severity.RISK


def _elsewhere(exam: PortExam, link: PciLink) -> list[str]:
    """Name the functions of the same physical port that do not go by this link."""
    return [
        other.name
        for other in one_port(exam.host, exam.port)
        if link.upper.address not in exam.host[Pci].hops.get(other.pci_address or "", ())
    ]


def _wider(place: LinkPlace, lanes: int, others: list[str]) -> str:
    if others:
        return (
            f"the card has a second link for {', '.join(others)}, which is the same physical "
            "port: use both; another slot does not change this"
        )
    if place is LinkPlace.BOARD:
        return (
            f"the card is soldered to the board: only another card, in an x{lanes} slot, gets "
            "more lanes"
        )
    return f"move the card to an x{lanes} slot; no software step fixes this"


RULE = PortRule(
    slug="pcie.width_below_capability",
    title="PCIe link narrower than the card supports",
    why="Each missing lane is missing bandwidth. An x16 slot wired as x4, a riser, a BIOS that "
    "splits the slot, and a dirty contact all look the same to software: the card works at a "
    "fraction of its rate. It is a fault if both ends of the link support more lanes, and a "
    "ceiling if the slot does not. A port that has one link for each of several functions reaches "
    "its rate by all of them, and none of these links is too narrow.",
    source="PCI Express Base Specification, section 7.5.3 (Link Capabilities, Link Status); "
    "https://docs.kernel.org/PCI/sysfs-pci.html",
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
