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
    """The step itself, as `steps.registry` reads it again."""
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


class Plan(Frozen):
    """All steps, in the order in which they are done."""

    steps: tuple[PlannedStep, ...]
