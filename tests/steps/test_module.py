"""A module is loaded, and unloaded again where it was not there."""

from dataclasses import dataclass, field

import pytest
from proof import Answer, UnknownCommandError, prove
from pydantic import ValidationError

from wirespeed.model.capture import Section
from wirespeed.model.command import Command
from wirespeed.model.observed import Known, Observed, Unreadable
from wirespeed.model.step import State
from wirespeed.steps.module import Module

VFIO = Module(name="vfio-pci", reason="VFs are lent to guests by it")
NEEDS = {"vfio_pci": ("vfio_pci_core", "vfio"), "bonding": ()}


@dataclass
class DescribedModules:
    """`modprobe NAME [P=V…]`, `modprobe -r NAME`, and the folders of what is loaded."""

    loaded: set[str] = field(default_factory=set)
    parameters: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def run(self, command: Command) -> Answer:
        assert command.stdin is None
        match command.argv:
            case ("ls", "-d", path):
                if path.removeprefix("/sys/module/") in self.loaded:
                    return Answer(f"{path}\n")
                return Answer("", f"ls: cannot access '{path}': No such file or directory\n", 2)
            case ("modprobe", "-r", name):
                # modprobe(8): with what only it needed.
                self.loaded -= {self._module(name), *NEEDS[self._module(name)]}
                self.parameters.pop(self._module(name), None)
            case ("modprobe", name, *parameters):
                self.loaded |= {self._module(name), *NEEDS[self._module(name)]}
                self.parameters[self._module(name)] = tuple(parameters)
            case _:
                raise UnknownCommandError(command.line())
        return Answer()

    @staticmethod
    def _module(name: str) -> str:
        # Both spellings are one module: modprobe(8).
        module = name.replace("-", "_")
        if module not in NEEDS:
            raise UnknownCommandError(name)
        return module


def test_it_is_loaded_and_unloaded():
    goal = DescribedModules({"vfio_pci", "vfio_pci_core", "vfio"}, {"vfio_pci": ()})
    prove(VFIO, DescribedModules(), goal)


def test_its_parameters_are_given_when_it_is_loaded():
    # Without max_bonds=0 the module makes a bond0: kernel's Documentation/networking/bonding.rst.
    step = Module(name="bonding", parameters=("max_bonds=0",), reason="x")
    prove(step, DescribedModules(), DescribedModules({"bonding"}, {"bonding": ("max_bonds=0",)}))


def state_of(output: str, errors: str, code: int | None) -> Observed[State]:
    return VFIO.parse(Section("step", "vfio-pci", output, errors, code))


def test_what_both_lists_of_tools_say_of_a_folder_that_is_not_there():
    """GNU coreutils 9.1 and busybox 1.35."""
    for errors, code in (
        ("ls: cannot access '/sys/module/vfio_pci': No such file or directory\n", 2),
        ("ls: /sys/module/vfio_pci: No such file or directory\n", 1),
    ):
        state = state_of("", errors, code)
        assert isinstance(state, Known) and state.value == {"is_loaded": False}


@pytest.mark.parametrize(
    ("output", "errors", "code"),
    [
        ("", "ls: cannot access '/sys/module/vfio_pci': Permission denied\n", 2),
        ("", "sh: ls: not found", 127),
        ("", "", 0),
        ("/sys/module/vfio\n", "", 0),
        ("", "No such file or directory", None),
    ],
)
def test_what_does_not_tell_is_unreadable(output: str, errors: str, code: int | None):
    assert isinstance(state_of(output, errors, code), Unreadable)


@pytest.mark.parametrize("name", ["-r", "../x", "a b", "", "x" * 60])
def test_it_takes_only_names(name: str):
    with pytest.raises(ValidationError):
        Module(name=name, reason="x")


def test_it_takes_only_parameters():
    with pytest.raises(ValidationError):
        Module(name="bonding", parameters=("--force",), reason="x")
