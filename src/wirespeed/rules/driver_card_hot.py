"""A card that warned of its own temperature, and still works."""

import re
from collections.abc import Iterator

from wirespeed.facts.driver_log import DriverLog
from wirespeed.model.command import Command
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule
from wirespeed.model.symptom import Symptom

WARM = re.compile(r"High temperature")


def _check(exam: PortExam) -> Iterator[Finding]:
    if exam.port.pci_address is None:
        raise DoesNotApplyError("it is not a PCI function")
    lines = exam.host[DriverLog].warnings_of(exam.port, WARM)
    if not lines:
        return
    yield exam.finding(
        Severity.RISK,
        (Evidence(found=f"{lines[-1]} ({len(lines)} of this kind)", source="dmesg"),),
        so="the card reported high temperature: above its limit it stops itself and all its "
        "traffic",
        remedies=(
            Remedy(
                text="cool the card: a server card needs a server's airflow, and its modules and "
                "the neighbouring slots heat it too; `sensors` shows its temperature where the "
                "kernel reports it (hwmon)",
                commands=(Command(argv=("dmesg", "-T")),),
                by_hand=ByHand.HARDWARE,
            ),
        ),
        unpriced="it costs nothing until the card stops: see whether the message comes again "
        "under load (`dmesg -w`)",
    )


RULE = PortRule(
    slug="driver.card_hot",
    title="Card reports high temperature",
    why="A card has sensors of its own, and warns in the kernel's log before it is so hot that it "
    "stops. Cards made for servers have no fan and rely on the server's.",
    source="drivers/net/ethernet/mellanox/mlx5/core/events.c (temp_warn), health.c (synd 0x10); "
    "https://docs.nvidia.com/networking/display/connectx7vpi/monitoring",
    explains=(Symptom.CARD_RESET, Symptom.NO_LINK),
    check=_check,
)
