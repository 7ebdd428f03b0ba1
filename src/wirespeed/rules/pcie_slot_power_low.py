"""A slot that gives a card less power than it may need."""

import re
from collections.abc import Iterator

from wirespeed.facts.driver_log import DriverLog
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule
from wirespeed.model.symptom import Symptom

POWER = re.compile(r"insufficient power on the PCIe slot")


def _check(exam: PortExam) -> Iterator[Finding]:
    if exam.port.pci_address is None:
        raise DoesNotApplyError("it is not a PCI function")
    lines = exam.host[DriverLog].warnings_of(exam.port, POWER)
    if not lines:
        return
    yield exam.finding(
        Severity.NOTE,
        (Evidence(found=lines[-1], source="dmesg"),),
        so="the slot announces less than the card and its modules may need. Hosts that work well "
        "print this too: it matters if a module stays without power, or the card slows down or "
        "resets under load",
        remedies=(
            Remedy(
                text="in that case use a slot that supplies the power that the card's manual "
                "requires, connect the card's auxiliary power, or raise the slot's power limit in "
                "the BIOS",
                by_hand=ByHand.HARDWARE,
            ),
        ),
        unpriced="whether the card lacks power was not read: look for modules without a reading in "
        "`ethtool -m`, and measure under load",
    )


RULE = PortRule(
    slug="pcie.slot_power_low",
    title="PCIe slot announces too little power for the card",
    why="A slot announces how much power it supplies. A ConnectX compares that with what it may "
    "need with its modules, and its driver reports if it is less. It compares what is announced, "
    "and not what flows: hosts without any fault print it.",
    source="https://github.com/leptonai/gpud/issues/348 (27W); "
    "drivers/net/ethernet/mellanox/mlx5/core/events.c (mlx5_pcie_event)",
    explains=(Symptom.NO_LINK, Symptom.CARD_RESET),
    check=_check,
)
