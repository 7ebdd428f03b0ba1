"""A command of the user's, run again and again: one line of `workload.jsonl` each.

workload   what is run under a label (`before`, `after`), and how its figure is read
trial      one run of it: its figure, and what the hosts did beside it
"""

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from wirespeed.model.frozen import Frozen


class PortUse(Frozen):
    """What a netdev carried: bits a second of frames as the kernel counts them, without FCS."""

    netdev: str
    received_bps: float
    """Mean over the trial."""
    sent_bps: float
    received_bps_peak: float | None
    """Of the interval that carried most; None: the trial was shorter than one."""
    sent_bps_peak: float | None


class CoreUse(Frozen):
    """How busy a core was, 0 to 1: neither idle nor waiting for a disk, nor stolen."""

    core: int
    busy: float
    """Mean over the trial."""
    busy_peak: float | None
    """Of its busiest interval; None: the trial was shorter than one."""


class HostUse(Frozen):
    """What a host did while a trial went on, whatever caused it."""

    host: str
    """As `--on` names it."""
    seconds: float
    """Between the first and the last reading, by the host's own clock."""
    readings: int
    ports: tuple[PortUse, ...]
    """Those that carried anything. A bond carries what its members carry: never to be added."""
    sent_segments: int | None
    """TCP, of the host itself (not of its guests): all, and those that were sent again."""
    retransmitted_segments: int | None
    cores: tuple[CoreUse, ...]
    failed: str = ""
    """Why there is nothing, or why it ends early; empty where all was read."""


class Workload(Frozen):
    """What is run under a label."""

    kind: Literal["workload"] = "workload"
    label: str
    argv: tuple[str, ...]
    figure: str
    """Regular expression with one group: the figure."""
    unit: str
    higher_is_better: bool
    limit_seconds: float
    hosts: tuple[str, ...]
    started_at: str
    wirespeed: str


class WorkloadTrial(Frozen):
    """One run of the command."""

    kind: Literal["trial"] = "trial"
    label: str
    number: int
    """1, 2, …: within its label."""
    started_at: str
    seconds: float
    """From its start to its end."""
    figure: float | None
    """None: the trial failed."""
    line: str
    """Where the figure stood."""
    failed: str
    """Why there is no figure; empty for a trial that counts."""
    said: tuple[str, ...]
    """The last lines of a trial that failed."""
    hosts: tuple[HostUse, ...]


@dataclass(frozen=True, slots=True)
class Labelled:
    """A workload and its trials."""

    workload: Workload
    trials: tuple[WorkloadTrial, ...]


WorkloadRecord = Annotated[Workload | WorkloadTrial, Field(discriminator="kind")]
WORKLOAD_RECORD: TypeAdapter[WorkloadRecord] = TypeAdapter(WorkloadRecord)
