"""Reads steps' states: many at once, and after a change again until they are known. Bounded."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from wirespeed.apply.control import Changed, HostControl
from wirespeed.apply.each_host import on_each
from wirespeed.catalog import read_step
from wirespeed.host.clock import Deadline, sleep_s
from wirespeed.model.observed import Known, Observed
from wirespeed.model.plan import Plan
from wirespeed.model.step import State, Step

PAUSE_S = 0.5
Read = Callable[[Sequence[Step]], list[Observed[State]]]


def read_states(
    plan: Plan, numbers: Sequence[int], controls: Mapping[str, HostControl]
) -> dict[int, Observed[State]]:
    """Give the state of each of these steps of a plan, in their order: one round trip to each host.

    All hosts are asked at once.
    """
    by_host: dict[str, list[int]] = {}
    for number in numbers:
        by_host.setdefault(plan.steps[number].host, []).append(number)

    def ask(host: str) -> list[Observed[State]]:
        return controls[host].read([read_step(plan.steps[number].step) for number in by_host[host]])

    answers = on_each(by_host, ask)
    found = {
        number: state
        for host, states in answers.items()
        for number, state in zip(by_host[host], states, strict=True)
    }
    return {number: found[number] for number in numbers}


def settled(read: Read, step: Step, changed: Changed) -> Changed:
    """Read again until the state is known, for `step.settle_s` at most; a failure ends it at once.

    A link that negotiates, or a card that restarts, does not report its state at first.
    """
    latest = Deadline(step.settle_s)
    while not (changed.failed or isinstance(changed.now, Known) or latest.expired):
        sleep_s(PAUSE_S)
        changed = replace(changed, now=read([step])[0])
    return changed
