"""Switches in sysfs are set, and each gets its own value back."""

from dataclasses import dataclass

import pytest
from described_files import DescribedFiles
from proof import Answer, prove
from pydantic import ValidationError

from wirespeed.model.capture import Section
from wirespeed.model.command import Command
from wirespeed.model.observed import Unreadable
from wirespeed.steps.kernel_switch import KernelSwitch

HUGE = "/sys/kernel/mm/transparent_hugepage/enabled"
CHOICES = ("always", "madvise", "never")
IDLE = [f"/sys/devices/system/cpu/cpu{cpu}/cpuidle/state3/disable" for cpu in range(3)]
FAIR = "/sys/kernel/debug/sched/fair_server/cpu5/runtime"
ASPM = "/sys/bus/pci/devices/0000:03:00.0/link/l1_aspm"


@dataclass
class DescribedSwitches(DescribedFiles):
    """enabled_store() of mm/huge_memory.c; cpuidle's and ASPM's switches are 0 or 1."""

    def run(self, command: Command) -> Answer:
        if command.argv[0] != "tee":
            return super().run(command)
        for path in command.argv[1:]:
            answer = super().run(Command(argv=("tee", path), stdin=command.stdin))
        return answer

    def write(self, path: str, text: str) -> str:
        if path == HUGE and text in CHOICES:
            self.files[path] = huge(text)
        elif path != HUGE and (text in ("0", "1") or (path == FAIR and text == "50000000")):
            self.files[path] = f"{text}\n"
        else:
            return "Invalid argument"
        return ""


def huge(chosen: str) -> str:
    return " ".join(f"[{c}]" if c == chosen else c for c in CHOICES) + "\n"


def step(value: str, *paths: str) -> KernelSwitch:
    return KernelSwitch(paths=paths, value=value, reason="x")


def test_one_of_a_list():
    start, goal = (
        DescribedSwitches({HUGE: huge("always")}),
        DescribedSwitches({HUGE: huge("never")}),
    )
    prove(step("never", HUGE), start, goal)


def test_a_fair_server_gets_its_runtime_back():
    """sched_fair_server_write() of kernel/sched/debug.c: nanoseconds, no more than its period."""
    start = DescribedSwitches({FAIR: "50000000\n"})
    prove(step("0", FAIR), start, DescribedSwitches({FAIR: "0\n"}))


def test_idle_states_of_cpus_that_differ():
    start = DescribedSwitches(dict(zip(IDLE, ("0\n", "1\n", "0\n"), strict=True)))
    prove(step("1", *IDLE), start, DescribedSwitches(dict.fromkeys(IDLE, "1\n")))


def test_a_link_state():
    prove(step("0", ASPM), DescribedSwitches({ASPM: "1\n"}), DescribedSwitches({ASPM: "0\n"}))


def test_all_that_differ_are_written_in_one_command():
    before = dict(zip(IDLE, ("0", "1", "0"), strict=True))
    one = step("1", *IDLE)
    assert [c.line() for c in one.change(before, one.wanted(before))] == [
        f"echo 1 | tee {IDLE[0]} {IDLE[2]}"
    ]


@pytest.mark.parametrize(
    ("output", "errors", "code"),
    [
        ("", f"grep: {HUGE}: No such file or directory\n", 2),
        ("", f"grep: {HUGE}: Permission denied\n", 2),
        (f"{HUGE}:always madvise never\n", "", 0),
        (f"{HUGE}:[$(reboot)]\n", "", 0),
        (f"{HUGE}:[always]\n", "", None),
        (f"{HUGE}:[always]\n", "", 124),
        ("", "", 1),
    ],
)
def test_what_is_no_value_is_unreadable(output: str, errors: str, code: int | None):
    state = step("never", HUGE).parse(Section("step", "x", output, errors, code))
    assert isinstance(state, Unreadable)


@pytest.mark.parametrize(
    "path",
    [
        "/sys/bus/pci/devices/0000:03:00.0/remove",
        "/sys/kernel/mm/transparent_hugepage/../../x/enabled",
        "/sys/kernel/mm/transparent_hugepage/enabled/../../../x",
        "/etc/passwd",
        "/sys/devices/system/cpu/cpu0/online",
    ],
)
def test_it_takes_only_switches_that_can_be_put_back(path: str):
    with pytest.raises(ValidationError):
        step("1", path)
