"""A spec, and the hosts as they are, to a plan: the approach's steps, each with its state now."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from pydantic import ValidationError

from wirespeed import catalog
from wirespeed.apply.control import HostControl
from wirespeed.apply.each_host import on_each
from wirespeed.apply.gate import Change, refuse_by_hosts
from wirespeed.apply.planner import planned
from wirespeed.apply.stages import Stage
from wirespeed.approaches.traits import RequestedStep
from wirespeed.approaches.unmanaged import not_kept_off
from wirespeed.model.error import HostError, InputError
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import CannotTellError, Known, Observed, Unreadable
from wirespeed.model.plan import Plan, PlannedStep
from wirespeed.model.shown import shown
from wirespeed.model.spec.spec import Spec
from wirespeed.model.step import State, Step

VF_COUNT = "vf_count"
Seen: TypeAlias = Mapping[tuple[str, str], Observed[State]]
"""States that were read together with the facts, by place and `key_of` the step."""


@dataclass(frozen=True, slots=True)
class When:
    """Which stage is planned, and what is known of the run."""

    stage: int = 1
    pending: Collection[str] = frozenset()
    """Hosts that the last stage waits for: they are not rebooted yet."""
    at_once: Collection[str] = frozenset()
    """Hosts that may be asked at the same time; the others are asked one after another."""
    seen: Seen | None = None


def plan_spec(
    spec: Spec,
    facts: Mapping[str, HostFacts],
    controls: Mapping[str, HostControl],
    when: When | None = None,
) -> Plan:
    """Plan every host of a spec up to the end of a stage, by one more round trip to each at most.

    Raises InputError `spec.*`, `plan.locked_down`, `plan.port_of_operator`, `plan.vfs_of_another`,
    and `plan.cannot_tell` where a state on a host is not known.
    """
    approach = catalog.approaches().get(spec.approach)
    if approach is None:
        raise InputError(
            "spec.approach_unknown",
            where=spec.approach,
            found="this wirespeed cannot plan it yet",
            next=f"one of {', '.join(catalog.approaches())}",
        )
    at = when or When()
    notes: dict[str, str] = {}

    def stage_of(host: str) -> Stage:
        its_facts = facts[host]
        wanted = _Requested(approach.steps(spec, host, its_facts), host)
        stage = _stage(host, wanted, _states(host, wanted.steps, controls, at.seen or {}), at)
        change = Change(
            Plan(steps=tuple(stage.steps)), {host: its_facts}, ports={host: spec.hosts[host].ports}
        )
        refuse_by_hosts(change)
        notes[host] = _note(stage.steps, its_facts)
        return stage

    stages = on_each([host for host in spec.hosts if host in at.at_once], stage_of)
    found = [stages.get(host) or stage_of(host) for host in spec.hosts]
    return Plan(
        steps=tuple(step for stage in found for step in stage.steps),
        later=tuple(stage.later() for stage in found if stage.has_ended),
        notes=tuple(f"{host}: {notes[host]}" for host in spec.hosts if notes[host]),
    )


def _note(steps: Sequence[PlannedStep], facts: HostFacts) -> str:
    """Say of a host that gets VFs if its network programs may set them up as well; else nothing."""
    makes_vfs = any(one.step["step"] == VF_COUNT and not one.no_op for one in steps)
    return not_kept_off(facts) if makes_vfs else ""


def key_of(step: Step) -> str:
    """Give what tells one step from another: all of its fields."""
    return step.model_dump_json()


class _Requested:
    """What an approach asks for, up to where it cannot go on.

    It may be that it could after a reboot: a card that offers no VFs until its firmware's settings
    are in force.
    """

    def __init__(self, approach: Iterator[RequestedStep], host: str) -> None:
        self.steps: list[RequestedStep] = []
        self.stops: InputError | None = None
        try:
            self.steps.extend(approach)
        except InputError as error:
            self.stops = error
        except CannotTellError as error:
            self.stops = _cannot_tell(host, error)
        except ValidationError as error:
            self.stops = _name_refused(host, error)


def _stage(host: str, wanted: _Requested, states: Sequence[Observed[State]], at: When) -> Stage:
    stage = Stage(host, is_pending=host in at.pending)
    for one, state in zip(wanted.steps, states, strict=True):
        if not stage.takes(one.step.ends_stage):
            return stage
        is_made = one.is_made and not isinstance(state, Known)
        try:
            step = planned(one.guest or host, one.step, None if is_made else state, at.stage)
        except CannotTellError as error:
            raise _cannot_tell(host, error) from None
        stage.add(step)
    if wanted.stops is not None and not stage.has_ended:
        raise wanted.stops
    return stage


def _states(
    host: str, wanted: Sequence[RequestedStep], controls: Mapping[str, HostControl], seen: Seen
) -> list[Observed[State]]:
    """Give every step's state, by one round trip to the host and one to each of its guests."""
    found: dict[int, Observed[State]] = {}
    for number, one in enumerate(wanted if seen else ()):
        state = seen.get((one.guest or host, key_of(one.step)))
        if state is not None:
            found[number] = state
    unread = [number for number in range(len(wanted)) if number not in found]
    for place in dict.fromkeys(wanted[number].guest or host for number in unread):
        mine = [number for number in unread if (wanted[number].guest or host) == place]
        try:
            states = controls[place].read([wanted[number].step for number in mine])
        except HostError as error:
            # A guest that an earlier step starts is not there yet.
            if place == host or not all(wanted[number].is_made for number in mine):
                raise
            states = [Unreadable(error.found, place)] * len(mine)
        found |= dict(zip(mine, states, strict=True))
    return [found[number] for number in range(len(wanted))]


def _cannot_tell(host: str, error: CannotTellError) -> InputError:
    return InputError(
        "plan.cannot_tell",
        where=host,
        found=error.reason,
        so="wirespeed does not plan on a guess",
        next=error.would_tell,
    )


def _name_refused(host: str, error: ValidationError) -> InputError:
    """Say which name of a host is kept out of commands: names of things there come from there."""
    first = error.errors(include_url=False, include_context=False)[0]
    field = ".".join(map(str, first["loc"])) or "value"
    return InputError(
        "plan.name_refused",
        where=host,
        found=f"{field} {shown(str(first['input']), 60)!r}: step {error.title} refuses this name",
        so="nothing was planned: wirespeed uses only names of letters, digits and _ . @ + - in "
        "commands",
        next="rename it (ip link set dev NAME name NEW), and plan again",
    )
