"""Sockets wait for the interrupt instead of polling for it."""

from collections.abc import Iterator

from wirespeed.facts.sysctl import Sysctls, sysctl_remedy
from wirespeed.model.finding import Evidence, Finding, Severity
from wirespeed.model.observed import Absent, known
from wirespeed.model.question import Purpose
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule

NAMES = ("net.core.busy_read", "net.core.busy_poll")
ADVISED_US = 50
"""The kernel's own advice for both."""


def _check(exam: HostExam) -> Iterator[Finding]:
    values = [exam.host[Sysctls].number(name) for name in NAMES]
    if all(isinstance(value, Absent) for value in values):
        raise DoesNotApplyError(
            "this kernel, or this network namespace, does not support busy polling"
        )
    if any(known(value, "whether sockets busy-poll") for value in values):
        return
    yield exam.finding(
        Severity.NOTE,
        tuple(
            Evidence(found=f"{name} is 0", source=value.source)
            for name, value in zip(NAMES, values, strict=True)
        ),
        so="a thread that waits for data sleeps until interrupt, softirq and scheduler wake it",
        remedies=(
            sysctl_remedy(
                "let read and poll calls busy-poll for 50 us (each waiting thread uses a full "
                "core)",
                *((name, f"{ADVISED_US}") for name in NAMES),
            ),
        ),
        unpriced="each wake-up costs some microseconds; busy polling would cost CPU time instead",
    )


RULE = HostRule(
    slug="sysctl.busy_poll_off",
    title="Socket busy polling off",
    why="With busy polling the reading thread takes frames from the port's queue itself, without "
    "interrupt and wake-up. It uses CPU time, and is useful only if each waiting thread can "
    "have its own core.",
    source="https://docs.kernel.org/admin-guide/sysctl/net.html (busy_read, busy_poll)",
    purposes=frozenset({Purpose.LATENCY}),
    check=_check,
)
