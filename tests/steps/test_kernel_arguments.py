"""Parameters of every kernel, by grubby."""

from dataclasses import dataclass, field

import pytest
from proof import Answer, UnknownCommandError, plan_on, prove
from pydantic import ValidationError
from samples import is_never_guessed, reason_of, section_of, state_of

from wirespeed.model.command import Command
from wirespeed.model.finding import Danger
from wirespeed.steps.kernel_arguments import KernelArguments

STEP = KernelArguments(
    parameters=("isolcpus=24-47", "iommu=pt", "nosoftlockup"), reason="cores of their own"
)
USUAL = "ro crashkernel=auto rhgb quiet"


@dataclass
class Described:
    """`grubby --info=ALL` and `grubby --update-kernel=ALL`, by grubby(8): a name has one value."""

    kernels: list[str] = field(default_factory=lambda: [USUAL, USUAL])

    def run(self, command: Command) -> Answer:
        assert command.stdin is None
        match command.argv:
            case ("grubby", "--info=ALL"):
                entries = (
                    f'index={n}\nkernel="/boot/vmlinuz-4.18.0-{n}.el8.x86_64"\nargs="{arguments}"\n'
                    f'root="/dev/mapper/rl-root"\ninitrd="/boot/initramfs-{n}.img"\ntitle="Rocky"\n'
                    for n, arguments in enumerate(self.kernels)
                )
                return Answer("".join(entries))
            case ("grubby", "--update-kernel=ALL", *options) if options:
                for option in options:
                    name, _, words = option.partition("=")
                    assert words and name in ("--args", "--remove-args")
                    self.kernels = [self._with(k, name, words.split()) for k in self.kernels]
                return Answer()
            case _:
                raise UnknownCommandError(command.line())

    def _with(self, arguments: str, option: str, words: list[str]) -> str:
        names = {word.partition("=")[0] for word in words}
        kept = [a for a in arguments.split() if a.partition("=")[0] not in names]
        return " ".join(kept + (words if option == "--args" else []))


def kernels(more: str) -> Described:
    return Described([f"{USUAL} {more}".strip()] * 2)


WANTED = "isolcpus=24-47 iommu=pt nosoftlockup"


def test_given_and_taken_away():
    prove(STEP, kernels(""), kernels(WANTED))


def test_a_value_that_stood_there_comes_back():
    start = kernels("isolcpus=1-3")
    prove(
        KernelArguments(parameters=("isolcpus=24-47",), reason="x"),
        start,
        kernels("isolcpus=24-47"),
    )


def test_what_is_there_already_is_not_taken_away():
    plan = plan_on(STEP, kernels("nosoftlockup")).steps[0]
    assert [c.line() for c in plan.commands] == [
        "grubby --update-kernel=ALL '--args=isolcpus=24-47 iommu=pt'"
    ]
    assert [c.line() for c in plan.undo] == [
        "grubby --update-kernel=ALL '--remove-args=isolcpus iommu'"
    ]
    assert plan.danger is Danger.REBOOT


def test_kernels_that_differ_are_not_known():
    described = Described([USUAL, f"{USUAL} iommu=pt"])
    assert "iommu" in reason_of(STEP, section_of(described.run(STEP.read()).output))


def test_a_name_that_stands_twice_is_not_known():
    described = kernels("isolcpus=1 isolcpus=2")
    assert "isolcpus" in reason_of(STEP, section_of(described.run(STEP.read()).output))


def test_a_longer_name_is_another_one():
    step = KernelArguments(parameters=("nohz=on",), reason="x")
    described = kernels("nohz_full=1-3")
    assert state_of(step, section_of(described.run(step.read()).output)) == {"nohz": None}


def test_it_is_never_guessed():
    is_never_guessed(STEP)
    reason_of(STEP, section_of('args="isolcpus=$(reboot)"\n'))


@pytest.mark.parametrize(
    "parameters",
    [(), ("hugepagesz=2M", "hugepagesz=1G"), ("a b",), ("x=$(id)",), ('x="y"',), ("-x",)],
)
def test_no_such_step(parameters: tuple[str, ...]):
    with pytest.raises(ValidationError):
        KernelArguments(parameters=parameters, reason="x")
