"""A module of the kernel is loaded."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from wirespeed.model.capture import Section
from wirespeed.model.command import Command
from wirespeed.model.observed import Absent, Known, Observed, Unreadable
from wirespeed.model.step import Scope, State, Step

NOT_THERE = "No such file or directory"
NAME = r"^[A-Za-z0-9][A-Za-z0-9_-]{0,55}$"
PARAMETER = r"^[A-Za-z0-9_]{1,55}=[A-Za-z0-9_.,:-]{1,200}$"


class Module(Step):
    """The module is loaded, or built into this kernel.

    Undo unloads a module that was not there before, with the modules that only it had needed. One
    that has come into use since refuses that, and the host is then said to be left changed.
    """

    scope: ClassVar[Scope] = Scope.BOOT
    makes: ClassVar[bool] = True
    step: Literal["module"] = "module"
    name: Annotated[str, Field(pattern=NAME)]
    """`vfio-pci`."""
    parameters: tuple[Annotated[str, Field(pattern=PARAMETER)], ...] = ()
    """`max_bonds=0`: given when it is loaded; a module that is there already keeps its own."""
    reason: str

    @property
    def subject(self) -> str:
        return self.name

    @property
    def why(self) -> str:
        """As the maker of the step gives it."""
        return self.reason

    def read(self) -> Command:
        """List its folder, which built-in modules that have a parameter or a version have too."""
        return Command(argv=("ls", "-d", f"/sys/module/{self.name.replace('-', '_')}"))

    def parse(self, section: Section) -> Observed[State]:
        command = self.read()
        if section.returncode == 0 and section.output.strip() == command.argv[-1]:
            return Known({"is_loaded": True}, command.line())
        if section.returncode in (1, 2) and section.errors.rstrip().endswith(NOT_THERE):
            return Known({"is_loaded": False}, command.line())
        if section.returncode == 0:
            return Unreadable("it listed something else", command.line())
        failure = section.failure(command.line())
        if isinstance(failure, Absent):
            return Unreadable(failure.reason, failure.source)
        return failure

    def made(self) -> State:
        """Give what a guest has that an earlier step starts."""
        return {"is_loaded": False}

    def wanted(self, before: State) -> State:
        return {"is_loaded": True}

    def commands(self, now: State, to: State) -> tuple[Command, ...]:
        if to["is_loaded"]:
            return (Command(argv=("modprobe", self.name, *self.parameters)),)
        return (Command(argv=("modprobe", "-r", self.name)),)
