"""A network function without a driver, or what the kernel refused of one."""

import re
from collections.abc import Iterator

from wirespeed.facts.driver_log import VF_BARS, DriverLog
from wirespeed.facts.ports import Ports
from wirespeed.model.command import Command
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Known, known
from wirespeed.model.question import Purpose
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule

ADVICE = {
    re.compile(r"Firmware over \d+ MS|error(?: code)? -16\b"): (
        "the card's firmware does not start: power the host off and on (a reboot may not reset the "
        "card), then burn the firmware again",
        ByHand.HARDWARE,
    ),
    re.compile(r"hca_cap|error(?: code)? -(?:22|95)\b"): (
        "the driver and the firmware do not fit: use a newer kernel or the vendor's driver, or a "
        "firmware that is listed for this driver; in a guest, the host may hide what it asks for",
        ByHand.SOFTWARE,
    ),
    re.compile(r"BAR \d+|MMIO resources|error(?: code)? -12\b"): (
        "the BIOS left no room for the card's memory: enable Above 4G Decoding (and SR-IOV) there, "
        "ask the firmware for fewer VFs, or add pci=realloc to the kernel's command line",
        ByHand.BIOS,
    ),
    re.compile(r"Safe Mode"): (
        "the driver lacks its DDP package: install the linux-firmware package of the kernel",
        ByHand.SOFTWARE,
    ),
}
"""What was said, and what helps: what was refused once is refused again."""
ELSE = "look at what the kernel said when the driver took the card, and at which driver knows it"


def _check(exam: PortExam) -> Iterator[Finding]:
    port = exam.port
    if port.pci_address is None:
        raise DoesNotApplyError("it is not a PCI function")
    said = exam.host[DriverLog].of(port)
    lines = said.value if isinstance(said, Known) else ()
    if port.driver is None:
        yield _without_driver(exam, lines)
        return
    known(exam.host[DriverLog].log, "what the kernel said of the card")
    if not lines:
        return
    # Before the driver took it: what it refused then is of the past, save room for VFs.
    only_vfs = all(VF_BARS.search(line) for line in lines)
    costs = exam.question.purpose is Purpose.GUESTS and only_vfs
    yield exam.finding(
        Severity.FAULT if costs else Severity.NOTE,
        tuple(Evidence(found=line, source="dmesg") for line in lines),
        so="no VF of this port can be made: there is no address space for them"
        if only_vfs
        else "the kernel refused the card or a part of it; a driver runs it now",
        remedies=tuple(_remedies(lines)),
        unpriced="VFs that cannot be made are what it costs"
        if only_vfs
        else "what was refused is in the message",
    )


def _without_driver(exam: PortExam, lines: tuple[str, ...]) -> Finding:
    asked = {exam.port.netdev, exam.port.pci_address} & set(exam.question.ports)
    others = [p for p in exam.host[Ports].ports if p is not exam.port and p.driver is not None]
    evidence = [Evidence(found="no driver", source=f"lspci -nnks {exam.port.pci_address}")]
    evidence += [Evidence(found=line, source="dmesg") for line in lines]
    severity = Severity.FAULT if asked or lines else Severity.RISK
    if not asked and not lines and others:
        severity = Severity.NOTE  # a port that is kept unused looks alike
    return exam.finding(
        severity,
        tuple(evidence),
        so="the kernel's driver refused this card: it has no netdev and carries nothing"
        if lines
        else "nothing drives this network card: it has no netdev and carries nothing",
        remedies=tuple(_remedies(lines)),
        unpriced="what the port would carry is not known without a driver",
    )


def _remedies(lines: tuple[str, ...]) -> Iterator[Remedy]:
    text = "; ".join(lines)
    found = [remedy for pattern, remedy in ADVICE.items() if pattern.search(text)]
    for advice, by_hand in found[:2] or [(ELSE, ByHand.FIND_FIRST)]:
        yield Remedy(
            text=advice,
            commands=(Command(argv=("dmesg", "-T")),),
            by_hand=by_hand,
        )


RULE = PortRule(
    slug="driver.refused",
    title="Network card without a driver, or refused by it",
    why="A driver that cannot start a card leaves it without a netdev: it is missing from every "
    "list of ports, and only the kernel's log says why. Firmware that does not start, capabilities "
    "that the driver does not know, and address space that the BIOS did not leave are the usual "
    "reasons. The log may have lost what was said at boot.",
    source="https://github.com/pocopico/rp-ext/issues/129 (handle_hca_cap failed, -22); "
    "https://github.com/Mellanox/mstflint/issues/448 (BAR 7: no space); "
    "https://github.com/mwrnd/innova2_flex_xcku15p_notes/issues/8 (Firmware over 120000 MS, -16)",
    check=_check,
)
