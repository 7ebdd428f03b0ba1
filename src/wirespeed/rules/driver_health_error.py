"""A part of a card that its driver reports as failed, or had to recover."""

from collections.abc import Iterator

from wirespeed.facts.health import Health, Reporter
from wirespeed.model.command import Command
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.port import PortKind
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule
from wirespeed.model.symptom import Symptom

STOPS_TRAFFIC = frozenset({"tx", "rx", "fw_fatal"})
"""What recovers them closes queues, or resets the card: devlink/mlx5.html, bnxt_devlink.c."""
MEANS = {
    "tx": "a send queue stopped, or the card refused a frame that it was given to send",
    "rx": "a receive queue stopped",
    "fw": "the firmware reported an internal error and continued",
    "fw_fatal": "the firmware stopped, or could not be reached over PCI Express",
    "mdd": (
        "the card refused descriptors of a driver, for example a guest's (malicious driver "
        "detection)"
    ),
}


def _check(exam: PortExam) -> Iterator[Finding]:
    if exam.port.pci_address is None or exam.port.kind is not PortKind.PHYSICAL:
        raise DoesNotApplyError("it is not a PCI physical function")
    reporters = exam.host[Health].of(exam.port)
    if not reporters:
        raise DoesNotApplyError("its driver does not report its health")
    failed = [one for one in reporters if one.is_in_error]
    recovered = [one for one in reporters if one.errors and not one.is_in_error]
    if failed:
        yield _finding(
            exam, Severity.FAULT, failed, "that part of the card does not work now", _RECOVER
        )
    if recovered:
        severe = [one for one in recovered if one.name in STOPS_TRAFFIC]
        yield _finding(
            exam,
            Severity.RISK if severe else Severity.NOTE,
            recovered,
            "it was recovered each time; during each recovery the port carried no traffic for "
            "some seconds"
            if severe
            else "it works now",
            _CAUSE,
        )


_RECOVER = (
    "read what it reports; then run `devlink health recover` on it, and if that fails reset the "
    "firmware or power the host off and on; update driver and firmware"
)
_CAUSE = (
    "read what it reports, and the kernel's log of that time; if it recurs, update driver and "
    "firmware"
)


def _finding(
    exam: PortExam, severity: Severity, reporters: list[Reporter], so: str, text: str
) -> Finding:
    means = [MEANS[one.name] for one in reporters if one.name in MEANS]
    return exam.finding(
        severity,
        tuple(
            Evidence(
                found=f"{one.name}: {'in error' if one.is_in_error else 'healthy'}, "
                f"{one.errors} errors, {one.recoveries} recovered",
                source=f"devlink health show {one.handle} reporter {one.name}",
            )
            for one in reporters
        ),
        so="; ".join((*dict.fromkeys(means), so)),
        remedies=(
            Remedy(
                text=text,
                commands=(Command(argv=("dmesg", "-T")),),
                by_hand=ByHand.FIND_FIRST,
            ),
        ),
        unpriced="the count starts when the driver was loaded: when the error recurs is not known",
    )


RULE = PortRule(
    slug="driver.health_error",
    title="Driver reports errors of the card",
    why="Drivers watch their queues and firmware, recover them, and count errors and recoveries "
    "(devlink health). A recovery closes queues or resets the card, and the port's counters "
    "restart at 0: once the kernel's log has rotated, this count is the only trace of the "
    "loss.",
    source="https://docs.kernel.org/networking/devlink/devlink-health.html; "
    "https://docs.kernel.org/networking/devlink/mlx5.html (reporters tx, rx, fw, fw_fatal); "
    "man devlink-health(8)",
    explains=(Symptom.CARD_RESET, Symptom.NO_LINK, Symptom.LOW_FIGURE),
    check=_check,
)
