"""Links that may sleep to save power, on the way of a port that waits for no one."""

from collections.abc import Iterator

from wirespeed.facts.link import Links
from wirespeed.facts.pci import Pci
from wirespeed.facts.pci_config import ASPM, PciConfig
from wirespeed.facts.pci_links import has_state
from wirespeed.model.command import Command
from wirespeed.model.finding import Evidence, Finding, Remedy, Severity, StepCall
from wirespeed.model.observed import Known, known
from wirespeed.model.port import PortKind
from wirespeed.model.question import Purpose
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule
from wirespeed.model.symptom import Symptom

SMALL_BUFFER_BPS = 5e9
FILES = {"L0s": ("l0s_aspm",), "L1": ("l1_aspm",), "L0s and L1": ("l0s_aspm", "l1_aspm")}


def _severity(exam: PortExam) -> Severity:
    """Tell a fast card, whose load keeps the link awake, from one with a small buffer."""
    link = exam.host[Links].by_netdev.get(exam.port.netdev or "")
    link_bps = link.link_bps if link is not None else None
    is_slow = isinstance(link_bps, Known) and 0 < link_bps.value <= SMALL_BUFFER_BPS
    return Severity.RISK if exam.question.purpose is not None or is_slow else Severity.NOTE


def _check(exam: PortExam) -> Iterator[Finding]:
    links = [link for link in exam.host[Pci].links(exam.port.pci_address) if has_state(link)]
    if exam.port.kind is not PortKind.PHYSICAL or not links:
        raise DoesNotApplyError("no PCI Express link of a physical function can be seen")
    if any(link.lower.emulator or link.upper.emulator for link in links):
        raise DoesNotApplyError("the hypervisor emulates the link: it has no power saving")
    config = exam.host[PciConfig]
    for link in links:
        lower = link.lower.address
        ends = [
            known(config.of(end).aspm, f"power saving of the link at {end}")
            for end in (lower, link.upper.address)
        ]
        # Each end enters L0s by itself; for L1 both have to be willing.
        both = ASPM.index(ends[0]) & ASPM.index(ends[1]) & ASPM.index("L1")
        either = (ASPM.index(ends[0]) | ASPM.index(ends[1])) & ASPM.index("L0s")
        states = ASPM[both | either]
        if states == "disabled":
            continue
        switches = [f"/sys/bus/pci/devices/{lower}/link/{name}" for name in FILES[states]]
        yield exam.finding(
            _severity(exam),
            (
                Evidence(
                    found=f"the link at {lower} may enter {states}",
                    source=f"setpci -s {lower} CAP_EXP+10.w; "
                    f"setpci -s {link.upper.address} CAP_EXP+10.w",
                ),
            ),
            so="a frame that arrives after an idle period waits until the link is awake, "
            + ("a few to tens of microseconds" if both else "up to a few microseconds")
            + ", in the card's receive buffer, and is lost where that is full by then",
            remedies=(
                Remedy(
                    text="keep the link awake until the next boot; to keep it awake for good, boot "
                    "with pcie_aspm.policy=performance, or disable ASPM in the BIOS",
                    commands=(Command(argv=("tee", *switches), stdin="0"),),
                    steps=(
                        StepCall.of(
                            "kernel_switch",
                            paths=switches,
                            value="0",
                            reason="The link stays awake for frames that arrive after an idle "
                            "period.",
                        ),
                    ),
                ),
            ),
            unpriced="it costs latency after an idle period, frames where the buffer is short, and "
            "nothing under steady load: measure with the link awake, and without",
        )


RULE = PortRule(
    slug="pcie.aspm_enabled",
    title="PCIe power saving (ASPM) enabled",
    why="Active state power management (ASPM) lets a link sleep between packets. Waking takes up "
    "to a few microseconds from L0s and longer from L1, and an occasional frame waits for "
    "all of it. Under steady load the link does not sleep. Traffic in bursts lets it: cards of "
    "up to 5 Gb/s hold a few hundred microseconds or less, and lose what comes beyond that.",
    source="PCI Express Base Specification 5.0, section 5.4.1; "
    "https://kernel.org/doc/Documentation/ABI/testing/sysfs-bus-pci (link/l1_aspm); "
    "https://github.com/freebsd/freebsd-src/pull/2318 (I225 and I226 miss frames with ASPM)",
    purposes=frozenset({Purpose.LATENCY, Purpose.DPDK}),
    explains=(Symptom.LOW_FIGURE, Symptom.CARD_BUFFER_FULL),
    check=_check,
)
