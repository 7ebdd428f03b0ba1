"""A whole file of ours on a host, such as a drop-in of sysctl or networkd."""

from typing import ClassVar, Literal

from pydantic import field_validator

from wirespeed.model.capture import Section
from wirespeed.model.command import Command
from wirespeed.model.observed import Absent, Known, Observed, Unreadable
from wirespeed.model.step import Scope, State, Step

NOT_THERE = "No such file or directory"
IN_MEMORY = "/run/"
ROOTS = ("/etc/", IN_MEMORY)
RELOADS = {
    "udev": Command(argv=("udevadm", "control", "--reload")),
    "networkd": Command(argv=("networkctl", "reload")),
}
"""What has a program that runs read its files again: udevadm(8); networkctl(1), from 244 on."""


class FileContent(Step):
    """The file has this content, and only this; what stood there is kept in the journal.

    Lines end in a line feed. A file that is not there is made; its undo removes it.
    """

    scope: ClassVar[Scope] = Scope.OS
    step: Literal["file_content"] = "file_content"
    path: str
    content: str
    reason: str
    read_by: Literal["", "udev", "networkd"] = ""
    """The program that is told to read it again, after each change and after its undo. A host that
    is killed between the two has it read when that program starts."""

    @field_validator("path")
    @classmethod
    def _is_ours_to_write(cls, path: str) -> str:
        if not path.startswith(ROOTS) or ".." in path.split("/"):
            raise ValueError(f"{path}: not below {' or '.join(ROOTS)}")
        return path

    @field_validator("content")
    @classmethod
    def _ends_in_a_line_feed(cls, content: str) -> str:
        if not content.endswith("\n"):
            raise ValueError("the last line has no end")
        return content

    @property
    def subject(self) -> str:
        return self.path

    @property
    def why(self) -> str:
        """As the maker of the step gives it."""
        return self.reason

    def read(self) -> Command:
        return Command(argv=("cat", self.path))

    def parse(self, section: Section) -> Observed[State]:
        """Give its content; None where there is no such file."""
        source = self.read().line()
        if section.returncode == 0:
            return Known({"content": section.output}, source)
        if NOT_THERE in section.errors:
            return Known({"content": None}, source)
        failure = section.failure(source)
        return Unreadable(failure.reason, source) if isinstance(failure, Absent) else failure

    def wanted(self, before: State) -> State:
        """Give the content that is asked for, whatever stands there."""
        return {"content": self.content}

    def commands(self, now: State, to: State) -> tuple[Command, ...]:
        """Write beside it and rename: nobody reads half of it. Remove what was not there.

        Where the power fails, it has the one content or the other.
        """
        content = to["content"]
        reload = (RELOADS[self.read_by],) if self.read_by else ()
        if content is None:
            name = () if now["content"] is None else durable_name(self.path)
            return (Command(argv=("rm", "-f", self.path)), *name, *reload)
        text = str(content)
        beside = f"{self.path}.wirespeed"
        # Of a file that is there, mode and owner stay: they are what the rename would change.
        keep = () if now["content"] is None else (Command(argv=("cp", "-p", self.path, beside)),)
        write = Command(argv=("tee", beside), stdin=text.removesuffix("\n"))
        # networkd is no root (User=systemd-network): a login's umask of 027 or 077 would hide it.
        is_open = self.read_by == "networkd" and now["content"] is None
        shown = (Command(argv=("chmod", "644", beside)),) if is_open else ()
        # A command's input ends in a line feed; what stood there may not have.
        cut = () if text.endswith("\n") else (Command(argv=("truncate", "-s", "-1", beside)),)
        return (*keep, write, *cut, *shown, *moved(beside, self.path), *reload)


def moved(beside: str, path: str) -> tuple[Command, ...]:
    """Give the commands that rename a file that was written, its content and its name durable.

    Without the first a name may lead to an empty file after a failure of the power (fsync(2)).
    """
    content = () if path.startswith(IN_MEMORY) else (Command(argv=("sync", beside)),)
    return (*content, Command(argv=("mv", "-f", beside, path)), *durable_name(path))


def durable_name(path: str) -> tuple[Command, ...]:
    """Make it durable that a file has this name, or that none has. An old `sync` flushes all."""
    folder = path.rpartition("/")[0]
    return () if path.startswith(IN_MEMORY) else (Command(argv=("sync", folder)),)
