"""Clock and sleep of the CPUs. Files as sysfs has them; states and times are Skylake-SP's."""

from wirespeed.facts.cpu_power import CpuPower
from wirespeed.model.capture import Capture, Section
from wirespeed.model.observed import Absent, Known, Unreadable

CPU = "/sys/devices/system/cpu"
STATES = (("POLL", 0), ("C1", 2), ("C1E", 10), ("C6", 133))


def power(*lines: str, errors: str = "", before: str = "", after: str = "") -> CpuPower:
    return CpuPower.parse(
        Capture(
            [
                Section("cpu-power", "", "\n".join(lines), errors, 0),
                Section("idle-usage", "", before, "", 0),
                Section("idle-usage-again", "", after, "", 0),
            ],
            complete=True,
        )
    )


def policy(number: int, governor: str, limit: int = 3700000) -> list[str]:
    folder = f"{CPU}/cpufreq/policy{number}"
    return [
        f"{folder}/related_cpus:{number} {number + 24}",
        f"{folder}/scaling_governor:{governor}",
        f"{folder}/scaling_max_freq:{limit}",
        f"{folder}/cpuinfo_max_freq:3700000",
        f"{folder}/scaling_min_freq:1200000",
    ]


def states(cpu: int, disabled: tuple[int, ...] = ()) -> list[str]:
    lines = [
        f"{CPU}/cpu{cpu}/cpuidle/state{n}/disable:{int(n in disabled)}" for n in range(len(STATES))
    ]
    if cpu == 0:
        for n, (name, latency) in enumerate(STATES):
            lines.append(f"{CPU}/cpu0/cpuidle/state{n}/name:{name}")
            lines.append(f"{CPU}/cpu0/cpuidle/state{n}/latency:{latency}")
    return lines


def usage(*counts: int, cpu: int = 0) -> str:
    return "\n".join(
        f"{CPU}/cpu{cpu}/cpuidle/state{n}/usage:{count}" for n, count in enumerate(counts)
    )


def test_a_policy_says_its_cpus_governor_and_limits():
    found = power(*policy(3, "powersave", 2700000)).policies[3]
    assert found.cpus == Known(frozenset({3, 27}), f"cat {CPU}/cpufreq/policy3/related_cpus")
    assert found.governor == Known("powersave", f"cat {CPU}/cpufreq/policy3/scaling_governor")
    for observed, hertz in (
        (found.limit_hz, 2_700_000_000),
        (found.max_hz, 3_700_000_000),
        (found.floor_hz, 1_200_000_000),
    ):
        assert isinstance(observed, Known)
        assert observed.value == hertz


def test_a_state_is_disabled_only_where_every_cpu_has_it_disabled():
    found = power(*states(0, (2, 3)), *states(1, (3,))).idle_states
    assert [s.disabled.value for s in found if isinstance(s.disabled, Known)] == [
        False,
        False,
        False,
        True,
    ]


def test_entries_are_counted_over_all_cpus_that_were_read():
    found = power(
        *states(0),
        *states(1),
        before=usage(1, 2, 3, 4) + "\n" + usage(1, 1, 1, 1, cpu=1),
        after=usage(1, 2, 5, 9) + "\n" + usage(1, 1, 1, 8, cpu=1),
    ).idle_states
    assert [s.entered.value for s in found if isinstance(s.entered, Known)] == [0, 0, 2, 12]


def test_a_count_that_went_back_is_not_known():
    found = power(*states(0), before=usage(9, 9, 9, 9), after=usage(9, 9, 9, 1)).idle_states
    assert isinstance(found[3].entered, Unreadable)


def test_turbo_is_what_intel_pstate_says_the_other_way_round():
    absent = f"grep: {CPU}/cpufreq/boost: No such file or directory"
    found = power(f"{CPU}/intel_pstate/no_turbo:1", errors=absent)
    assert found.turbo == Known(False, f"cat {CPU}/intel_pstate/no_turbo")
    boost = f"grep: {CPU}/intel_pstate/no_turbo: No such file or directory"
    found = power(f"{CPU}/cpufreq/boost:1", errors=boost)
    assert found.turbo == Known(True, f"cat {CPU}/cpufreq/boost")


def test_steps_are_what_a_governor_can_ask_for():
    """An EPYC under acpi-cpufreq: it boosts to 3.7 GHz by itself, and is asked for 2.4 at most."""
    path = f"{CPU}/cpu0/cpufreq/scaling_available_frequencies"
    found = power(f"{path}:2400000 1800000 1500000 ")
    assert found.steps_hz == Known((2_400_000_000, 1_800_000_000, 1_500_000_000), f"cat {path}")


def test_a_guest_without_cpufreq_has_no_policies():
    why = f"grep: {CPU}/cpu0/cpufreq/scaling_driver: No such file or directory"
    found = power(f"{CPU}/cpuidle/current_driver:haltpoll", errors=why)
    assert found.policies == {}
    assert isinstance(found.driver, Absent)
    assert found.idle_driver == Known("haltpoll", f"cat {CPU}/cpuidle/current_driver")


def test_kernels_before_5_8_name_the_governor_in_another_file():
    why = f"grep: {CPU}/cpuidle/current_governor: No such file or directory"
    found = power(f"{CPU}/cpuidle/current_governor_ro:menu", errors=why)
    assert found.idle_governor == Known("menu", f"cat {CPU}/cpuidle/current_governor_ro")
