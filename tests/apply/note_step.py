"""Steps that write a file: what any run of real commands can do, undo and fail at."""

from typing import ClassVar, Literal

from wirespeed.model.capture import Section
from wirespeed.model.command import Command
from wirespeed.model.observed import Known, Observed, Unreadable
from wirespeed.model.step import Scope, State, Step

NASTY = "it's $HOME `id` \"x\" \\ WIRESPEED_STDIN_\nWIRESPEED_STDIN__\n<<'E'"


class Note(Step):
    """A file has one text; it is written by a pipe, as sysfs is."""

    scope: ClassVar[Scope] = Scope.OS
    step: Literal["note"] = "note"
    path: str
    text: str

    @property
    def subject(self) -> str:
        return self.path

    @property
    def why(self) -> str:
        return "for a test"

    def read(self) -> Command:
        return Command(argv=("cat", self.path))

    def parse(self, section: Section) -> Observed[State]:
        source = self.read().line()
        if section.returncode == 0:
            return Known({"text": section.output.removesuffix("\n")}, source)
        if "No such file" in section.errors:
            return Known({"text": None}, source)
        return Unreadable(section.errors, source)

    def wanted(self, before: State) -> State:
        return {"text": self.text}

    def commands(self, now: State, to: State) -> tuple[Command, ...]:
        if to["text"] is None:
            return (Command(argv=("rm", self.path)),)
        return (Command(argv=("tee", self.path), stdin=str(to["text"])),) if now != to else ()


class Failing(Note):
    """Its first command fails, and the second must not run."""

    step: Literal["failing"] = "failing"  # type: ignore[assignment]

    def commands(self, now: State, to: State) -> tuple[Command, ...]:
        return (Command(argv=("ls", "/nowhere/at all")), *super().commands(now, to))


class Busy(Note):
    """A driver refuses its command the first two times, in the words that `path`.says holds."""

    is_refused_at_times: ClassVar[bool] = True
    step: Literal["busy"] = "busy"  # type: ignore[assignment]

    def commands(self, now: State, to: State) -> tuple[Command, ...]:
        refuse = (
            'echo x >>"$0.tries"; [ "$(wc -l <"$0.tries")" -gt 2 ] && echo "$1" >"$0" && exit; '
            'cat "$0.says" >&2; exit 2'
        )
        return (Command(argv=("sh", "-c", refuse, self.path, str(to["text"]))),)
