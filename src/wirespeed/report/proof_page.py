"""A proof as its folder holds it, before it is HTML, Markdown or CSV."""

from dataclasses import dataclass, field
from functools import cached_property

from wirespeed.doctor.host_state import Values
from wirespeed.measure.network.summary import NetworkSummary, summarize
from wirespeed.model.fact import HostFacts
from wirespeed.model.journal import Entry
from wirespeed.model.network_trial import IsolationTrial, NetworkTrial, Pair
from wirespeed.model.plan import Plan
from wirespeed.model.proof import Compared, Opening, Stage, StageEnd, When
from wirespeed.model.spec.members import Dpdk
from wirespeed.model.trial import Outcome, Record
from wirespeed.report.diagnosis_hosts import Answer


@dataclass(frozen=True)
class Proof:
    """All that a run left. What a stage did not come to is empty, or None."""

    opening: Opening
    stages: tuple[StageEnd, ...] = ()
    found: tuple[Answer, ...] = ()
    """The doctor's answers about the hosts as found; one for each host and purpose."""
    found_after: tuple[Answer, ...] = ()
    plan: Plan | None = None
    entries: tuple[Entry, ...] = ()
    trials: tuple[NetworkTrial, ...] = ()
    bench: tuple[Record, ...] = ()
    """What was measured of a forwarder, by RFC 2544."""
    drift: Compared | None = None
    undone: Compared | None = None
    values: dict[When, dict[str, Values]] = field(default_factory=dict)
    """By host: what stood there."""
    hosts: dict[str, HostFacts] = field(default_factory=dict)
    """Those of a forwarder that is measured, as found."""

    @property
    def is_bench(self) -> bool:
        """A forwarder was to be measured by RFC 2544, and no flow between guests or hosts."""
        return isinstance(self.opening.spec, Dpdk)

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """What each search of a forwarder came to."""
        return tuple(record for record in self.bench if isinstance(record, Outcome))

    @cached_property
    def summary(self) -> NetworkSummary:
        """What was measured between guests, with n and spread."""
        return summarize(self.trials)

    @property
    def isolation(self) -> tuple[IsolationTrial, ...]:
        """Every kind of forged frame between every two guests."""
        return tuple(trial for row in self.summary.isolation for trial in row.trials)

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """Every pair that was measured by iperf3 or ping."""
        of_iperf3 = [cell.pair for cell in self.summary.iperf3]
        return tuple(dict.fromkeys([*of_iperf3, *(cell.pair for cell in self.summary.pings)]))

    def stage(self, stage: Stage) -> StageEnd | None:
        """How a stage ended; None: it was not come to."""
        return next((end for end in self.stages if end.stage is stage), None)
