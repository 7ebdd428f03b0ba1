"""Writes and completions that are shorter than every function on the way could take."""

from collections.abc import Iterator
from dataclasses import replace

from wirespeed.ceilings.pcie import pcie_changes
from wirespeed.facts.kernel import Kernel
from wirespeed.facts.pci import Pci
from wirespeed.facts.pci_config import PciConfig
from wirespeed.facts.pci_links import has_state, link_state
from wirespeed.model.finding import ByHand, Danger, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Known, known
from wirespeed.model.port import PortKind
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule
from wirespeed.model.symptom import Symptom

PARAMETER = "pcie_bus_perf"


def _check(exam: PortExam) -> Iterator[Finding]:
    address = exam.port.pci_address or ""
    links = exam.host[Pci].links(exam.port.pci_address)
    if exam.port.kind is not PortKind.PHYSICAL or not any(map(has_state, links)):
        raise DoesNotApplyError("no PCI Express link of a physical function can be seen")
    config = exam.host[PciConfig]
    states = [(link, link_state(link, config, address)) for link in links if has_state(link)]
    now = known(config.of(address).max_payload_bytes, f"payload size of {address}")
    # Of a switch each of its two functions has a say: all of them must take the longest packet.
    way = dict.fromkeys(a for link in links for a in (link.lower.address, link.upper.address))
    supported = {a: known(config.of(a).max_payload_supported_bytes, f"payload of {a}") for a in way}
    possible = min(supported.values())
    if now >= possible:
        return
    if not any(exam.ledger.may_be_bound_by(link.element) for link, _ in states):
        raise DoesNotApplyError("the link is not the ceiling of this port at any payload size")
    bounds = any(exam.ledger.is_bound_by(link.element) for link, _ in states)
    started_with = tuple(_started_with(exam))
    least = min(supported, key=lambda a: supported[a])
    yield exam.finding(
        Severity.RISK if bounds else Severity.NOTE,
        (
            Evidence(found=f"payloads of {now} bytes", source=f"setpci -s {address} CAP_EXP+8.w"),
            Evidence(
                found=f"every function up to the root port supports {possible} bytes",
                source=f"setpci -s {least} CAP_EXP+4.w",
            ),
            *started_with,
        ),
        so=f"each frame crosses the link in packets of {now} bytes with 20 to 24 bytes of header "
        f"each, although {possible} bytes are possible"
        + ("" if bounds else ("; another element may limit this port first")),
        remedies=(
            Remedy(
                text="set the payload size in the BIOS to automatic"
                + ("" if started_with else f", or boot with pci={PARAMETER}")
                + "; do not change it on one function alone",
                danger=Danger.REBOOT,
                by_hand=ByHand.BIOS,
            ),
        ),
        changes=tuple(
            change
            for link, state in states
            for change in pcie_changes(
                replace(state, max_payload_bytes=possible), link.element, exam.question
            )
        ),
    )


def _started_with(exam: PortExam) -> Iterator[Evidence]:
    """What the kernel was told already, and did not do."""
    line = exam.host[Kernel].command_line
    values = line.value.values("pci") if isinstance(line, Known) else ()
    if any(PARAMETER in value.split(",") for value in values):
        yield Evidence(found=f"the kernel runs with pci={PARAMETER}", source=line.source)


RULE = PortRule(
    slug="pcie.payload_below_capability",
    title="PCIe payload size below what card and slot support",
    why="Each packet on the link carries 20 to 24 bytes of header in addition to its data. With "
    "payloads of 128 bytes that is a sixth of the link, with 512 a twentieth. The firmware "
    "chooses a size that every device below a port supports, so one old device may lower it "
    "for all.",
    source="https://docs.kernel.org/admin-guide/kernel-parameters.html (pci=pcie_bus_perf); "
    "Neugebauer et al., SIGCOMM 2018, section 3: https://doi.org/10.1145/3230543.3230560",
    price="the lowest ceiling of the path now and with this link at its full capability: "
    "wirespeed ceiling --explain",
    explains=(Symptom.LOW_FIGURE,),
    check=_check,
)
