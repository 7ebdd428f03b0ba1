"""Which of several builds of the switch is the one that runs: Debian's alternatives."""

import re
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from wirespeed.model.capture import Section
from wirespeed.model.command import Command
from wirespeed.model.observed import Known, Observed, Unreadable
from wirespeed.model.step import Scope, State, Step

PATH = r"^/[A-Za-z0-9._+/-]{1,200}$"


class Alternative(Step):
    """The link of this name leads to this program, from the next start of the switch on.

    What runs goes on: an approach has a step that restarts it on either side of this one, so that
    the right program runs after apply, and after undo. Undo leads the link back to the program
    that it led to; where that was update-alternatives' own choice, to its choice.
    """

    scope: ClassVar[Scope] = Scope.OS
    purpose: ClassVar[str] = (
        "Only the build with DPDK takes ports of DPDK; the package leaves the other one on."
    )
    step: Literal["alternative"] = "alternative"
    name: Literal["ovs-vswitchd"] = "ovs-vswitchd"
    program: Annotated[str, Field(pattern=PATH)]
    package: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9+.-]{0,80}$")]
    """Of Debian: what brings the program."""

    @property
    def subject(self) -> str:
        return self.name

    def read(self) -> Command:
        """Print the programs that there are, and which one it is."""
        return Command(argv=("update-alternatives", "--query", self.name))

    def parse(self, section: Section) -> Observed[State]:
        """Give the program, or None where the choice is left to update-alternatives."""
        source = self.read().line()
        text = section.text(source)
        if not isinstance(text, Known):
            missing = f"{text.reason}; it comes with apt install {self.package}"
            return Unreadable(missing, source)
        fields = dict(re.findall(r"^(Name|Status|Value): (.{1,200})$", text.value, re.M))
        programs = re.findall(r"^Alternative: (.{1,200})$", text.value, re.M)
        if fields.get("Name") != self.name or fields.get("Status") not in ("auto", "manual"):
            return Unreadable(f"it does not name the program of {self.name}", source)
        if self.program not in programs:
            return Unreadable(
                f"{self.program} is not among its {len(programs)} programs: "
                f"apt install {self.package}",
                source,
            )
        value = fields.get("Value", "")
        if not re.fullmatch(PATH, value) or value not in programs:
            return Unreadable(f"it leads to {value[:60]!r}, which undo could not restore", source)
        is_auto = fields["Status"] == "auto"
        return Known({"program": value, "is_auto": is_auto}, source)

    def wanted(self, before: State) -> State:
        """Give the program; where it is its choice already, it may stay its choice."""
        is_there = before["program"] == self.program
        return dict(before) if is_there else {"program": self.program, "is_auto": False}

    def commands(self, now: State, to: State) -> tuple[Command, ...]:
        """Set the link, or leave the choice again."""
        choice = ("--auto",) if to["is_auto"] else ("--set",)
        program = () if to["is_auto"] else (str(to["program"]),)
        return (Command(argv=("update-alternatives", *choice, self.name, *program)),)
