"""Lockup watchdogs that run on isolated CPUs."""

from collections.abc import Iterator

from wirespeed.facts.cpu import Cpus
from wirespeed.facts.cpu_list import cpu_list_text, parse_cpu_list
from wirespeed.facts.sysctl import Sysctls, sysctl_remedy
from wirespeed.model.finding import Evidence, Finding, Severity
from wirespeed.model.observed import known, read_as
from wirespeed.model.question import Purpose
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule

MASK = "kernel.watchdog_cpumask"


def _check(exam: HostExam) -> Iterator[Finding]:
    cpus, sysctls = exam.host[Cpus], exam.host[Sysctls]
    isolated = known(cpus.isolated, "which CPUs are isolated")
    if not isolated:
        raise DoesNotApplyError("no CPU is isolated: see cpu.not_isolated")
    if not known(sysctls.number("kernel.watchdog"), "whether a watchdog runs"):
        return
    watched = known(read_as(sysctls.text(MASK), parse_cpu_list), "which CPUs are watched")
    if not watched & isolated:
        return
    rest = cpu_list_text(frozenset(cpus.by_number) - isolated)
    yield exam.finding(
        Severity.NOTE,
        (
            Evidence(found=f"{cpu_list_text(isolated)} are isolated", source=cpus.isolated.source),
            Evidence(found=f"{cpu_list_text(watched)} are watched", source=f"sysctl {MASK}"),
        ),
        so=f"a timer on CPUs {cpu_list_text(watched & isolated)} wakes the watchdog every few "
        "seconds",
        remedies=(
            sysctl_remedy(
                "watch the other CPUs only, or boot with nosoftlockup",
                *([(MASK, rest)] if rest else []),
            ),
        ),
        unpriced="a check takes microseconds: it shows in the highest latencies only",
    )


RULE = HostRule(
    slug="kernel.watchdog_on_isolated",
    title="Watchdogs run on isolated CPUs",
    why="The soft lockup detector runs a timer and a thread of the highest priority on every CPU "
    "that it watches, and may report a polling thread as a lockup. Without nohz_full, it "
    "watches isolated CPUs too.",
    source="https://docs.kernel.org/admin-guide/lockup-watchdogs.html; "
    "https://docs.kernel.org/admin-guide/sysctl/kernel.html (watchdog_cpumask)",
    purposes=frozenset({Purpose.DPDK}),
    check=_check,
)
