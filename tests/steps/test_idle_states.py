"""Idle states by their time to wake."""

import pytest
from described_files import DescribedFiles
from proof import Answer, plan_on, prove
from pydantic import ValidationError
from samples import is_never_guessed, reason_of, section_of, state_of

from wirespeed.model.command import Command
from wirespeed.steps.idle_states import FOLDER, IdleStates

STEP = IdleStates(most_exit_latency_us=10)
FIND = (
    "find", "/sys/devices/system/cpu", "-path", "*/cpuidle/state*",
    "(", "-name", "disable", "-o", "-name", "latency", ")",
    "-exec", "grep", "-H", "", "{}", "+",
)  # fmt: skip
LATENCIES = {"state0": 0, "state1": 2, "state2": 10, "state3": 133}
"""POLL, C1, C1E and C6 of an Intel Xeon (intel_idle)."""


class Described(DescribedFiles):
    """Understands the one `find`, and `tee FILE…` to switches."""

    def run(self, command: Command) -> Answer:
        if command.argv == FIND and command.stdin is None:
            wanted = (p for p in self.files if p.endswith(("/disable", "/latency")))
            return self._grep(sorted(wanted, reverse=True))
        match command.argv:
            case ("tee", first, *more) if more and command.stdin is not None:
                for path in (first, *more):
                    answer = self._tee(path, command.stdin + "\n")
                    if answer.returncode:
                        return answer
                return Answer(command.stdin + "\n")
        return super().run(command)

    def write(self, path: str, text: str) -> str:
        assert text in ("0", "1") and path.endswith("/disable")
        self.files[path] = text + "\n"
        return ""


def cpus(*disabled: str, count: int = 2) -> Described:
    files = {}
    for cpu in range(count):
        for state, latency in LATENCIES.items():
            path = f"{FOLDER}/cpu{cpu}/cpuidle/{state}"
            files[f"{path}/latency"] = f"{latency}\n"
            files[f"{path}/disable"] = f"{int(f'cpu{cpu}/{state}' in disabled)}\n"
            files[f"{path}/name"] = "C\n"
    return Described(files)


DEEP = ("cpu0/state3", "cpu1/state3")


def test_deep_states_of_every_cpu():
    prove(STEP, cpus(), cpus(*DEEP))


def test_one_that_was_disabled_already_stays_so_after_the_undo():
    prove(STEP, cpus("cpu0/state3"), cpus(*DEEP))


def test_one_that_somebody_else_disabled_is_left_alone():
    prove(STEP, cpus("cpu0/state1"), cpus("cpu0/state1", *DEEP))


def test_at_most_means_that_as_long_is_fine():
    """state2 wakes in 10 us: it stays at 10, and goes at 9."""
    nine = IdleStates(most_exit_latency_us=9)
    prove(nine, cpus(), cpus(*DEEP, "cpu0/state2", "cpu1/state2"))


def test_many_cpus_are_one_command_in_order():
    (command,) = plan_on(STEP, cpus(count=12)).steps[0].commands
    assert command.stdin == "1"
    assert command.argv[1:4] == tuple(f"{FOLDER}/cpu{n}/cpuidle/state3/disable" for n in range(3))


def test_where_no_state_is_deep_nothing_is_done():
    assert plan_on(IdleStates(most_exit_latency_us=1000), cpus()).steps[0].no_op


def test_a_guest_without_states_is_not_known():
    assert "no idle states" in reason_of(STEP, section_of(""))


def test_a_state_of_which_half_was_read_is_not_known():
    text = f"{FOLDER}/cpu0/cpuidle/state3/latency:133\n"
    assert "cpu0/cpuidle/state3" in reason_of(STEP, section_of(text))
    assert state_of(STEP, section_of(f"{text}{FOLDER}/cpu0/cpuidle/state3/disable:1\n")) == {
        "cpu0/cpuidle/state3": True
    }


def test_it_is_never_guessed():
    is_never_guessed(STEP)


def test_no_such_step():
    with pytest.raises(ValidationError):
        IdleStates(most_exit_latency_us=-1)
