"""Idle states that a CPU enters and needs long to wake from."""

from collections.abc import Iterator
from dataclasses import dataclass

from wirespeed.facts.cpu import Cpus
from wirespeed.facts.cpu_power import CpuPower, IdleState
from wirespeed.facts.kernel import Kernel
from wirespeed.facts.kernel_boot import boot_remedy
from wirespeed.model.bound import Bound, BoundUnit, Limit
from wirespeed.model.command import Command
from wirespeed.model.finding import Evidence, Finding, Remedy, Severity, StepCall
from wirespeed.model.observed import Known, known, value_or_none
from wirespeed.model.question import Purpose
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule

LONG_US = 10
"""A wake-up of more is a third of the seeds' round trip of 28 to 32 us; Intel's C1E has 10."""

FORMULA = "time to wake of the deepest state that was entered"


@dataclass(frozen=True, slots=True)
class _Deep:
    """A state that a CPU may enter, with a long time to wake."""

    name: str
    exit_latency_us: int
    entered: int
    """Times during the capture."""
    source: str


def _check(exam: HostExam) -> Iterator[Finding]:
    power = exam.host[CpuPower]
    if not power.idle_states:
        driver = known(power.idle_driver, "the driver of the idle states")
        raise DoesNotApplyError(f"the kernel has no idle states to choose from ({driver.strip()})")
    entered = [deep for state in power.idle_states if (deep := _deep(state)) and deep.entered]
    if not entered:
        return
    worst = max(deep.exit_latency_us for deep in entered)
    is_latency = exam.question.purpose is Purpose.LATENCY
    yield exam.finding(
        Severity.FAULT if is_latency else Severity.NOTE,
        tuple(
            Evidence(
                found=f"{deep.name}: {deep.exit_latency_us} us to wake, entered {deep.entered} "
                "times during the capture",
                source=deep.source,
            )
            for deep in entered
        ),
        so=f"a frame that wakes a sleeping CPU waits up to {worst} us longer"
        if is_latency
        else (
            "a polling thread does not sleep; threads that wait for interrupts, such as control "
            f"or kernel threads, wake up to {worst} us later"
        ),
        remedies=(
            Remedy(
                text="disable the deep states until the next boot (the CPUs then need more power)",
                commands=(Command(argv=("cpupower", "idle-set", "-D", str(LONG_US + 1))),),
                steps=(StepCall.of("idle_states", most_exit_latency_us=LONG_US),),
            ),
            boot_remedy(
                exam.host[Kernel],
                "disable them permanently",
                "cstates",
                _parameters(exam, power),
            ),
        ),
        bounds=(
            Bound(
                limit=Limit.AT_MOST,
                value=worst / 1e6,
                unit=BoundUnit.SECONDS,
                of="for each wake-up; no throughput",
                formula=FORMULA,
            ),
        ),
    )


def _parameters(exam: HostExam, power: CpuPower) -> str:
    if power.idle_driver == Known("intel_idle", power.idle_driver.source):
        return "intel_idle.max_cstate=0 processor.max_cstate=1"
    if exam.host[Cpus].is_arm:
        # States of PSCI and of ACPI's LPI: max_cstate is looked at for C-states alone
        # (acpi_processor_setup_lpi_states, drivers/acpi/processor_idle.c). Off, a CPU waits by WFI.
        return "cpuidle.off=1"
    return "processor.max_cstate=1"


def _deep(state: IdleState) -> _Deep | None:
    """Give what is known of a state that takes long to wake from; None: it is no such state."""
    if value_or_none(state.disabled):
        return None
    latency_us = known(state.exit_latency_us, "the time to wake")
    if latency_us <= LONG_US:
        return None
    return _Deep(
        name=state.name.value if isinstance(state.name, Known) else f"state {state.index}",
        exit_latency_us=latency_us,
        entered=known(state.entered, f"how often state {state.index} is entered"),
        source=f"{state.exit_latency_us.source.replace('cat ', 'grep . ')} "
        f"/sys/devices/system/cpu/cpu*/cpuidle/state{state.index}/usage",
    )


RULE = HostRule(
    slug="cpu.deep_idle_states",
    title="Deep C-states enabled",
    why="An idle CPU goes to sleep, and the longer it expects to be idle, the deeper the state. "
    "Waking from a deep state takes tens to hundreds of microseconds, and the frame whose "
    "interrupt woke the CPU waits that long. Polling threads never sleep and are not "
    "affected.",
    source="https://docs.kernel.org/admin-guide/pm/cpuidle.html (Representation of Idle States); "
    "Mellanox NIC's Performance Report with DPDK 19.08, boot settings",
    purposes=frozenset({Purpose.DPDK, Purpose.LATENCY}),
    price=f"at most, for each wake-up: {FORMULA}",
    check=_check,
)
