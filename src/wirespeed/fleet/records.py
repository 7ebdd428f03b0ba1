"""What is kept of each host of a fleet, and what follows from all of them."""

from enum import StrEnum

from pydantic import Field

from wirespeed.facts.link_events import LinkLog
from wirespeed.model.finding import Diagnosis, Evidence, Finding, Severity, Unanswered
from wirespeed.model.frozen import Frozen
from wirespeed.model.question import Question

SCHEMA = 1


class HostState(StrEnum):
    """What came of a host, as an answer says it."""

    WELL = "well"
    FINDINGS = "with findings"
    CUT_OFF = "cut off"
    """Its reading ends too early: what was found is of the part that came."""
    NOT_REACHED = "not reached"
    NOT_READ = "not read"
    """Something came from it, or its file is there, and it is not a capture."""


class InventoryHost(Frozen):
    """A host as an inventory has it."""

    name: str
    reach: str
    """How it is reached, as `wirespeed doctor` takes it."""
    labels: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """What the inventory says of it: `rack`, `switch`, `role`, and its groups as `group`."""
    variables: dict[str, str | int | float | bool] = Field(default_factory=dict)
    """Its plain variables, for a spec that is a template. Not kept with results."""
    templates: dict[str, str] = Field(default_factory=dict)
    """Variables that only Ansible could fill in: the template, and why. Not kept either."""


class FleetFinding(Frozen):
    """One finding above a note, in short."""

    rule: str
    where: str
    severity: Severity
    evidence: tuple[Evidence, ...]
    so: str
    cost_pps: float = 0.0
    """Of the more expensive direction, frames per second; 0: no price is known."""
    remedy: str = ""
    commands: tuple[str, ...] = ()
    ends_with: str = ""
    """Rule of the cause that it is an effect of: it has no work of its own. Empty: it has."""

    @classmethod
    def of(cls, finding: Finding, ends_with: str = "") -> "FleetFinding":
        """Shorten a finding of the doctor."""
        first = finding.remedies[0] if finding.remedies else None
        return cls(
            rule=finding.rule,
            where=finding.where,
            severity=finding.severity,
            evidence=finding.evidence,
            so=finding.so,
            cost_pps=max((price.cost_pps for price in finding.prices), default=0.0),
            remedy=first.text if first else "",
            commands=tuple(command.line() for command in first.commands) if first else (),
            ends_with=ends_with,
        )


class HostLinkDown(Frozen):
    """A link of a host went down once."""

    netdev: str
    at: float
    """Seconds since 1970, by the host's clock."""
    within_s: float
    """So far it may have been before or after."""


class FleetHost(Frozen):
    """One host: whether it is well, what was found, and what tells it from others."""

    name: str
    reach: str
    state: HostState
    is_bad_input: bool = False
    what: str = ""
    """Slug of the reason why there is no answer."""
    found: str = ""
    next: str = ""
    about: tuple[tuple[str, str], ...] = ()
    findings: tuple[FleetFinding, ...] = ()
    """Above a note, in the doctor's order."""
    traits: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """What hosts may have in common: rack, switch, kernel, card, firmware, cable; each may have
    several values."""
    profile: str = ""
    """Key of its settings in `Fleet.profiles`."""
    link_downs: tuple[HostLinkDown, ...] = ()
    """From the kernel's log, without those while the host started."""
    log_s: float = 0.0
    """Seconds before the reading that the log covers; 0: it could not be read."""

    @property
    def is_judged(self) -> bool:
        """Whether there is an answer, if only of the part that came."""
        return self.state in (HostState.WELL, HostState.FINDINGS, HostState.CUT_OFF)


class Common(Frozen):
    """What the hosts of a cause have in common against the others."""

    trait: str
    value: str
    affected: int
    having: int
    """Hosts of the fleet that have this value."""
    elsewhere: int
    """Hosts without it that have the same finding."""
    others: int
    """Hosts without it."""
    p: float
    """Chance that as many of those `having` it would be affected if it made no difference:
    hypergeometric, times the number of values that were compared."""


