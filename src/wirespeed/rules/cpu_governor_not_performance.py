"""A frequency governor that does not keep the clock at its highest."""

from collections import Counter
from collections.abc import Iterator

from wirespeed.facts.cpu_power import CpuPower
from wirespeed.model.command import Command
from wirespeed.model.finding import Evidence, Finding, Remedy, Severity, StepCall
from wirespeed.model.observed import Absent, Known, known
from wirespeed.model.question import Purpose
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule
from wirespeed.model.symptom import Symptom

ACTIVE_DRIVERS = ("intel_pstate", "amd-pstate-epp")
"""Their `powersave` follows the load; with any other driver it holds the lowest clock."""


def _check(exam: HostExam) -> Iterator[Finding]:
    power = exam.host[CpuPower]
    if not power.policies and isinstance(power.driver, Absent):
        raise DoesNotApplyError("this kernel sets no frequency: the hypervisor or firmware does")
    driver = known(power.driver, "the driver of the CPUs' frequency").strip()
    governors = Counter(
        known(policy.governor, "the governor").strip() for policy in power.policies.values()
    )
    others = Counter({name: n for name, n in governors.items() if name != "performance"})
    if not others:
        return
    worst = "powersave" if "powersave" in others else min(others)
    first = next(
        policy
        for policy in power.policies.values()
        if known(policy.governor, "the governor").strip() == worst
    )
    evidence = [
        Evidence(found=f"{name} on {count} of {len(power.policies)} policies", source=source)
        for (name, count), source in zip(
            sorted(others.items()), [first.governor.source] * len(others), strict=True
        )
    ]
    evidence.append(Evidence(found=f"driver {driver}", source=power.driver.source))
    is_lowest = "powersave" in others and driver not in ACTIVE_DRIVERS
    if is_lowest:
        severity = Severity.FAULT
        low, high = known(first.floor_hz, "the lowest clock"), known(first.max_hz, "the highest")
        evidence.append(
            Evidence(found=f"{low / 1e9:.2f} GHz of {high / 1e9:.2f}", source=first.floor_hz.source)
        )
        so = "these CPUs run at their lowest clock, whatever the load"
    else:
        severity = Severity.RISK if exam.question.purpose is Purpose.LATENCY else Severity.NOTE
        if isinstance(power.energy_preference, Known):
            evidence.append(
                Evidence.of(power.energy_preference, f"{power.energy_preference.value} preferred")
            )
        so = (
            "the clock follows the load: it is low when a burst begins and reaches its maximum "
            "only under lasting load"
        )
    yield exam.finding(
        severity,
        tuple(evidence),
        so=so,
        remedies=(
            Remedy(
                text="keep the clock at its maximum",
                commands=(Command(argv=("cpupower", "frequency-set", "-g", "performance")),),
                steps=(
                    StepCall.of(
                        "cpu_governor", policies=sorted(power.policies), governor="performance"
                    ),
                ),
            ),
        ),
        unpriced="it costs where a core bounds the path, in proportion to the clock",
    )


RULE = HostRule(
    slug="cpu.governor_not_performance",
    title="CPU frequency governor is not performance",
    why="A core forwards its clock divided by the cycles per frame. The `powersave` governor of "
    "a generic driver keeps the lowest clock; governors that follow the load (schedutil, "
    "ondemand, intel_pstate's powersave) raise it within milliseconds, and a burst waits "
    "meanwhile.",
    source="https://docs.kernel.org/admin-guide/pm/cpufreq.html (Generic Scaling Governors); "
    "https://docs.kernel.org/admin-guide/pm/intel_pstate.html",
    explains=(Symptom.LOW_FIGURE,),
    check=_check,
)
