"""CPUs whose clock is limited to less than the hardware can do."""

from collections.abc import Iterator

from wirespeed.facts.cpu_power import CpuPower
from wirespeed.model.command import Command
from wirespeed.model.finding import Evidence, Finding, Remedy, Severity, StepCall
from wirespeed.model.observed import Absent, Known, known
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule
from wirespeed.model.symptom import Symptom


def _check(exam: HostExam) -> Iterator[Finding]:
    power = exam.host[CpuPower]
    if not power.policies:
        if isinstance(power.driver, Absent):
            raise DoesNotApplyError("this kernel sets no frequency")
        known(power.driver, "the driver of the CPUs' frequency")
    limits = {
        number: (
            known(policy.limit_hz, "the limit of the clock"),
            _most_hz(power, known(policy.max_hz, "the highest clock")),
        )
        for number, policy in power.policies.items()
    }
    limited = [number for number, (limit, most) in limits.items() if limit < most]
    if not limited:
        return
    number = min(limited, key=lambda number: limits[number])
    worst, (limit, most) = power.policies[number], limits[number]
    yield exam.finding(
        Severity.NOTE if exam.question.purpose is None else Severity.RISK,
        (
            Evidence(
                found=f"{limit / 1e9:.2f} GHz at most, on {len(limited)} of {len(power.policies)} "
                "policies",
                source=worst.limit_hz.source,
            ),
            Evidence(found=f"the hardware allows {most / 1e9:.2f} GHz", source=worst.max_hz.source),
        ),
        so=f"a core runs at {100 * limit // most} % of its highest clock: it forwards less by as "
        "much wherever a core is the limit",
        remedies=(
            Remedy(
                text="raise the limit, unless it was set (possibly by the BIOS) to limit heat or "
                "power",
                commands=(Command(argv=("cpupower", "frequency-set", "-u", f"{most // 1000}")),),
                steps=_lifts({p: most for p, (limit, most) in limits.items() if limit < most}),
            ),
        ),
        unpriced="it costs where a core bounds the path, in proportion to the clock",
    )


def _lifts(most_hz: dict[int, int]) -> tuple[StepCall, ...]:
    """Policies that can clock alike are lifted together."""
    return tuple(
        StepCall.of(
            "kernel_switch",
            paths=[
                f"/sys/devices/system/cpu/cpufreq/policy{number}/scaling_max_freq"
                for number, of_policy in most_hz.items()
                if of_policy == hz
            ],
            value=str(hz // 1000),
            reason="The clock may rise to the hardware's maximum.",
        )
        for hz in dict.fromkeys(most_hz.values())
    )


def _most_hz(power: CpuPower, max_hz: int) -> int:
    """The most that can be asked for; where there are steps, beyond them is the boost's own."""
    if isinstance(power.steps_hz, Known) and power.steps_hz.value:
        return min(max_hz, max(power.steps_hz.value))
    return max_hz


RULE = HostRule(
    slug="cpu.clock_limited",
    title="CPU clock limited below its maximum",
    why="scaling_max_freq is a limit set by an administrator, a power profile or the firmware. "
    "What a core can forward is proportional to its clock.",
    source="https://docs.kernel.org/admin-guide/pm/cpufreq.html (Policy Interface in sysfs)",
    explains=(Symptom.CPU_BEHIND, Symptom.LOW_FIGURE),
    check=_check,
)
