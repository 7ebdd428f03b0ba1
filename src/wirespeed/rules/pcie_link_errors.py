"""Errors that the PCI Express links of a port counted."""

from collections.abc import Iterator

from wirespeed.facts.pci import Pci
from wirespeed.facts.pci_aer import Aer, PciAer
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Known, Unreadable, known, value_or_none
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule

MANY = 1000
"""Corrected since boot. Each of them is a packet sent again, a microsecond: no throughput, and yet
no link in order has them by the thousand."""


def _check(exam: PortExam) -> Iterator[Finding]:
    links = exam.host[Pci].links(exam.port.pci_address)
    if not links or any(link.lower.emulator or link.upper.emulator for link in links):
        raise DoesNotApplyError("no PCI Express link can be seen behind this port")
    counted = exam.host[PciAer].by_address
    way = dict.fromkeys(a for link in links for a in (link.lower.address, link.upper.address))
    if not any(address in counted for address in way):
        source = f"cat /sys/bus/pci/devices/{next(iter(way))}/aer_dev_correctable"
        known(Unreadable("no function on the way gave its error counts", source), "PCIe errors")
    for address in way:
        if address in counted:
            yield from _function(exam, address, counted[address])


def _function(exam: PortExam, address: str, aer: Aer) -> Iterator[Finding]:
    link_errors = value_or_none(aer.link_errors)
    rise = aer.link_errors_rise.value if isinstance(aer.link_errors_rise, Known) else 0
    severe = {
        name: count
        for name, observed in (("fatal", aer.fatal), ("non-fatal", aer.nonfatal))
        if (count := value_or_none(observed))
    }
    if not (rise or severe or (link_errors or 0) >= MANY):
        return
    path = f"/sys/bus/pci/devices/{address}"
    evidence = [
        Evidence(found=f"{address} counted {count} {name} errors since boot",
                 source=f"cat {path}/aer_dev_{name.replace('-', '')}")
        for name, count in severe.items()
    ]  # fmt: skip
    if link_errors or rise:
        more = f", and {rise} more while this was read" if rise else ""
        evidence.append(
            Evidence(
                found=f"{address} counted {link_errors} errors of its link since boot{more}",
                source=f"cat {path}/aer_dev_correctable",
            )
        )
    yield exam.finding(
        Severity.FAULT if rise else Severity.RISK,
        tuple(evidence),
        so="packets on the link are sent again; it may fall back in width or speed, or go down"
        if rise or not severe
        else "transfers failed and a driver may have reset the card",
        remedies=(
            Remedy(
                text="reseat the card, change the riser or the slot; a marginal link also shows "
                "when the slot is set one generation slower and the errors end",
                by_hand=ByHand.HARDWARE,
            ),
        ),
        unpriced="an error costs about a microsecond of the link: what it does to latency and to "
        "the link's width counts, not its share of the load",
    )


RULE = PortRule(
    slug="pcie.link_errors",
    title="PCIe link errors",
    why="A corrected error is a packet that was sent again. A few since boot are ordinary; a count "
    "that rises, or thousands, are a link that is marginal: a riser, a contact, a slot that runs "
    "a generation too fast. Advisory and internal errors say nothing of the link and do not count.",
    source="https://docs.kernel.org/PCI/pcieaer-howto.html; Documentation/ABI/testing/"
    "sysfs-bus-pci-devices-aer_stats",
    check=_check,
)
