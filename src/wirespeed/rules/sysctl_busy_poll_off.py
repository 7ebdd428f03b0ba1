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
        raise DoesNotApplyError("this kernel, or this network namespace, does not poll busily")
    if any(known(value, "whether sockets poll") for value in values):
        return
    yield exam.finding(
        Severity.NOTE,
        tuple(
            Evidence(found=f"{name} is 0", source=value.source)
            for name, value in zip(NAMES, values, strict=True)
        ),
        so="a thread that waits for data sleeps until the interrupt, the softirq and the scheduler "
        "have woken it",
        remedies=(
            sysctl_remedy(
                "let reads and polls spin for 50 us (a core for each thread that waits)",
                *((name, f"{ADVISED_US}") for name in NAMES),
            ),
        ),
        unpriced="it costs some microseconds for each wake-up, and saves a core's time",
    )


RULE = HostRule(
    slug="sysctl.busy_poll_off",
    title="Socket busy polling off",
    why="With busy polling the thread that reads takes frames from the port's queue itself, "
    "without interrupt and wake-up. It pays with CPU time, and only where one core can be spent "
    "on each thread that waits.",
    source="https://docs.kernel.org/admin-guide/sysctl/net.html (busy_read, busy_poll)",
    purposes=frozenset({Purpose.LATENCY}),
    check=_check,
)
