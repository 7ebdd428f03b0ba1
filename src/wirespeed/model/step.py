"""What a step is: one change of one thing on a host, as data and pure functions over text.

A step says how its state is read, what state it wants, and which commands lead from one state to
another. That is all that planning, applying, verifying and undoing need:

    before  = parse(read)            goal = wanted(before)
    apply   = change(before, goal)   undo = change(now, before)
    verified when a fresh parse(read) gives the goal
"""

from abc import ABC, abstractmethod
from enum import StrEnum
from typing import ClassVar, TypeAlias

from wirespeed.model.capture import Section
from wirespeed.model.command import Command
from wirespeed.model.finding import Danger
from wirespeed.model.frozen import Frozen
from wirespeed.model.observed import Observed

State: TypeAlias = dict[str, str | int | bool | None]
"""What a step is about, as the host says it: small, canonical, JSON. None: not there."""


class Scope(StrEnum):
    """How often a step is needed."""

    OS = "once per OS"
    CARD = "once per card"
    BOOT = "once per boot"
    GUEST = "once per guest"


class Step(Frozen, ABC):
    """One change. A step is a frozen type in a file of its own in `steps/`; nothing lists it.

    Its fields are its parameters; `step` is their discriminator in a plan: `Literal["rings"]`.
    """

    scope: ClassVar[Scope]
    danger: ClassVar[Danger] = Danger.NONE
    settle_s: ClassVar[float] = 0
    """For how long after a change its state may be unreadable: a link that comes back, a reset."""
    needs_link: ClassVar[bool] = False
    """Its state may be told only with a link, which the step of the other end takes down."""

    makes: ClassVar[bool] = False
    """Its undo takes away, moves or renames what later steps are about: a bond, VFs, a guest."""

    @property
    @abstractmethod
    def subject(self) -> str:
        """What it changes: a netdev, a PCI address, a file."""

    @property
    @abstractmethod
    def why(self) -> str:
        """What it is good for, in one sentence."""

    @property
    def ends_stage(self) -> bool:
        """Whether what comes after it can be planned only when it was done: from facts read anew.

        Steps that do are done one after another; the first other one begins the next stage.
        """
        return self.danger in (Danger.REBOOT, Danger.FIRMWARE)

    @property
    def waits_for_reboot(self) -> bool:
        """Whether it is in force only from the host's next boot on.

        One that ends a stage and does not wait, as the reset of a card, brings the steps before it
        into force as well.
        """
        return self.ends_stage

    @property
    def is_maker(self) -> bool:
        """Whether it `makes`; of one that wraps another, whether that one does."""
        return self.makes

    @abstractmethod
    def read(self) -> Command:
        """Give the command that reads its state; it changes nothing."""

    @abstractmethod
    def parse(self, section: Section) -> Observed[State]:
        """Make the state of what `read` printed; it never raises for what a host said."""

    def made(self) -> State | None:
        """Give the state of a thing that an earlier step of the plan makes, as it is made.

        For the plan to show commands for what is not there yet; a fresh reading decides when the
        step is applied. None: nothing of its kind is ever made by a step.
        """
        return None

    @abstractmethod
    def wanted(self, before: State) -> State:
        """Give the state that it leads to."""

    @abstractmethod
    def change(self, now: State, to: State) -> tuple[Command, ...]:
        """Give the commands that lead from `now` to `to`, in order; none when they are equal."""
