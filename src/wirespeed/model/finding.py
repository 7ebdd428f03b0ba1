"""What a rule says of a host, and the doctor's whole answer."""

from enum import StrEnum
from typing import Literal, Self

from pydantic import JsonValue, model_validator

from wirespeed.model.bound import Bound
from wirespeed.model.ceiling import Ceiling, Direction, Ledger
from wirespeed.model.command import Command
from wirespeed.model.frozen import Frozen
from wirespeed.model.observed import Known
from wirespeed.model.question import Question


class Severity(StrEnum):
    """How bad it is."""

    FAULT = "fault"
    """It costs throughput, latency or frames now, and can be mended."""
    CEILING = "ceiling"
    """It bounds the path, and nothing is wrong with it."""
    RISK = "risk"
    """It costs nothing that can be seen now, and will under load or after the next change."""
    NOTE = "note"
    """Worth knowing."""


class Danger(StrEnum):
    """What a remedy may break while it is done."""

    NONE = "none"
    DROPS_LINK = "drops the link"
    REBOOT = "needs a reboot"
    WSL_SHUTDOWN = "needs wsl --shutdown"
    """Every distribution of WSL ends, with all that runs there; Windows goes on."""
    CARD_RESET = "resets the card"
    """Its ports go down and its VFs are removed; nothing is written to its flash."""
    FIRMWARE = "writes firmware"


class Evidence(Frozen):
    """One thing that was seen, and how anyone can see it again."""

    found: str
    source: str
    """A command for a shell on that host."""

    @classmethod
    def of(cls, observed: Known[object], found: str) -> "Evidence":
        """Make the evidence of a known value."""
        return cls(found=found, source=observed.source)


class ByHand(StrEnum):
    """Why no step does a remedy."""

    HARDWARE = "a card, a slot, a module or a cable is touched"
    BIOS = "it is set in the BIOS, or by the firmware of the host"
    FAR_END = "it is about other hosts or switches too"
    FIND_FIRST = "what is wrong has to be found first"
    WORKLOAD = "programs or guests have to be started otherwise"
    SOFTWARE = "software has to be fetched, taken away or started again"
    REBOOT = "the host is started again, and only you know when it may be"
    NO_UNDO = "nothing of it could be taken back"
    NO_NAME = "its name is none that is safe in a command"
    NO_STEP = "no step knows how yet"


class StepCall(Frozen):
    """`StepCall.of("rings", netdev="eth0", rx=8192)`; `catalog` makes the step of it."""

    kind: str
    """As the step calls itself: `rings`."""
    parameters: dict[str, JsonValue]

    @classmethod
    def of(cls, kind: str, **parameters: object) -> "StepCall":
        """Name a step; its parameters are what JSON has: numbers, text, lists."""
        return cls.model_validate({"kind": kind, "parameters": parameters})

    @property
    def data(self) -> dict[str, JsonValue]:
        """Give it as a plan holds a step."""
        return {"step": self.kind, **self.parameters}

    def __hash__(self) -> int:
        """Findings that are alike are told once: they are counted by their hash."""
        return hash(self.model_dump_json())


class Remedy(Frozen):
    """What mends it: steps, which can be planned, verified and undone, or why it is by hand.

    Commands are what a person types: those of the steps, or such as only look.
    """

    text: str
    commands: tuple[Command, ...] = ()
    danger: Danger = Danger.NONE
    steps: tuple[StepCall, ...] = ()
    by_hand: ByHand | None = None

    @model_validator(mode="after")
    def _is_steps_or_by_hand(self) -> Self:
        if bool(self.steps) == (self.by_hand is not None):
            raise ValueError("a remedy is either steps or by hand, with the reason")
        return self


class Change(Frozen):
    """An element's ceiling after the remedy: what the price is computed from."""

    after: Ceiling
    now: Ceiling | None = None
    """What it carries now, where the finding measured that; None: what the port's ledger says."""


