"""Time is read from a timer chip instead of the CPU."""

from collections.abc import Iterator

from wirespeed.facts.kernel import Kernel
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Known, known
from wirespeed.model.rule import HostExam, HostRule
from wirespeed.model.symptom import Symptom

SLOW = (
    "hpet", "acpi_pm", "refined-jiffies", "jiffies", "pit",
    "hyperv_clocksource_msr", "hyperv_clocksource",
)  # fmt: skip
"""Read through a bus or by the hypervisor, or too coarse; all others are a register or a page of
the CPU's own. Hyper-V's counter is an MSR that leaves the guest, where it gives no page of the TSC:
read_hv_clock_msr() of drivers/clocksource/hyperv_timer.c, whose name had no `_msr` before."""

XEN = "xen"
"""Read by a system call unless the hypervisor promises a stable TSC (xen_time_init,
arch/x86/xen/time.c), which no file of the guest tells."""


def _check(exam: HostExam) -> Iterator[Finding]:
    kernel = exam.host[Kernel]
    clocksource = known(kernel.clocksource, "the clock source")
    if clocksource == XEN:
        yield from _xen(exam)
    if clocksource not in SLOW:
        return
    evidence = [Evidence(found=f"clock source {clocksource}", source=kernel.clocksource.source)]
    has_tsc = False
    if isinstance(kernel.clocksources, Known):
        has_tsc = "tsc" in kernel.clocksources.value
        listed = ", ".join(kernel.clocksources.value)
        evidence.append(Evidence.of(kernel.clocksources, f"available: {listed}"))
    yield exam.finding(
        Severity.RISK,
        tuple(evidence),
        so="every time stamp is a system call and a slow read: each timer, pacing and RTT sample "
        "of every connection",
        remedies=(
            Remedy(
                text="find out why the kernel rejected the TSC (`dmesg | grep -i -e tsc -e "
                "clocks`): a BIOS setting, firmware, or a parameter `clocksource=`"
                if not has_tsc
                else "the TSC is available: remove the parameter `clocksource=`, or see in dmesg "
                "why the kernel chose otherwise",
                by_hand=ByHand.FIND_FIRST,
            ),
        ),
        unpriced="each reading of the clock costs about a microsecond",
    )


def _xen(exam: HostExam) -> Iterator[Finding]:
    listed = exam.host[Kernel].clocksources
    if not isinstance(listed, Known) or "tsc" not in listed.value:
        return
    yield exam.finding(
        Severity.NOTE,
        (
            Evidence(found="clock source xen", source=exam.host[Kernel].clocksource.source),
            Evidence.of(listed, f"available: {', '.join(listed.value)}"),
        ),
        so="unless the hypervisor promises a stable TSC, every time stamp is a system call",
        remedies=(
            Remedy(
                text="see whether it is one (`strace -c -e clock_gettime date` counts calls); if "
                "so, and the guest is never migrated live, boot with `clocksource=tsc`",
                by_hand=ByHand.FIND_FIRST,
            ),
        ),
        unpriced="a system call takes longer than reading the TSC; how much longer is not known",
    )


RULE = HostRule(
    slug="kernel.clocksource_not_tsc",
    title="Clock source is not the TSC",
    why="Reading the TSC takes some ten nanoseconds and does not enter the kernel. HPET and the "
    "ACPI timer are read over a bus, by one CPU at a time, in about a microsecond. The "
    "kernel falls back on them when it considers the TSC unstable.",
    source="https://docs.kernel.org/timers/timekeeping.html; "
    "https://docs.kernel.org/admin-guide/kernel-parameters.html (clocksource=, tsc=)",
    explains=(Symptom.LOW_FIGURE,),
    check=_check,
)
