"""Isolated CPUs that the timer tick still interrupts."""

from collections.abc import Iterator

from wirespeed.facts.cpu import Cpus
from wirespeed.facts.cpu_list import cpu_list_text
from wirespeed.facts.kernel import Kernel
from wirespeed.facts.kernel_boot import boot_remedy
from wirespeed.model.finding import Evidence, Finding, Severity
from wirespeed.model.observed import known, value_or_none
from wirespeed.model.question import Purpose
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule


def _check(exam: HostExam) -> Iterator[Finding]:
    cpus = exam.host[Cpus]
    isolated = known(cpus.isolated, "which CPUs are isolated")
    if not isolated:
        raise DoesNotApplyError("no CPU is isolated: see cpu.not_isolated")
    tickless = value_or_none(cpus.nohz_full)
    ticking = isolated - (tickless or frozenset())
    if not ticking:
        return
    found = (
        f"{cpu_list_text(tickless)} are without"
        if tickless
        else ("nohz_full is not set for any CPU")
    )
    yield exam.finding(
        Severity.NOTE,
        (
            Evidence(found=f"{cpu_list_text(isolated)} are isolated", source=cpus.isolated.source),
            Evidence(found=found, source=cpus.nohz_full.source),
        ),
        so=f"the timer interrupts CPUs {cpu_list_text(ticking)} 100 to 1000 times a second",
        remedies=(
            boot_remedy(
                exam.host[Kernel],
                "stop the tick there (the kernel needs CONFIG_NO_HZ_FULL)",
                "nohz",
                f"nohz_full={cpu_list_text(isolated)}",
            ),
        ),
        unpriced="a tick takes one to a few microseconds: it shows in the highest latencies only",
    )


RULE = HostRule(
    slug="cpu.tick_on_isolated",
    title="Isolated CPUs without nohz_full",
    why="Each timer tick interrupts the polling thread for some microseconds, 100 to 1000 times "
    "a second. nohz_full stops the tick while only one thread runs on the core, and moves "
    "RCU callbacks to other cores.",
    source="https://docs.kernel.org/timers/no_hz.html; "
    "https://docs.kernel.org/admin-guide/kernel-parameters.html (nohz_full=)",
    purposes=frozenset({Purpose.DPDK, Purpose.LATENCY}),
    check=_check,
)
