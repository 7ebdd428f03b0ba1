"""The one gate of every change of hosts: a plan passes it, and so does each rest of one. Pure.

A guard is asked about all that is still to be done, whoever wants it done and how often the run was
stopped: what held when the plan was made need not hold when it goes on. The way back, undo, passes
no gate.
"""

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field

from wirespeed.apply.firmware_guard import refuse_firmware, refuse_no_way_back
from wirespeed.apply.guard import refuse_cutoff, with_cutoffs
from wirespeed.apply.lockdown_guard import refuse_locked_down
from wirespeed.apply.owner_guard import ports_named, refuse_owned
from wirespeed.model.fact import HostFacts
from wirespeed.model.plan import Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class Consents:
    """What the user allows beyond what any plan may do."""

    allow_cutoff: bool = False
    allow_firmware: bool = False
    allow_no_undo: bool = False


@dataclass(frozen=True, slots=True)
class Change:
    """What is to be done now."""

    plan: Plan
    """Steps that are in place, by the journal, have nothing to do in it: `rest_of`."""
    facts: Mapping[str, HostFacts]
    """Of each host, by its name in the plan; read for this change."""
    consents: Consents = field(default_factory=Consents)
    ports: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """PCI addresses by host that the change is about, though its steps may not name them."""
    here: Container[str] = ()
    """Hosts that are this machine."""


@dataclass(frozen=True, slots=True)
class Admitted:
    """A plan that passed the gate. Only `admit` makes one, and nothing else is applied."""

    plan: Plan


def _not_owned(change: Change) -> None:
    steps = change.plan.steps
    for host, facts in change.facts.items():
        named = ports_named(steps, host, facts)
        refuse_owned(host, steps, facts, dict.fromkeys((*change.ports.get(host, ()), *named)))


def _not_locked_down(change: Change) -> None:
    refuse_locked_down(change.plan, change.facts)


def _no_firmware(change: Change) -> None:
    if not change.consents.allow_firmware:
        refuse_firmware(change.plan)


def _has_way_back(change: Change) -> None:
    if not change.consents.allow_no_undo:
        refuse_no_way_back(change.plan)


def _keeps_way(change: Change) -> None:
    if not change.consents.allow_cutoff:
        refuse_cutoff(change.plan, change.facts)


Guard = Callable[[Change], None]
HOSTS: tuple[Guard, ...] = (_not_owned, _not_locked_down)
"""No consent lifts these: a plan that fails one is not shown either."""
GUARDS: tuple[Guard, ...] = (*HOSTS, _no_firmware, _has_way_back, _keeps_way)


def refuse_by_hosts(change: Change) -> None:
    """Raise InputError `plan.*` for what the hosts forbid, whatever the user allows."""
    for guard in HOSTS:
        guard(change)


def admit(change: Change, whole: Plan | None = None) -> Admitted:
    """Ask every guard. Raises InputError `plan.*`.

    `whole`: the plan of all stages, whose last steps the change has; None: it has all of them.
    Steps that may cut off are marked in it, for their timer.
    """
    for guard in GUARDS:
        guard(change)
    plan = whole or change.plan
    if not change.consents.allow_cutoff:
        return Admitted(plan)
    marked = with_cutoffs(change.plan, change.facts, change.here).steps
    former = plan.steps[: len(plan.steps) - len(marked)]
    last = zip(plan.steps[len(former) :], marked, strict=True)
    steps = (one.model_copy(update={"cuts": m.cuts or one.cuts}) for one, m in last)
    return Admitted(plan.model_copy(update={"steps": (*former, *steps)}))
