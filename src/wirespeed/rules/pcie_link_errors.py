"""Errors that the PCI Express links of a port counted."""

from collections.abc import Iterator

from wirespeed.facts.driver_log import DriverLog
from wirespeed.facts.pci import Pci
from wirespeed.facts.pci_aer import Aer, PciAer
from wirespeed.facts.pci_config import PciConfig
from wirespeed.facts.pci_links import LinkPlace, place_of
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Known, Unreadable, known, value_or_none
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule
from wirespeed.model.symptom import Symptom

Logged = dict[tuple[str, str], int]
MANY_LOGGED = 10
"""The kernel reports a few of many (aer_ratelimit): so many in its log are no single event."""
STEADY = {
    LinkPlace.SLOT: "reseat the card, or change the riser or the slot",
    LinkPlace.CARD: "the link is within the card: update the card's firmware, else replace it",
    LinkPlace.BOARD: "the board reports no slot there, so the card is soldered: update the BIOS, "
    "then ask the board's maker",
    LinkPlace.ABOVE: "the link is on the board, above the card's slot: update the BIOS, and check "
    "whether a riser or a cabled backplane carries it",
}
MARGINAL = "if the errors end with the link set one generation slower, the link is marginal"
MANY = 1000
"""Corrected since boot. Each of them is a packet sent again, a microsecond: no throughput, and yet
no link in order has them by the thousand."""


def _check(exam: PortExam) -> Iterator[Finding]:
    links = exam.host[Pci].links(exam.port.pci_address)
    if not links or any(link.lower.emulator or link.upper.emulator for link in links):
        raise DoesNotApplyError("no PCI Express link can be seen behind this port")
    counted, log = exam.host[PciAer].by_address, exam.host[DriverLog]
    way = dict.fromkeys(a for link in links for a in (link.lower.address, link.upper.address))
    reported = {address: log.bus_errors[address] for address in way if address in log.bus_errors}
    if not reported and not any(address in counted for address in way):
        source = f"cat /sys/bus/pci/devices/{next(iter(way))}/aer_dev_correctable"
        known(Unreadable("no function on the path reports its error counts", source), "PCIe errors")
    for address in way:
        in_log = reported.get(address, {})
        aer = counted.get(address)
        found = list(_function(exam, address, aer, in_log)) if aer is not None else []
        # A kernel before 4.19 has no counts, and a sosreport does not hold them.
        yield from found or _logged(exam, address, in_log)


def _logged(exam: PortExam, address: str, in_log: Logged) -> Iterator[Finding]:
    """Judge by the kernel's log alone."""
    link = sum(count for (severity, layer), count in in_log.items() if _is_link(severity, layer))
    severe = any(severity.startswith("Uncorrect") for severity, _ in in_log)
    if severe or link >= MANY_LOGGED:
        evidence = list(_said(address, in_log))
        yield _finding(exam, address, Severity.RISK, evidence, is_severe=severe)


def _is_link(severity: str, layer: str) -> bool:
    """A corrected error of the transaction layer is advisory."""
    return severity.startswith("Correct") and layer in ("Physical Layer", "Data Link Layer")


def _said(address: str, in_log: Logged) -> Iterator[Evidence]:
    for (severity, layer), count in in_log.items():
        yield Evidence(
            found=f"the kernel's log, of {address}: {severity}, {layer}, "
            + ("once" if count == 1 else f"{count} times"),
            source="dmesg",
        )


def _function(exam: PortExam, address: str, aer: Aer, in_log: Logged) -> Iterator[Finding]:
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
                found=f"{address} counted {link_errors} errors on its link since boot{more}",
                source=f"cat {path}/aer_dev_correctable",
            )
        )
    evidence += _said(address, in_log)
    severity = Severity.FAULT if rise else Severity.RISK
    yield _finding(exam, address, severity, evidence, is_severe=bool(severe) and not rise)


def _finding(
    exam: PortExam, at: str, severity: Severity, evidence: list[Evidence], *, is_severe: bool
) -> Finding:
    links = exam.host[Pci].links(exam.port.pci_address)
    link = next(one for one in links if at in (one.lower.address, one.upper.address))
    place = place_of(link, links, exam.host[PciConfig])
    return exam.finding(
        severity,
        tuple(evidence),
        so="transfers failed, and a driver may have reset the card"
        if is_severe
        else "the link retransmits packets; it may fall back in width or speed, or go down",
        remedies=(Remedy(text=f"{STEADY[place]}; {MARGINAL}", by_hand=ByHand.HARDWARE),),
        unpriced="what a failed transfer costs is the time until the driver works again: dmesg"
        if is_severe
        else "an error costs about a microsecond of link time: latency and the risk of a narrower "
        "link matter, not lost throughput",
    )


RULE = PortRule(
    slug="pcie.link_errors",
    title="PCIe link errors",
    why="A corrected error is a packet that was sent again. A few since boot are normal; a "
    "rising count, or thousands, means a marginal link: a riser, a contact, or a slot that "
    "runs a generation too fast. The kernel's log names the layer; before Linux 4.19, and in "
    "a sosreport, only that log is available. Advisory and internal errors do not concern the "
    "link and are not counted here.",
    source="https://docs.kernel.org/PCI/pcieaer-howto.html; Documentation/ABI/testing/"
    "sysfs-bus-pci-devices-aer_stats; drivers/pci/pcie/aer.c (aer_print_error); "
    "https://github.com/endlessm/linux/pull/548 and https://github.com/Dasharo/coreboot/pull/815 "
    "(both forms of its lines)",
    explains=(Symptom.CARD_STALLED, Symptom.LOW_FIGURE, Symptom.CARD_RESET),
    check=_check,
)
