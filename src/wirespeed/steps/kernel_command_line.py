"""Parameters that GRUB gives to the kernel at the next boot."""

import re
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from wirespeed.model.capture import Section
from wirespeed.model.command import Command
from wirespeed.model.finding import Danger
from wirespeed.model.observed import Absent, Known, Observed, Unreadable
from wirespeed.model.step import Phase, Scope, State, Step
from wirespeed.steps.file_content import moved
from wirespeed.steps.readings import files_of

MENU = "/boot/grub/grub.cfg"
PARAMETER = r"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}(=[A-Za-z0-9_.,:/@+-]{1,400})?$"
ENTRY = re.compile(r"^[ \t]*linux\s+(\S.*)$", re.M)
"""What 10_linux writes for each of its kernels; the first is what GRUB starts unless told else."""


class KernelCommandLine(Step):
    """A drop-in of Debian's or Ubuntu's GRUB adds the parameters, and its menu is made of it.

    The running kernel keeps its own until the reboot. Where the menu is elsewhere (other
    distributions, another boot loader) nothing can be read, and so nothing is done.

    The file and the menu are both looked at: a run that was killed between them is seen. Undo
    leaves the folder of the drop-ins, which GRUB does without.
    """

    scope: ClassVar[Scope] = Scope.OS
    danger: ClassVar[Danger] = Danger.REBOOT
    phase: ClassVar[Phase | None] = Phase.NEXT_BOOT
    step: Literal["kernel_command_line"] = "kernel_command_line"
    name: Annotated[str, Field(pattern=r"^[a-z0-9-]{1,40}$")] = "kernel"
    """Of the file: one step writes one file."""
    parameters: Annotated[tuple[Annotated[str, Field(pattern=PARAMETER)], ...], Field(min_length=1)]
    reason: str

    @property
    def subject(self) -> str:
        return f"/etc/default/grub.d/wirespeed-{self.name}.cfg"

    @property
    def why(self) -> str:
        """As the maker of the step gives it."""
        return self.reason

    @property
    def _content(self) -> str:
        parameters = " ".join(self.parameters)
        return f'GRUB_CMDLINE_LINUX_DEFAULT="$GRUB_CMDLINE_LINUX_DEFAULT {parameters}"'

    def read(self) -> Command:
        return Command(argv=("grep", "-H", "", self.subject, MENU))

    def parse(self, section: Section) -> Observed[State]:
        """Give the drop-in, None where there is none, and whether the menu has the parameters."""
        source = self.read().line()
        files = files_of(section, (self.subject, MENU))
        content, menu = files[self.subject], files[MENU]
        if isinstance(content, Unreadable) or not isinstance(menu, Known):
            failed = content if isinstance(content, Unreadable) else menu
            return Unreadable(f"{failed.source}: {getattr(failed, 'reason', '')}", source)
        entry = ENTRY.search(menu.value)
        if entry is None:
            return Unreadable(f"{MENU} starts no kernel", source)
        words = entry[1].split()
        return Known(
            {
                "content": None if isinstance(content, Absent) else content.value,
                "is_in_menu": all(parameter in words for parameter in self.parameters),
            },
            source,
        )

    def wanted(self, before: State) -> State:
        """Give the drop-in and that the menu has it; nothing more where another file's does."""
        if before["content"] is None and before["is_in_menu"]:
            return before
        return {"content": self._content, "is_in_menu": True}

    def commands(self, now: State, to: State) -> tuple[Command, ...]:
        """Write the drop-in beside itself and rename it, or remove it; then make the menu."""
        content, commands = to["content"], []
        # A name that does not end in .cfg is not read by grub-mkconfig.
        beside = f"{self.subject}.wirespeed"
        if content is None:
            commands.append(Command(argv=("rm", "-f", self.subject)))
        elif content != now["content"]:
            commands.append(Command(argv=("mkdir", "-p", self.subject.rpartition("/")[0])))
            commands.append(Command(argv=("tee", beside), stdin=str(content)))
            commands += moved(beside, self.subject)
        return (*commands, Command(argv=("update-grub",)))
