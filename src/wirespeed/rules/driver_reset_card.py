"""A card that its driver had to stop or reset."""

import re
from collections import Counter
from collections.abc import Iterator

from wirespeed.facts.driver_log import DriverLog
from wirespeed.model.command import Command
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Absent, known
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule
from wirespeed.model.symptom import Symptom
from wirespeed.rules.driver_card_hot import WARM
from wirespeed.rules.pcie_slot_power_low import POWER

HEAT = re.compile(r"over ?heated")
LINK_LOSS = re.compile(r"after link loss")
REFUSED = re.compile(r"TX driver issue|alicious Driver Detection|Error cqe")
CHANGING = re.compile(r"\(pid \d+\)|0x[0-9a-f]+|\d+")
MOST_SHOWN = 3
ADVICE = {
    HEAT: (
        "the card was too hot and stopped itself: cool it (a server card needs a server's "
        "airflow), then power the host off and on",
        ByHand.HARDWARE,
    ),
    LINK_LOSS: (
        "the link goes down while frames wait to be sent: look at the cable, the module and the "
        "far end, not at the driver",
        ByHand.FIND_FIRST,
    ),
    REFUSED: (
        "the card refused a frame that its driver, or a guest's driver, gave it to send: use "
        "driver and firmware versions that their maker lists together, in the guests too",
        ByHand.SOFTWARE,
    ),
    re.compile(""): (
        "the card took no more frames to send until it was reset: update its driver and "
        "firmware, look for PCI Express and IOMMU errors at the same time, and test whether the "
        "resets end with segmentation off (ethtool -K NETDEV tso off)",
        ByHand.FIND_FIRST,
    ),
}
"""The first whose pattern fits any message."""


def _check(exam: PortExam) -> Iterator[Finding]:
    if exam.port.pci_address is None:
        raise DoesNotApplyError("it is not a PCI function")
    said = exam.host[DriverLog].resets_of(exam.port)
    if isinstance(said, Absent):
        return
    lines = [
        line
        for line in known(said, "what drivers said")
        if not POWER.search(line) and not WARM.search(line)
    ]
    if not lines:
        return
    alike = Counter(CHANGING.sub("", line) for line in lines)
    first = {CHANGING.sub("", line): line for line in reversed(lines)}
    advice, by_hand = next(
        advice for pattern, advice in ADVICE.items() if any(pattern.search(line) for line in lines)
    )
    is_hot = any(HEAT.search(line) for line in lines)
    yield exam.finding(
        Severity.FAULT if is_hot else Severity.RISK,
        tuple(
            Evidence(found=f"{first[key]} ({count} of this kind)", source=said.source)
            for key, count in list(alike.items())[:MOST_SHOWN]
        ),
        so="the card carries nothing until it has cooled down"
        if is_hot
        else "each reset takes the link down and stops all traffic of the port for some seconds",
        remedies=(Remedy(text=advice, commands=(Command(argv=("dmesg", "-T")),), by_hand=by_hand),),
        unpriced="when it recurs is not known; the frames lost are not counted",
    )


RULE = PortRule(
    slug="driver.reset_card",
    title="Card stopped or reset by its driver",
    why="The driver resets a card that stops sending, refuses frames or is too hot, and reports "
    "this only in the kernel's log. The reset also sets the counters to 0, so no loss shows "
    "there. Older messages may have been rotated out of the log.",
    source="https://github.com/intel/ethernet-linux-ixgbe/issues/21 (Detected Tx Unit Hang); "
    "https://github.com/open-power/op-build/issues/3274 (i40e tx_timeout); "
    "https://github.com/appneta/tcpreplay/issues/169 (reset after link loss); "
    "net/sched/sch_generic.c (NETDEV WATCHDOG)",
    shows=(Symptom.CARD_RESET,),
    explains=(Symptom.NO_LINK, Symptom.LINK_FLAPS, Symptom.BOND_DEGRADED, Symptom.LOW_FIGURE),
    check=_check,
)
