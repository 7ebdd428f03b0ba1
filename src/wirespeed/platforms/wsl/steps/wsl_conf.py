"""A key of /etc/wsl.conf, which WSL reads when the distribution starts."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from wirespeed.facts.virtualization_wsl import readable
from wirespeed.model.capture import Section
from wirespeed.model.command import Command
from wirespeed.model.observed import Known, Observed, Unreadable
from wirespeed.model.step import Scope, State, Step
from wirespeed.platforms.wsl.steps.ini_text import value_of, with_values
from wirespeed.steps.file_content import FileContent

PATH = "/etc/wsl.conf"


class WslConf(Step):
    """The key has this value; every other byte of the file stays.

    Another command in the boot section is the user's and is not removed: the state is then not
    known.
    """

    scope: ClassVar[Scope] = Scope.OS
    step: Literal["wsl_conf"] = "wsl_conf"
    section: Annotated[str, Field(pattern=r"^[a-z]{1,32}$")]
    key: Annotated[str, Field(pattern=r"^[A-Za-z]{1,32}$")]
    value: Annotated[str, Field(pattern=r"^[A-Za-z0-9_./-]+( [A-Za-z0-9_./-]+)*$", max_length=200)]
    reason: str

    @property
    def subject(self) -> str:
        return f"{self.section}.{self.key}"

    @property
    def why(self) -> str:
        """As the maker of the step gives it."""
        return self.reason

    @property
    def _file(self) -> FileContent:
        return FileContent(path=PATH, content="\n", reason=self.reason)

    @property
    def outlives_boot(self) -> bool:
        return True

    def read(self) -> Command:
        return self._file.read()

    def parse(self, section: Section) -> Observed[State]:
        """Give its content; None where there is no such file.

        WSL reads no further than the first line that it cannot read: a key after that is none.
        """
        found = self._file.parse(section)
        if not isinstance(found, Known) or found.value["content"] is None:
            return found
        read = readable(str(self.wanted(found.value)["content"]))
        if value_of(read, self.section, self.key) != self.value:
            number = read.count("\n") + 1
            return Unreadable(f"WSL cannot read line {number} of it, and ends there", found.source)
        has = value_of(str(found.value["content"]), self.section, self.key)
        if self.key == "command" and has not in (None, "", self.value):
            return Unreadable(f"another command is there: {has[:60] if has else ''}", found.source)
        return found

    def wanted(self, before: State) -> State:
        text = before["content"]
        content = with_values(
            "" if text is None else str(text), self.section, {self.key: self.value}
        )
        return {"content": content if content.endswith("\n") else f"{content}\n"}

    def commands(self, now: State, to: State) -> tuple[Command, ...]:
        return self._file.change(now, to)
