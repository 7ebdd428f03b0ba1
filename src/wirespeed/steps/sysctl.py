"""A sysctl has a value now; a file of /etc/sysctl.d, which `file_content` writes, keeps it."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field, field_validator

from wirespeed.model.capture import Section
from wirespeed.model.command import Command, write_file
from wirespeed.model.observed import Observed
from wirespeed.model.step import Phase, Scope, State, Step
from wirespeed.steps.readings import state_of

NAME = r"^(net|vm|kernel)(\.[A-Za-z0-9_-]{1,64}){1,6}$"
VALUE = r"^[A-Za-z0-9_.:,/-]{1,64}([ \t]{1,8}[A-Za-z0-9_.:,/-]{1,64}){0,63}$"


class Sysctl(Step):
    """The value stands as the kernel prints it, with one space where it has any."""

    scope: ClassVar[Scope] = Scope.BOOT
    phase: ClassVar[Phase | None] = Phase.SETTINGS
    step: Literal["sysctl"] = "sysctl"
    name: Annotated[str, Field(pattern=NAME)]
    """`vm.swappiness`. No netdev with a dot in its name."""
    value: Annotated[str, Field(pattern=VALUE)]
    reason: str

    @field_validator("value")
    @classmethod
    def _as_it_is_read(cls, value: str) -> str:
        return " ".join(value.split())

    @property
    def subject(self) -> str:
        return self.name

    @property
    def why(self) -> str:
        """As the maker of the step gives it."""
        return self.reason

    @property
    def _path(self) -> str:
        return f"/proc/sys/{self.name.replace('.', '/')}"

    def read(self) -> Command:
        return Command(argv=("cat", self._path))

    def parse(self, section: Section) -> Observed[State]:
        """Give the value; unreadable where this kernel or network namespace has none."""
        return state_of(section, self.read(), _value)

    def wanted(self, before: State) -> State:
        return {"value": self.value}

    def commands(self, now: State, to: State) -> tuple[Command, ...]:
        return (write_file(self._path, str(to["value"])),)


def _value(text: str) -> State:
    value = text.removesuffix("\n")
    if not value.replace("\t", " ").isprintable():
        raise ValueError(f"{text[:40]!r} is not one value")
    return {"value": " ".join(value.split())}
