"""A host that steers whoever reads what it says: this machine's own shell, with words put in.

Every text that it is free to choose has the plant in it: what its files hold, what its programs say
on standard error, its boot id, whose its lock is. What has a form stays, so that the command goes
on; each command of wirespeed is driven through its own code by that.
"""

import re
from collections.abc import Sequence
from typing import ClassVar, Literal

from wirespeed.host.local import LocalRunner
from wirespeed.host.runner import Completed
from wirespeed.model.capture import Section
from wirespeed.model.command import Command
from wirespeed.model.observed import Known, Observed, Unreadable
from wirespeed.model.step import Scope, State, Step

from .planted import PLANT

CAPTURE = re.compile(r"wirespeed-capture 1 (\S+)")


class Hostile:
    """A `Runner` that does what it is asked, and says more than it was asked."""

    def __init__(self) -> None:
        self.is_taken = False
        """Its lock is of somebody else."""
        self.is_dumb = False
        """It does not run scripts."""
        self.cuts = ""
        """Its answer ends before a section of this name."""

    def run(
        self,
        argv: Sequence[str],
        *,
        timeout_s: float = 60.0,
        stdin: str | None = None,
        max_bytes: int = 64 << 20,
    ) -> Completed:
        if self.is_dumb:
            return Completed(
                argv=tuple(argv), output=PLANT, errors=PLANT, returncode=1, duration_s=0
            )
        done = LocalRunner().run(argv, timeout_s=timeout_s, stdin=stdin, max_bytes=max_bytes)
        return done.model_copy(
            update={"output": self._said(done.output), "errors": done.errors + PLANT}
        )

    def _said(self, text: str) -> str:
        for mark in dict.fromkeys(CAPTURE.findall(text)):
            text = re.sub(rf"(?m)^{mark} errors$", f"{mark} errors\n{PLANT}", text)
            text = re.sub(
                rf"(?m)^({mark} begin boot-id -\n).*\n", lambda m: f"{m[1]}boot{PLANT}\n", text
            )
            if self.is_taken:
                text = re.sub(
                    rf"(?m)^({mark} begin owner -\n).*\n", lambda m: f"{m[1]}{PLANT}\n", text
                )
            if self.cuts:
                text = text.partition(f"{mark} begin {self.cuts} ")[0]
        return text


class Said(Step):
    """A file has this text. `fails`: in which direction its program refuses, with many words."""

    scope: ClassVar[Scope] = Scope.BOOT
    step: Literal["said"] = "said"
    path: str
    text: str
    fails: Literal["", "change", "undo", "read"] = ""

    @property
    def subject(self) -> str:
        return f"{self.path}{PLANT}"

    @property
    def why(self) -> str:
        return f"for a test {PLANT}"

    def read(self) -> Command:
        return Command(argv=("cat", self.path))

    def parse(self, section: Section) -> Observed[State]:
        source = self.read().line()
        if section.returncode == 0 and self.fails != "read":
            return Known({"text": section.output.removesuffix("\n")}, source)
        if "No such file" in section.errors:
            return Known({"text": None}, source)
        return Unreadable(section.errors or section.output, source)

    def wanted(self, before: State) -> State:
        return {"text": self.text}

    def commands(self, now: State, to: State) -> tuple[Command, ...]:
        if now == to:
            return ()
        is_forth = to == {"text": self.text}
        refuses = Command(argv=("ls", f"/nowhere/{WORDS}"))
        if self.fails == ("change" if is_forth else "undo"):
            return (refuses,)
        if to["text"] is None:
            return (Command(argv=("rm", self.path)),)
        return (Command(argv=("tee", self.path), stdin=str(to["text"])),)


WORDS = PLANT.replace("/", "").replace("\n", "")
