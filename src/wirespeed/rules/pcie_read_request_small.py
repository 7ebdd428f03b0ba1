"""Reads that ask for little at a time, on a port fast enough for that to matter."""

from collections.abc import Iterator
from dataclasses import replace

from wirespeed.ceilings.pcie import pcie_changes
from wirespeed.facts.link import Links
from wirespeed.facts.pci import Pci
from wirespeed.facts.pci_config import PciConfig
from wirespeed.facts.pci_links import has_state, link_state
from wirespeed.model.command import Command
from wirespeed.model.finding import Evidence, Finding, Remedy, Severity, StepCall
from wirespeed.model.observed import Absent, CannotTellError, known
from wirespeed.model.port import PortKind
from wirespeed.model.question import Purpose
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule
from wirespeed.model.symptom import Symptom

FAST_BPS = 100_000_000_000
USUAL_BYTES, PUBLISHED_BYTES = 512, 1024
PUBLISHED_BITS = 0x3000
"""1024 in bits 14 to 12 of Device Control."""


def _check(exam: PortExam) -> Iterator[Finding]:
    address = exam.port.pci_address or ""
    links = [link for link in exam.host[Pci].links(exam.port.pci_address) if has_state(link)]
    if exam.port.kind is not PortKind.PHYSICAL or not links:
        raise DoesNotApplyError("no PCI Express link of a physical function can be seen")
    if _link_bps(exam) < FAST_BPS:
        raise DoesNotApplyError("the port is slower than 100 Gb/s")
    config = exam.host[PciConfig]
    now = known(config.of(address).max_read_request_bytes, f"read request size of {address}")
    wanted = PUBLISHED_BYTES if exam.question.purpose is Purpose.DPDK else USUAL_BYTES
    if now >= wanted:
        return
    element = links[0].element
    state = link_state(links[0], config, address)
    after = replace(state, max_read_request_bytes=PUBLISHED_BYTES)
    changes = pcie_changes(after, element, exam.question)
    costs = any(
        bound.element == element and change.after.load_pps.low > bound.load_pps.low
        for change in changes
        if (bound := exam.ledger.bound(change.after.direction)) is not None
    )
    small = Severity.RISK if now < USUAL_BYTES else Severity.NOTE
    yield exam.finding(
        Severity.FAULT if costs else small,
        (
            Evidence(
                found=f"reads of at most {now} bytes", source=f"setpci -s {address} CAP_EXP+8.w"
            ),
        ),
        so="the card needs more requests to read what it sends, and the number of requests in "
        "flight is limited",
        remedies=(
            Remedy(
                text=f"set the read request size to {PUBLISHED_BYTES} bytes; it lasts until the "
                "next reset",
                commands=(
                    Command(
                        argv=("setpci", "-s", address, f"CAP_EXP+8.w={PUBLISHED_BITS:04x}:7000")
                    ),
                ),
                steps=(
                    StepCall.of(
                        "read_request", pci_address=address, max_read_request_bytes=PUBLISHED_BYTES
                    ),
                ),
            ),
        ),
        changes=changes if costs else (),
        unpriced=""
        if costs
        else (
            "another element is the lowest ceiling of this path; the cost depends on the number "
            "of reads in flight, which no register shows: measure before and after"
        ),
    )


def _link_bps(exam: PortExam) -> int:
    link = exam.host[Links].by_netdev.get(exam.port.netdev or "")
    if link is None:
        reason = f"speed of {exam.port.name}: the kernel does not own this port"
        raise CannotTellError(reason, f"mlxlink -d {exam.port.pci_address}")
    if isinstance(link.link_bps, Absent):
        raise DoesNotApplyError("the port is down")
    return known(link.link_bps, f"speed of {exam.port.name}")


RULE = PortRule(
    slug="pcie.read_request_small",
    title="PCIe read request size small for the port",
    why="To send, a card reads memory in requests of 128 to 4096 bytes. Small requests cost link "
    "time, and at 100 Gb/s and more the card reaches its limit of requests in flight. 512 is "
    "the value after a reset and is normal; Mellanox set 1024 for its published DPDK "
    "figures, so with --for dpdk a smaller value is reported.",
    source="Mellanox NIC's Performance Report with DPDK 19.08, tables 3 to 18 (setpci 68.w=3BCD); "
    "https://doc.dpdk.org/guides/nics/mlx5.html",
    price="the lowest ceiling of the path now and with this link at its full capability: "
    "wirespeed ceiling --explain",
    explains=(Symptom.LOW_FIGURE,),
    check=_check,
)
