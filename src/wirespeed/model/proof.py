"""A proof of a whole set-up: its stages as they went, one line of `stages.jsonl` each.

    opening   what is proven, by which wirespeed
    stage     one stage came to its end, or failed

Everything else of the page stands in files of its own in the same folder: captures, findings, plan,
journal, trials between guests, what differs after undo.
"""

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from wirespeed.model.frozen import Frozen
from wirespeed.model.spec.members import AnySpec


class Stage(StrEnum):
    """In this order."""

    DOCTOR = "doctor"
    PLAN = "plan"
    APPLY = "apply"
    VERIFY = "verify"
    MEASURE = "measure"
    AFTER = "doctor again"
    UNDO = "undo"
    COMPARE = "compare"


class When(StrEnum):
    """When a host was captured; part of the file's name: `facts-before.alpha.capture`."""

    BEFORE = "before"
    APPLIED = "after"
    UNDONE = "undone"


class Opening(Frozen):
    """First line."""

    kind: Literal["opening"] = "opening"
    wirespeed: str
    started_at: str
    spec_name: str
    run_name: str
    """Folder of the run as the user called it: what `wirespeed undo` takes back."""
    spec: AnySpec
    keeps: bool
    """It is not to be undone."""


class StageEnd(Frozen):
    """A stage came to an end."""

    kind: Literal["stage"] = "stage"
    stage: Stage
    seconds: float
    outcome: Literal["done", "failed", "left out"]
    said: str
    """What came of it, or why there is nothing, in one sentence."""
    error: str = ""
    """Slug of what failed: `step.contradicted`."""
    next: str = ""
    """What to do about it."""


ProofLine = Annotated[Opening | StageEnd, Field(discriminator="kind")]
PROOF_LINE: TypeAdapter[ProofLine] = TypeAdapter(ProofLine)


class Difference(Frozen):
    """One thing that is not the same in two readings of a host."""

    host: str
    subject: str
    """What it is about: `enp1s0`, `enp1s0 vf 0`, `net.ipv4.tcp_rmem`."""
    what: str
    """`mtu`, `vlan`; empty where the subject itself came or went."""
    before: str
    now: str


class Compared(Frozen):
    """Whether the hosts are in the wanted state: `drift.json`, `state-after-undo.json`."""

    compared: int
    """Values that were compared, of all hosts."""
    differences: tuple[Difference, ...]

    @property
    def is_equal(self) -> bool:
        """Nothing differs, and something was compared."""
        return self.compared > 0 and not self.differences
