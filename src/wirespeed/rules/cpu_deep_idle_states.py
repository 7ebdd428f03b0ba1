"""Idle states that a CPU enters and needs long to wake from."""

from collections.abc import Iterator

from wirespeed.facts.cpu import Cpus
from wirespeed.facts.cpu_power import CpuPower, IdleState
from wirespeed.facts.kernel import Kernel
from wirespeed.facts.kernel_boot import boot_remedy
from wirespeed.model.command import Command
from wirespeed.model.finding import Evidence, Finding, Remedy, Severity, StepCall
from wirespeed.model.observed import CannotTellError, Known, known
from wirespeed.model.question import Purpose
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule

LONG_US = 10
"""A wake-up of more is a third of the seeds' round trip of 28 to 32 us; Intel's C1E has 10."""


def _check(exam: HostExam) -> Iterator[Finding]:
    power = exam.host[CpuPower]
    if not power.idle_states:
        driver = known(power.idle_driver, "the driver of the idle states")
        raise DoesNotApplyError(f"the kernel has no idle states to choose from ({driver.strip()})")
    deep = [state for state in power.idle_states if _is_deep(state)]
    entered = [
        state for state in deep if known(state.entered, f"how often state {state.index} is entered")
    ]
    if not entered:
        return
    worst = max(known(state.exit_latency_us, "the time to wake") for state in entered)
    is_latency = exam.question.purpose is Purpose.LATENCY
    yield exam.finding(
        Severity.FAULT if is_latency else Severity.NOTE,
        tuple(
            Evidence(
                found=f"{_name(state)}: {known(state.exit_latency_us, 'the time to wake')} us to "
                f"wake, entered {known(state.entered, 'entries')} times during the capture",
                source=state.exit_latency_us.source,
            )
            for state in entered
        ),
        so=f"a frame that wakes a sleeping CPU waits up to {worst} us longer"
        if is_latency
        else (
            "a polling thread does not sleep; threads that wait for interrupts, such as control "
            f"or kernel threads, wake up to {worst} us later"
        ),
        remedies=(
            Remedy(
                text="disable the deep states until the next boot (they save power)",
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
        unpriced=f"it costs latency, up to {worst} us for each wake-up, and no throughput",
    )


def _parameters(exam: HostExam, power: CpuPower) -> str:
    if power.idle_driver == Known("intel_idle", power.idle_driver.source):
        return "intel_idle.max_cstate=0 processor.max_cstate=1"
    if exam.host[Cpus].is_arm:
        # States of PSCI and of ACPI's LPI: max_cstate is looked at for C-states alone
        # (acpi_processor_setup_lpi_states, drivers/acpi/processor_idle.c). Off, a CPU waits by WFI.
        return "cpuidle.off=1"
    return "processor.max_cstate=1"


def _is_deep(state: IdleState) -> bool:
    if known(state.disabled, "whether the state is disabled"):
        return False
    latency = state.exit_latency_us
    if not isinstance(latency, Known):
        raise CannotTellError(f"the time to wake: {latency.reason}", latency.source)
    return latency.value > LONG_US


def _name(state: IdleState) -> str:
    return state.name.value if isinstance(state.name, Known) else f"state {state.index}"


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
    check=_check,
)