class Cause(Frozen):
    """One reason for findings of several hosts."""

    rule: str
    title: str
    severity: Severity
    hosts: tuple[str, ...]
    example: FleetFinding
    """That of the first host."""
    common: tuple[Common, ...] = ()
    cost_pps: float = 0.0
    """Of all its hosts together, each counted once with its largest price."""


class LinkEvent(Frozen):
    """Links of several hosts that went down at once, by more than chance."""

    at: str
    """The first of them: UTC, ISO 8601."""
    within_s: float
    """From the first to the last, by the hosts' clocks."""
    hosts: tuple[str, ...]
    links: tuple[str, ...]
    """`HOST NETDEV`."""
    common: tuple[Common, ...] = ()
    p: float
    """Chance that so many hosts of this fleet lose a link together at any time that the logs
    cover, if each lost its own by itself."""


class Difference(Frozen):
    """One setting in which a few hosts differ from their cohort."""

    setting: str
    value: str
    usual: str


class Outlier(Frozen):
    """A few hosts that differ from others with the same cards and role, in the same settings."""

    cohort: str
    of: int
    """Hosts in the cohort."""
    hosts: tuple[str, ...]
    differences: tuple[Difference, ...]


class Fleet(Frozen):
    """A whole answer."""

    schema_version: int = SCHEMA
    at: str
    """When it was read: UTC, ISO 8601."""
    source: str
    """Inventory or folder of captures, as the user named it."""
    question: Question
    hosts: tuple[FleetHost, ...]
    profiles: dict[str, dict[str, str]] = Field(default_factory=dict)
    """Settings, each set once."""
    causes: tuple[Cause, ...] = ()
    outliers: tuple[Outlier, ...] = ()
    link_events: tuple[LinkEvent, ...] = ()
    """The latest first."""

    def count(self, state: HostState) -> int:
        """Count hosts in a state."""
        return sum(host.state is state for host in self.hosts)

    @property
    def exit_code(self) -> int:
        """As of the doctor: 2 bad input or a reading cut off, 1 findings or no answer, 0 none."""
        if any(host.is_bad_input or host.state is HostState.CUT_OFF for host in self.hosts):
            return 2
        return int(any(host.state is not HostState.WELL for host in self.hosts))


def host_of_answer(
    host: InventoryHost,
    answer: Diagnosis | Unanswered,
    traits: dict[str, tuple[str, ...]],
    profile: str,
    log: LinkLog | None = None,
) -> FleetHost:
    """Make a host's record of the doctor's answer, or of the reason why there is none."""
    if isinstance(answer, Unanswered):
        return FleetHost(
            name=host.name,
            reach=host.reach,
            state=HostState.NOT_READ if answer.bad_input else HostState.NOT_REACHED,
            is_bad_input=answer.bad_input,
            what=answer.what,
            found=answer.found,
            next=answer.next,
            traits=host.labels,
        )
    caused = {
        number: answer.findings[cause.findings[0]].rule
        for cause in answer.causes
        for number in cause.effects
    }
    findings = tuple(
        FleetFinding.of(one, caused.get(number, ""))
        for number, one in enumerate(answer.findings)
        if one.severity is not Severity.NOTE
    )
    state = HostState.FINDINGS if findings else HostState.WELL
    return FleetHost(
        name=host.name,
        reach=host.reach,
        state=state if answer.is_complete else HostState.CUT_OFF,
        about=answer.about,
        findings=findings,
        traits={**traits, **host.labels},
        profile=profile,
        link_downs=tuple(
            HostLinkDown(netdev=one.netdev, at=one.at, within_s=one.within_s)
            for one in (log.downs if log else ())
        ),
        log_s=log.seconds if log else 0.0,
    )
