"""Every policy gets the governor, and each its own back."""

from dataclasses import dataclass

import pytest
from described_files import DescribedFiles
from proof import Answer, prove

from wirespeed.model.capture import Section
from wirespeed.model.command import Command
from wirespeed.model.observed import Unreadable
from wirespeed.steps.cpu_governor import CpuGovernor

FOLDER = "/sys/devices/system/cpu/cpufreq"
STEP = CpuGovernor(policies=(0, 1, 8))
AVAILABLE = ("performance", "powersave", "schedutil")


@dataclass
class DescribedPolicies(DescribedFiles):
    """store_scaling_governor() of drivers/cpufreq/cpufreq.c: one of those that are there."""

    def run(self, command: Command) -> Answer:
        if command.argv[0] != "tee":
            return super().run(command)
        answers = [
            super(DescribedPolicies, self).run(Command(argv=("tee", path), stdin=command.stdin))
            for path in command.argv[1:]
        ]
        failed = [answer.errors for answer in answers if answer.returncode]
        return Answer(answers[0].output, "\n".join(failed), int(bool(failed)))

    def write(self, path: str, text: str) -> str:
        if text not in AVAILABLE:
            return "Invalid argument"
        self.files[path] = f"{text}\n"
        return ""


def host(*governors: str) -> DescribedPolicies:
    numbers = STEP.policies
    return DescribedPolicies(
        {
            f"{FOLDER}/policy{number}/scaling_governor": f"{governor}\n"
            for number, governor in zip(numbers, governors, strict=True)
        }
    )


def test_all_alike_are_changed_by_one_command():
    goal = host("performance", "performance", "performance")
    prove(STEP, host("powersave", "powersave", "powersave"), goal)


def test_each_gets_its_own_back():
    goal = host("performance", "performance", "performance")
    prove(STEP, host("powersave", "performance", "schedutil"), goal)


def test_the_commands_write_only_what_differs():
    before = {"policy0": "powersave", "policy1": "performance", "policy8": "schedutil"}
    goal = STEP.wanted(before)
    assert [c.line() for c in STEP.change(before, goal)] == [
        f"echo performance | tee {FOLDER}/policy0/scaling_governor"
        f" {FOLDER}/policy8/scaling_governor"
    ]
    assert [c.stdin for c in STEP.change(goal, before)] == ["powersave", "schedutil"]


@pytest.mark.parametrize(
    ("output", "errors", "code"),
    [
        ("", f"grep: {FOLDER}/policy0/scaling_governor: No such file or directory\n", 2),
        (f"{FOLDER}/policy0/scaling_governor:powersave\n",
         f"grep: {FOLDER}/policy1/scaling_governor: No such file or directory\n", 2),
        (f"{FOLDER}/policy0/scaling_governor:power save\n", "", 0),
        ("", "", None),
        ("".join(f"{FOLDER}/policy{n}/scaling_governor:powers\n" for n in STEP.policies), "", None),
    ],
)  # fmt: skip
def test_what_is_no_governor_is_unreadable(output: str, errors: str, code: int | None):
    assert isinstance(STEP.parse(Section("step", "x", output, errors, code)), Unreadable)
