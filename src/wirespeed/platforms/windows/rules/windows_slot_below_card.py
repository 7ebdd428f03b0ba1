"""A card of Windows in a slot, or on a link, that is narrower or slower than the card."""

from collections.abc import Iterator
from dataclasses import replace

from wirespeed.ceilings.devices import device_for
from wirespeed.ceilings.ethernet import ethernet_ceiling
from wirespeed.ceilings.pcie import pcie_ceiling
from wirespeed.facts.link import Links
from wirespeed.model.ceiling import Ceiling, Direction
from wirespeed.model.finding import ByHand, Change, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Known, known
from wirespeed.model.pcie_link import PcieLink
from wirespeed.model.question import Question
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule, of_each
from wirespeed.model.symptom import Symptom
from wirespeed.platforms.windows.facts.windows_adapters import SOURCE as ADAPTERS_SOURCE
from wirespeed.platforms.windows.facts.windows_adapters import WindowsAdapter, WindowsAdapters
from wirespeed.platforms.windows.facts.windows_behind import card_behind
from wirespeed.platforms.windows.facts.windows_hardware import (
    SOURCE,
    WindowsHardware,
    WindowsHardwares,
)
from wirespeed.platforms.windows.facts.windows_host import require_windows


def _check(exam: HostExam) -> Iterator[Finding]:
    host = exam.host
    require_windows(host)
    cards = [card for card in host[WindowsAdapters].cards() if card.is_up]
    if not cards:
        raise DoesNotApplyError("no card is up")
    # Windows reports no slot of a card on the board.
    yield from of_each(cards, lambda card: _card(exam, card))


def _card(exam: HostExam, card: WindowsAdapter) -> Iterator[Finding]:
    hardware = known(exam.host[WindowsHardwares].of(card.guid), f"the slot of {card.name}")
    now = known(hardware.link, f"the PCIe link of {card.name}")
    lanes = known(hardware.max_lanes, f"the maximum width of {card.name}")
    gt_per_s = known(hardware.max_gt_per_s, f"the maximum speed of {card.name}")
    if now.lanes < lanes or now.gt_per_s < gt_per_s:
        after = replace(now, lanes=max(lanes, now.lanes), gt_per_s=gt_per_s)
        yield _finding(exam, card, hardware, now, after)


def _is_in_the_way(exam: HostExam, card: WindowsAdapter, slot_bps: float) -> bool:
    """Whether what is asked about goes by this slot and could fill it."""
    asked = exam.question.ports
    if not asked or card.name in asked:
        return True
    links = exam.host[Links].by_netdev
    speeds = [
        links[netdev].link_bps
        for netdev in asked
        if netdev in links and card_behind(exam.host, netdev) == card
    ]
    return any(isinstance(bps, Known) and bps.value > slot_bps for bps in speeds)


def _finding(
    exam: HostExam,
    card: WindowsAdapter,
    hardware: WindowsHardware,
    now: PcieLink,
    after: PcieLink,
) -> Finding:
    question = exam.question
    carried = [c.load_bps_l1 for c in _slot(question, hardware, now)]
    least, most = min(one.low for one in carried), max(one.high for one in carried)
    wire_bps = known(card.link_bps, f"the speed of {card.name}")
    wire = max(
        ethernet_ceiling(wire_bps, question.frame_bytes, d, ADAPTERS_SOURCE).load_bps_l1.low
        for d in Direction
    )
    return exam.finding(
        Severity.CEILING if least < wire and _is_in_the_way(exam, card, least) else Severity.NOTE,
        (
            Evidence(found=f"x{now.lanes} at {now.gt_per_s:g} GT/s now", source=SOURCE),
            Evidence(
                found=f"the card supports x{after.lanes} at {after.gt_per_s:g} GT/s", source=SOURCE
            ),
        ),
        so=f"the slot carries {_so(least, most, wire)} {wire_bps / 1e9:g} Gb/s of the link",
        where=card.name,
        remedies=(
            Remedy(
                text="Windows does not report what the slot supports: see the board's manual. "
                "Reseat the card, look for a BIOS setting that splits the slot or lowers its "
                f"speed, or move the card to a slot with x{after.lanes} at {after.gt_per_s:g} "
                "GT/s; no software step fixes this",
                by_hand=ByHand.HARDWARE,
            ),
        ),
        changes=tuple(Change(after=c) for c in _slot(question, hardware, after)),
    )


def _so(least: float, most: float, wire: float) -> str:
    if most < wire:
        return f"at most {most / 1e9:.1f} of the"
    if least < wire:
        return f"{least / 1e9:.1f} to {most / 1e9:.1f} Gb/s, and may not fill the"
    return "all of the"


def _slot(question: Question, hardware: WindowsHardware, link: PcieLink) -> list[Ceiling]:
    return [
        pcie_ceiling(
            link,
            question.frame_bytes,
            direction,
            f"pcie {hardware.pci_address or 'slot'}",
            SOURCE,
            device=device_for(question.purpose),
            bidirectional=question.bidirectional,
        )
        for direction in Direction
    ]


RULE = HostRule(
    slug="windows.slot_below_card",
    title="PCIe slot narrower or slower than the card (Windows)",
    why="A 100 Gb/s ConnectX-5 Ex in an x4 slot at 16 GT/s gets some 50 Gb/s, however it is "
    "tuned. Windows reports the present link and what the card supports.",
    source="`From 10 to 40Gbps - Getting a Mellanox ConnectX-5 Working in WSL2`, Step 5; PCI "
    "Express Base Specification, section 7.5.3",
    price="the lowest ceiling of the path now and with this link at its full capability: "
    "wirespeed ceiling --explain",
    explains=(Symptom.LOW_FIGURE,),
    check=_check,
)
