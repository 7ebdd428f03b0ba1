"""Turbo is switched off."""

from collections.abc import Iterator

from wirespeed.facts.cpu import Cpus
from wirespeed.facts.cpu_power import CpuPower
from wirespeed.model.command import write_file
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity, StepCall
from wirespeed.model.observed import Absent, Known, known
from wirespeed.model.question import Purpose
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule
from wirespeed.model.symptom import Symptom

NO_TURBO = "no_turbo"
OFFERS_TURBO = "ida"
"""Flag of CPUID 6, EAX bit 1: 0 where the BIOS disables turbo or the processor has none. Then
store_no_turbo() of drivers/cpufreq/intel_pstate.c gives EPERM, and the file reads 1."""


def _check(exam: HostExam) -> Iterator[Finding]:
    turbo = exam.host[CpuPower].turbo
    if isinstance(turbo, Absent):
        raise DoesNotApplyError("this kernel has no switch for turbo")
    if known(turbo, "whether turbo is on"):
        return
    path = turbo.source.removeprefix("cat ")
    yield exam.finding(
        Severity.NOTE,
        (Evidence(found="turbo is off", source=turbo.source),),
        so="a core stays at its base clock even while others are idle, and forwards "
        "proportionally less",
        remedies=(_in_bios() if _firmware_forbids(exam, path) else _switched_on(path),),
        unpriced="it costs where a core bounds the path, in proportion to the clock",
    )


def _firmware_forbids(exam: HostExam, path: str) -> bool:
    """Whether intel_pstate refuses to switch turbo on: the CPU then does not offer it (CPUID 6)."""
    flags = exam.host[Cpus].flags
    return path.endswith(NO_TURBO) and isinstance(flags, Known) and OFFERS_TURBO not in flags.value


def _in_bios() -> Remedy:
    return Remedy(
        text="the kernel cannot switch it on, as the CPU does not offer it: turn turbo on in the "
        "BIOS (Intel Turbo Boost), unless it is off on purpose, or this processor has none",
        by_hand=ByHand.BIOS,
    )


def _switched_on(path: str) -> Remedy:
    value = "0" if path.endswith(NO_TURBO) else "1"
    return Remedy(
        text="switch turbo on, unless it is off on purpose: for constant timing, heat or power",
        commands=(write_file(path, value),),
        steps=(
            StepCall.of(
                "kernel_switch",
                paths=[path],
                value=value,
                reason="A core clocks higher while others are idle.",
            ),
        ),
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
    explains=(Symptom.LOW_FIGURE,),
    check=_check,
)
