"""A plan: the steps of every host in order, each with what was there and what will be.

It is what is shown, and it is what is executed.
"""

from typing import Any

from wirespeed.model.command import Command
from wirespeed.model.finding import Danger
from wirespeed.model.frozen import Frozen
from wirespeed.model.step import Scope, State


class PlannedStep(Frozen):
    """One step on one host."""

    host: str
    """Its destination: `here`, `ssh://root@alpha`."""
    step: dict[str, Any]
    """The step itself, as `catalog` reads it again."""
    subject: str
    why: str
    scope: Scope
    danger: Danger
    before: State | None
    """None: an earlier step makes the thing; what it is then is read when its turn comes."""
    goal: State
    read: Command
    commands: tuple[Command, ...]
    undo: tuple[Command, ...]
    no_op: str = ""
    """Why nothing is to be done, where nothing is."""
    cuts: str = ""
    """What it may take down of the way to the host: then the host has a timer that undoes it."""
    stage: int = 1
    """1, 2, …: between two, a host is rebooted or its card is reset, and it is read afresh."""
    waits_for_reboot: bool = False
    """It is in force from the host's next boot on."""

    @property
    def kind(self) -> str:
        """As in `mtu`; of a step within a namespace, the kind of that."""
        inner = self.step.get("inner")
        return str((inner if isinstance(inner, dict) else self.step)["step"])

    @property
    def name(self) -> str:
        """Kind and subject, as in `mtu eth0`."""
        return f"{self.kind} {self.subject}"


class Later(Frozen):
    """What a host still has to do after this stage; it is planned from the state at that time."""

    host: str
    """By its name in the spec."""
    after: tuple[str, ...]
    """The steps that it waits for, as `kind subject`."""
    needs_reboot: bool
    """False: a step of this stage resets the card itself."""


class Plan(Frozen):
    """All steps of a stage, in the order in which they are done."""

    steps: tuple[PlannedStep, ...]
    later: tuple[Later, ...] = ()
    """Empty in the last stage."""
    notes: tuple[str, ...] = ()
    """What the reader of the plan is to know beside its steps: a sentence each."""
