"""What a step is: one change of one thing on a host, as data and pure functions over text.

A step says how its state is read, what state it wants, and which commands lead from one state to
another. That is all that planning, applying, verifying and undoing need:

    before  = parse(read)            goal = wanted(before)
    apply   = change(before, goal)   undo = change(now, before)
    verified when a fresh parse(read) gives the goal
"""

from abc import ABC, abstractmethod
from enum import IntEnum, StrEnum
from typing import ClassVar, TypeAlias, final

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


class Phase(IntEnum):
    """When a remedy is applied: what makes a port or its queues comes before what is set on them.

    Within a phase the remedy of the most expensive finding comes first.
    """

    LINK = 1
    PORT = 2
    """Its MTU; a virtual switch of Windows."""
    QUEUES = 3
    """How many; drivers make the rings again for it."""
    RINGS = 4
    """And what is set of the port besides."""
    FUNCTIONS = 5
    """VFs."""
    GUESTS = 6
    """What is set of a VF, or of a bond."""
    SPREADING = 7
    """Which queue and core gets a frame."""
    INTERRUPT_DAEMON = 8
    INTERRUPTS = 9
    HOST = 10
    MEMORY = 11
    SETTINGS = 12
    NEXT_BOOT = 13
    RESET = 14
    """A card's, which brings what was set before it into force."""


class Step(Frozen, ABC):
    """One change. A step is a frozen type in a file of its own in `steps/`; nothing lists it.

    Its fields are its parameters; `step` is their discriminator in a plan: `Literal["rings"]`.
    """

    purpose: ClassVar[str] = ""
    """What every step of its kind is good for, in one sentence."""
    scope: ClassVar[Scope]
    danger: ClassVar[Danger] = Danger.NONE
    phase: ClassVar[Phase | None] = None
    """When it is applied as a remedy; None: no rule names it."""
    settle_s: ClassVar[float] = 0
    """For how long after a change its state may be unreadable: a link that comes back, a reset."""
    read_s: ClassVar[int] = 5
    """How long reading it may take: what asks the firmware of a card takes its time."""
    again_s: ClassVar[float] = 0
    """It is set again after so many seconds where the driver has overwritten it: a link that comes
    up after an earlier step takes its flow control from what was negotiated."""
    is_refused_at_times: ClassVar[bool] = False
    """A driver that is busy refuses its commands for a moment: they are given again, within 6 s."""
    needs_link: ClassVar[bool] = False
    """Its state may be told only with a link, which the step of the other end takes down."""

    writes_card: ClassVar[bool] = False
    """It writes to a card past its driver, which a locked down kernel refuses."""

    is_of_this_boot: ClassVar[bool] = False
    """Its commands name what has other numbers after the next boot, where they would hit others."""

    makes: ClassVar[bool] = False
    """Its undo takes away, moves or renames what later steps are about: a bond, VFs, a guest."""

    @property
    @abstractmethod
    def subject(self) -> str:
        """What it changes: a netdev, a PCI address, a file."""

    @property
    def why(self) -> str:
        """What it is good for, in one sentence: `purpose`, unless that depends on its fields."""
        return self.purpose

    @property
    def ends_stage(self) -> bool:
        """Whether later steps can be planned only once this one is done: from a new reading.

        Such steps are done one after another; the first other step begins the next stage.
        """
        return self.danger in (Danger.REBOOT, Danger.CARD_RESET, Danger.FIRMWARE)

    @property
    def waits_for_reboot(self) -> bool:
        """Whether it is in force only from the host's next boot on.

        One that ends a stage and does not wait, as the reset of a card, brings the steps before it
        into force as well.
        """
        return self.ends_stage

    @property
    def outlives_boot(self) -> bool:
        """Whether its state is that of a file of the host's own: a reboot leaves it as it is.

        What differs after a reboot was changed by others then, as without one. A file that is
        wirespeed's alone goes with the run, whatever is in it by then.
        """
        return False

    @property
    def mark(self) -> str | None:
        """A filter of a POSIX shell that keeps of its reading's text what its state is made of.

        By it a host that undoes a change by itself knows whether others changed the state. Empty:
        all of the text. None: the text varies by itself, and the host cannot know.
        """
        return ""

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

    def explained(self, failed: str) -> str:  # noqa: ARG002
        """Say what to do about a command that failed with these words; empty: they say it all."""
        return ""

    @abstractmethod
    def wanted(self, before: State) -> State:
        """Give the state that it leads to."""

    @final
    def change(self, now: State, to: State) -> tuple[Command, ...]:
        """Give the commands that lead from `now` to `to`, in order; none when they are equal."""
        return () if now == to else self.commands(now, to)

    @abstractmethod
    def commands(self, now: State, to: State) -> tuple[Command, ...]:
        """Give the commands that lead from `now` to another state `to`, in order."""