class Price(Frozen):
    """What the path carries in one direction now, and what it would after the remedy alone.

    Frames per second of the question's frame size: the low ends of the bands.
    """

    direction: Direction
    now_pps: float
    after_pps: float
    bound_by_after: str
    """Element that bounds the path once this is mended."""

    @property
    def cost_pps(self) -> float:
        """Frames per second that it costs; 0 when another element bounds the path as low."""
        return max(0.0, self.after_pps - self.now_pps)


class Finding(Frozen):
    """A condition that is present."""

    rule: str
    """Condition slug: `pcie.width_below_capability`."""
    where: str
    """Port, netdev, PCI address or host."""
    severity: Severity
    evidence: tuple[Evidence, ...]
    so: str
    """What follows from it, in one sentence."""
    remedies: tuple[Remedy, ...] = ()
    changes: tuple[Change, ...] = ()
    """Given by the rule; the doctor computes `prices` from them and the port's ledger."""
    prices: tuple[Price, ...] = ()
    bounds: tuple[Bound, ...] = ()
    """Limits of what it costs, beside a price or in place of one. They do not rank it."""
    unpriced: str = ""
    """Why it has neither a price nor a bound, where it has none."""


class Cause(Frozen):
    """Findings that have one origin. A number is a place in `Diagnosis.findings`."""

    says: str
    """The condition, as a clause: `PCIe link narrower than the card supports`."""
    seen: str = ""
    """What was seen of it first, where that is short and the same at all places: `x4 now`."""
    severity: Severity
    """The worst of what it is and of what follows from it."""
    places: tuple[str, ...]
    """Ports, netdevs or hosts where the condition is, in the order of `findings`."""
    findings: tuple[int, ...]
    """The condition itself, once for each place."""
    before: tuple[int, ...] = ()
    """What has to be done first: with these in place its own remedy is unsafe, or has no effect."""
    effects: tuple[int, ...] = ()
    """What it brings about: these end with it, and have no work of their own."""
    prices: tuple[Price, ...] = ()
    """What all of it costs: its own price, or the highest one of its effects."""
    priced_at: str = ""
    """Where: one of `places`, or of its effects'."""
    confirm: str = ""
    """What would confirm that it is the reason of its effects; empty: it has none."""


class Verdict(Frozen):
    """What a rule said of one port or of the host when it found nothing."""

    rule: str
    where: str
    outcome: Literal["absent", "cannot tell", "does not apply"]
    reason: str = ""
    would_tell: str = ""
    """With `cannot tell`: the command that would tell."""


class Diagnosis(Frozen):
    """The doctor's answer about one host."""

    host: str
    question: Question
    about: tuple[tuple[str, str], ...] = ()
    """Label and value: kernel, virtualization, CPU, card."""
    findings: tuple[Finding, ...]
    """Those of one cause together, in the order of work; then notes."""
    causes: tuple[Cause, ...] = ()
    """What the findings above a note come from, in the order in which to work on it."""
    verdicts: tuple[Verdict, ...]
    ledgers: tuple[Ledger, ...]
    measured_at: tuple[str, ...] = ()
    """Ports that the measured figure may have gone by, and was compared with."""
    ports_unknown: str = ""
    """Why nobody can tell which ports the host has; empty when they are known, if only as none."""
    warnings: tuple[str, ...] = ()
    """About the capture itself (cut off, or at which limit), and options that nothing used."""
    is_complete: bool = True
    """False: the reading was cut off. All of this is about the part that came."""
    faults: tuple[str, ...] = ()
    """Rules and ceilings that failed by a mistake of ours: which, where, and what was raised."""


class Unanswered(Frozen):
    """A host of which there is no answer: unreachable, or what came from it is no capture."""

    host: str
    what: str
    """Slug: `ssh.unreachable`, `capture.not_one`."""
    found: str
    so: str = ""
    next: str = ""
    bad_input: bool = False
    """The request itself was wrong, and no host could have answered it."""
