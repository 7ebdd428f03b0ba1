"""What holds the CPUs' clock down and puts them to sleep: cpufreq, turbo and idle states."""

import re
from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.facts.cpu import MAX_HZ
from wirespeed.facts.cpu_list import parse_cpu_list
from wirespeed.model.capture import Capture, Files
from wirespeed.model.fact import Fact
from wirespeed.model.observed import Known, Observed, Unreadable, read_as

SYSFS = "/sys/devices/system/cpu"
ATTRIBUTES = (
    "related_cpus", "scaling_driver", "scaling_governor", "energy_performance_preference",
    "scaling_max_freq", "cpuinfo_max_freq", "scaling_min_freq", "no_turbo", "boost",
    "current_driver", "current_governor", "current_governor_ro", "name", "latency",
    "disable", "scaling_available_frequencies",
)  # fmt: skip
POLICY = re.compile(rf"{SYSFS}/cpufreq/policy(\d{{1,5}})/scaling_governor")
STATE = re.compile(rf"{SYSFS}/cpu(\d{{1,5}})/cpuidle/state(\d{{1,2}})/disable")
USAGE = re.compile(rf"{SYSFS}/cpu(\d{{1,5}})/cpuidle/state(\d{{1,2}})/usage:(\d{{1,20}})")


@dataclass(frozen=True, slots=True)
class FrequencyPolicy:
    """CPUs whose clock is set together."""

    cpus: Observed[frozenset[int]]
    governor: Observed[str]
    limit_hz: Observed[int]
    """The most that the governor may ask for."""
    max_hz: Observed[int]
    """The most that the hardware can do."""
    floor_hz: Observed[int]
    """The least that the governor may ask for: where the generic `powersave` stays."""


@dataclass(frozen=True, slots=True)
class IdleState:
    """One idle state."""

    index: int
    name: Observed[str]
    """`POLL`, `C1`, `C6`."""
    exit_latency_us: Observed[int]
    disabled: Observed[bool]
    """True: on every CPU that was read."""
    entered: Observed[int]
    """How often CPUs 0 to 9 entered it between the two readings of the capture."""


