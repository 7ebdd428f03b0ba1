"""Turbo is switched off."""

from collections.abc import Iterator

from wirespeed.facts.cpu_power import CpuPower
from wirespeed.model.command import write_file
from wirespeed.model.finding import Evidence, Finding, Remedy, Severity, StepCall
from wirespeed.model.observed import Absent, known
from wirespeed.model.question import Purpose
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule


def _check(exam: HostExam) -> Iterator[Finding]:
    turbo = exam.host[CpuPower].turbo
    if isinstance(turbo, Absent):
        raise DoesNotApplyError("this kernel has no switch for turbo")
    if known(turbo, "whether turbo is on"):
        return
    path = turbo.source.removeprefix("cat ")
    value = "0" if path.endswith("no_turbo") else "1"
    yield exam.finding(
        Severity.NOTE,
        (Evidence(found="turbo is off", source=turbo.source),),
        so="a core stays at its base clock even while others are idle, and forwards "
        "proportionally less",
        remedies=(
            Remedy(
                text="switch turbo on, unless it is off on purpose: for constant timing, heat or "
                "power",
                commands=(write_file(path, value),),
                steps=(
                    StepCall.of(
                        "kernel_switch",
                        paths=[path],
                        value=value,
                        reason="A core clocks higher while others are idle.",
                    ),
                ),
            ),
        ),
        unpriced="it costs where a core bounds the path, in proportion to the clock",
    )


RULE = HostRule(
    slug="cpu.turbo_off",
    title="CPU turbo off",
    why="With turbo on, a few busy cores run well above their base clock and forward "
    "proportionally more. Turbo is sometimes switched off so that each run takes the same "
    "time.",
    source="https://docs.kernel.org/admin-guide/pm/intel_pstate.html (no_turbo); "
    "https://docs.kernel.org/admin-guide/pm/cpufreq.html (Frequency Boost Support)",
    purposes=frozenset({Purpose.DPDK, Purpose.TCP, Purpose.STORAGE}),
    check=_check,
)
