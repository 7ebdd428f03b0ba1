"""Parameters that the kernels of Red Hat's family get at the next boot, by grubby."""

import re
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from wirespeed.model.capture import Section
from wirespeed.model.command import Command
from wirespeed.model.finding import Danger
from wirespeed.model.observed import Known, Observed, Unreadable
from wirespeed.model.step import Phase, Scope, State, Step
from wirespeed.steps.kernel_command_line import PARAMETER

ARGUMENTS = re.compile(r'^args="(.*)"$', re.M)
VALUE = re.compile(r"[A-Za-z0-9_.,:/@+-]{1,400}")
BARE = "(given)"
"""A parameter without a value, as `nosoftlockup`."""


class KernelArguments(Step):
    """Every kernel that is installed gets the parameters; the running one keeps its own.

    Of each name one value stands (grubby replaces it), so a name that has to be there twice, as
    `hugepagesz` of two sizes, is not for this step. The kernels must agree before: what differs
    between them could not be put back by one command.

    Since 8.40-64 (Fedora 37, RHEL 9) grubby also keeps /etc/kernel/cmdline, from which kernels that
    are installed later get their line, and makes it of an entry where it is not there
    (update_bls_fragment, grubby-bls). Undo takes the parameters out of it and leaves the file:
    without it, such a kernel gets the line of the running one, which has them until the reboot.
    """

    scope: ClassVar[Scope] = Scope.OS
    danger: ClassVar[Danger] = Danger.REBOOT
    phase: ClassVar[Phase | None] = Phase.NEXT_BOOT
    step: Literal["kernel_arguments"] = "kernel_arguments"
    parameters: Annotated[tuple[Annotated[str, Field(pattern=PARAMETER)], ...], Field(min_length=1)]
    reason: str

    @model_validator(mode="after")
    def _names_each_once(self) -> Self:
        names = [parameter.partition("=")[0] for parameter in self.parameters]
        if len(names) != len(set(names)):
            raise ValueError("a name appears twice")
        return self

    @property
    def subject(self) -> str:
        return "parameters of every kernel"

    @property
    def why(self) -> str:
        """As the maker of the step gives it."""
        return self.reason

    @property
    def outlives_boot(self) -> bool:
        return True

    def read(self) -> Command:
        return Command(argv=("grubby", "--info=ALL"))

    def parse(self, section: Section) -> Observed[State]:
        """Give the value of each name, None where no kernel gets it."""
        source = self.read().line()
        text = section.text(source)
        if not isinstance(text, Known):
            return Unreadable(text.reason, source)
        entries = [entry.split() for entry in ARGUMENTS.findall(text.value)]
        if not entries:
            return Unreadable("it lists no kernel with arguments", source)
        state: State = {}
        for name in (parameter.partition("=")[0] for parameter in self.parameters):
            values = [[v for n, v in map(_parted, entry) if n == name] for entry in entries]
            if any(found != values[0] for found in values) or len(values[0]) > 1:
                return Unreadable(f"{name}: the kernels differ, or it appears twice", source)
            value = values[0][0] if values[0] else None
            if value is not None and value != BARE and not VALUE.fullmatch(value):
                return Unreadable(f"{name}: {value[:40]!r} could not be given again", source)
            state[name] = value
        return Known(state, source)

    def wanted(self, before: State) -> State:
        return dict(map(_parted, self.parameters))

    def commands(self, now: State, to: State) -> tuple[Command, ...]:
        """Take away what is not wanted and give what is, in one command."""
        gone = [name for name, value in to.items() if value is None and now[name] is not None]
        given = {n: str(v) for n, v in to.items() if v is not None and v != now[n]}
        words = [name if value == BARE else f"{name}={value}" for name, value in given.items()]
        options = [f"--remove-args={' '.join(gone)}"] if gone else []
        options += [f"--args={' '.join(words)}"] if words else []
        return (Command(argv=("grubby", "--update-kernel=ALL", *options)),) if options else ()


def _parted(parameter: str) -> tuple[str, str]:
    name, equals, value = parameter.partition("=")
    return name, value if equals else BARE
