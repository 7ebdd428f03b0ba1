"""irqbalance: the daemon that moves interrupts between cores."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.facts.cpu_list import parse_cpu_list, parse_cpu_mask
from wirespeed.model.capture import Capture
from wirespeed.model.command import Command, write_file
from wirespeed.model.fact import Fact, HostFacts
from wirespeed.model.finding import Remedy, StepCall
from wirespeed.model.observed import Absent, Known, Observed, Unreadable, read_as

RUNNING = "ps -C irqbalance -o args="
ENVIRONMENT = "sudo cat /proc/$(pidof irqbalance)/environ | tr '\\0' '\\n'"
POLICY = re.compile(
    r"--(banirq|banmod|policyscript)\b|-[iml]\b|(--hintpolicy[= ]|-h ?)(exact|subset)\b"
)
"""parse_command_line of irqbalance.c, which calls getopt_long: a blank may stand before a value."""


@dataclass(frozen=True, slots=True)
class Irqbalance(Fact):
    """Whether it runs, and which interrupts and CPUs it is configured to leave alone."""

    is_running: Observed[bool]
    arguments: Observed[tuple[str, ...]]
    """Its command line without its name. Absent when it does not run."""
    banned_cpus: Observed[frozenset[int]]
    """CPUs that it was told to give no interrupt to, instead of isolated and adaptive-tick ones;
    may be none. Absent: it was told nothing, and leaves those alone."""
    has_policy: Observed[bool]
    """It was told to leave some interrupts alone, or to keep to the driver's own hint."""

    script: ClassVar[str] = """\
find_irqbalance() (
	set +f
	# Where /proc hides the processes of others, nothing can be said.
	[ -r /proc/1/comm ] || {
		echo 'Permission denied: /proc hides processes' >&2
		return 2
	}
	grep -lsxF irqbalance /proc/[0-9]*/comm
	status=$?
	# 2: a process ended before its name was read; it is not the one.
	[ "$status" != 2 ] || status=1
	return "$status"
)
show irqbalance - find_irqbalance
read_irqbalance() {
	for path in $(find_irqbalance); do
		tr '\\0' '\\n' <"${path%/comm}/cmdline"
		printf '\\nenvironment\\n'
		tr '\\0' '\\n' <"${path%/comm}/environ"
	done | grep -E '^(environment|IRQBALANCE_|[^=]*irqbalance|-|(exact|subset|ignore)$)'
}
show irqbalance-setup - read_irqbalance
"""

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read the sections `irqbalance` (its /proc/PID/comm) and `irqbalance-setup`."""
        is_running = _is_running(capture)
        if not isinstance(is_running, Known):
            return cls(is_running, is_running, is_running, is_running)
        if not is_running.value:
            idle = Absent(RUNNING, "irqbalance does not run")
            return cls(is_running, idle, idle, idle)
        setup = capture.section("irqbalance-setup")
        output = setup.output if setup else ""
        command, header, variables = output.partition("environment\n")
        if not setup or not header:
            unread = Unreadable("its command line was not read", RUNNING)
            return cls(is_running, unread, unread, unread)
        arguments = tuple(command.split()[1:])
        denied = setup.errors.strip()
        environment: Observed[str] = (
            Unreadable(denied.splitlines()[0][:200], ENVIRONMENT)
            if denied
            else Known(variables, ENVIRONMENT)
        )
        return cls(
            is_running,
            Known(arguments, RUNNING),
            _banned(environment),
            # The service passes IRQBALANCE_ARGS on its command line.
            Known(bool(POLICY.search(" ".join(arguments))), RUNNING),
        )


def _is_running(capture: Capture) -> Observed[bool]:
    section = capture.section("irqbalance")
    if section is None:
        return Unreadable("the capture has no such section", RUNNING)
    if section.returncode in (0, 1):  # 1: grep found no such process
        return Known(bool(section.output.strip()), RUNNING)
    return Unreadable(section.failure(RUNNING).reason, RUNNING)


def _banned(environment: Observed[str]) -> Observed[frozenset[int]]:
    if not isinstance(environment, Known):
        return environment
    # In this order (setup_banned_cpus, cputree.c): with a mask, the list is not looked at.
    for name, convert in (
        ("IRQBALANCE_BANNED_CPUS", parse_cpu_mask),
        ("IRQBALANCE_BANNED_CPULIST", _listed),
    ):
        if match := re.search(rf"^{name}=\"?([^\"\n]+)", environment.value, re.M):
            return read_as(Known(match[1], environment.source), convert)
    return Absent(environment.source, "it was given none")


def _listed(text: str) -> frozenset[int]:
    """Give the CPUs; `-` is written for none: the list ends where it makes no sense (bitmap.c)."""
    return frozenset() if text.strip() == "-" else parse_cpu_list(text)


UNIT = "irqbalance.service"
STOPPED = (
    Command(argv=("systemctl", "stop", UNIT)),
    Command(argv=("systemctl", "disable", UNIT)),
)


def placed_remedy(
    host: HostFacts, pci_address: str | None, text: str, cpu_of: Mapping[int, int]
) -> Remedy:
    """Make the remedy that gives each interrupt its CPU; irqbalance is stopped where it runs."""
    runs = host[Irqbalance].is_running
    is_moved = isinstance(runs, Known) and runs.value
    cpus = {str(number): str(cpu) for number, cpu in cpu_of.items()}
    return Remedy(
        text=f"{text}{', without irqbalance, which would move them back' if is_moved else ''} "
        "(an interrupt that the kernel manages itself refuses to be set)",
        commands=(
            *(STOPPED if is_moved else ()),
            *(write_file(f"/proc/irq/{n}/smp_affinity_list", cpu) for n, cpu in cpus.items()),
        ),
        steps=(
            *((StepCall.of("irqbalance", is_running=False),) if is_moved else ()),
            StepCall.of("irq_affinity", pci_address=pci_address, cpus=cpus),
        ),
    )