@dataclass(frozen=True, slots=True)
class CpuPower(Fact):
    """Frequency policies and idle states."""

    policies: dict[int, FrequencyPolicy]
    """Empty where the kernel sets no frequency, as in most guests."""
    driver: Observed[str]
    """`intel_pstate`, `acpi-cpufreq`, `amd-pstate-epp`; Absent without cpufreq."""
    energy_preference: Observed[str]
    """Of the first CPU: `performance`, `balance_performance`, `power`."""
    steps_hz: Observed[tuple[int, ...]]
    """What a governor may choose of, on the first CPU; Absent where any clock can be asked for.

    The greatest is the most that can be asked for: acpi-cpufreq gives the boost's clock as the
    hardware's, which the CPU reaches by itself.
    """
    turbo: Observed[bool]
    idle_driver: Observed[str]
    """`intel_idle`, `acpi_idle`, `haltpoll`, `none`."""
    idle_governor: Observed[str]
    idle_states: tuple[IdleState, ...]
    """Shallowest first."""

    script: ClassVar[str] = """\
cpu_power_files() (
	set +f
	paths=
	for path in /sys/devices/system/cpu/cpufreq/policy[0-9]*; do
		paths="$paths $path/related_cpus $path/scaling_governor $path/scaling_max_freq"
		paths="$paths $path/cpuinfo_max_freq $path/scaling_min_freq"
	done
	cd /sys/devices/system/cpu || return
	for path in "$PWD"/cpu[0-9]*/cpuidle/state[0-9]*; do
		paths="$paths $path/disable"
	done
	for path in "$PWD"/cpu0/cpuidle/state[0-9]*; do
		paths="$paths $path/name $path/latency"
	done
	grep -H '' "$PWD/cpu0/cpufreq/scaling_driver" \\
		"$PWD/cpu0/cpufreq/scaling_available_frequencies" \\
		"$PWD/cpu0/cpufreq/energy_performance_preference" "$PWD/intel_pstate/no_turbo" \\
		"$PWD/cpufreq/boost" "$PWD/cpuidle/current_driver" \\
		"$PWD/cpuidle/current_governor" "$PWD/cpuidle/current_governor_ro" $paths
)
show cpu-power - cpu_power_files

idle_usage() (
	set +f
	grep -H '' /sys/devices/system/cpu/cpu[0-9]/cpuidle/state[0-9]*/usage
)
show idle-usage - idle_usage
"""
    script_again: ClassVar[str] = "show idle-usage-again - idle_usage\n"

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read the small files of `cpu-power`, and both readings of `idle-usage`."""
        files = capture.files("cpu-power", ATTRIBUTES)
        numbers = [int(m[1]) for path in files.paths() if (m := POLICY.fullmatch(path))]
        no_turbo = read_as(files[f"{SYSFS}/intel_pstate/no_turbo"], _flag)
        boost = read_as(files[f"{SYSFS}/cpufreq/boost"], _flag)
        turbo = boost
        if isinstance(no_turbo, Known):
            turbo = Known(not no_turbo.value, no_turbo.source)
        governor = files[f"{SYSFS}/cpuidle/current_governor"]
        if not isinstance(governor, Known):
            governor = files[f"{SYSFS}/cpuidle/current_governor_ro"]
        return cls(
            policies={number: _policy(number, files) for number in sorted(numbers)},
            driver=files[f"{SYSFS}/cpu0/cpufreq/scaling_driver"],
            energy_preference=files[f"{SYSFS}/cpu0/cpufreq/energy_performance_preference"],
            steps_hz=read_as(
                files[f"{SYSFS}/cpu0/cpufreq/scaling_available_frequencies"],
                lambda text: tuple(_hz_of_khz(word) for word in text.split()),
            ),
            turbo=turbo,
            idle_driver=files[f"{SYSFS}/cpuidle/current_driver"],
            idle_governor=governor,
            idle_states=tuple(_idle_states(files, capture)),
        )


def _policy(number: int, files: Files) -> FrequencyPolicy:
    path = f"{SYSFS}/cpufreq/policy{number}"
    return FrequencyPolicy(
        cpus=read_as(
            files[f"{path}/related_cpus"], lambda text: parse_cpu_list(",".join(text.split()))
        ),
        governor=files[f"{path}/scaling_governor"],
        limit_hz=read_as(files[f"{path}/scaling_max_freq"], _hz_of_khz),
        max_hz=read_as(files[f"{path}/cpuinfo_max_freq"], _hz_of_khz),
        floor_hz=read_as(files[f"{path}/scaling_min_freq"], _hz_of_khz),
    )


def _idle_states(files: Files, capture: Capture) -> list[IdleState]:
    disabled: dict[int, list[bool]] = {}
    for path in files.paths():
        if match := STATE.fullmatch(path):
            flag = read_as(files[path], _flag)
            disabled.setdefault(int(match[2]), []).append(isinstance(flag, Known) and flag.value)
    before, after = _usage(capture, "idle-usage"), _usage(capture, "idle-usage-again")
    states = []
    for index in sorted(disabled):
        path = f"{SYSFS}/cpu0/cpuidle/state{index}"
        entered: Observed[int] = Unreadable("it was not counted twice", f"cat {path}/usage")
        if index in before and index in after and after[index] >= before[index]:
            entered = Known(after[index] - before[index], f"cat {path}/usage")
        states.append(
            IdleState(
                index=index,
                name=files[f"{path}/name"],
                exit_latency_us=read_as(files[f"{path}/latency"], int),
                disabled=Known(all(disabled[index]), f"cat {path}/disable"),
                entered=entered,
            )
        )
    return states


def _usage(capture: Capture, name: str) -> dict[int, int]:
    """Entries into each state, of all CPUs that were read together."""
    section = capture.section(name)
    total: dict[int, int] = {}
    for line in section.output.splitlines() if section else ():
        if match := USAGE.fullmatch(line):
            total[int(match[2])] = total.get(int(match[2]), 0) + int(match[3])
    return total


def _flag(text: str) -> bool:
    if text.strip() not in ("0", "1"):
        raise ValueError(f"{text[:20]!r} is neither 0 nor 1")
    return text.strip() == "1"


def _hz_of_khz(text: str) -> int:
    hertz = int(text) * 1000
    if not 0 < hertz < MAX_HZ:
        raise ValueError(f"{text!r} kHz")
    return hertz
