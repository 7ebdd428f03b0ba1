"""Reads many steps' states: one round trip to each host, all hosts at once."""

from collections.abc import Mapping, Sequence

from wirespeed.apply.control import HostControl
from wirespeed.apply.each_host import on_each
from wirespeed.catalog import read_step
from wirespeed.model.observed import Observed
from wirespeed.model.plan import Plan
from wirespeed.model.step import State


def read_steps(
    plan: Plan, numbers: Sequence[int], controls: Mapping[str, HostControl]
) -> dict[int, Observed[State]]:
    """Give the state of each of these steps of a plan, in their order."""
    by_host: dict[str, list[int]] = {}
    for number in numbers:
        by_host.setdefault(plan.steps[number].host, []).append(number)

    def ask(host: str) -> list[Observed[State]]:
        return controls[host].read([read_step(plan.steps[number].step) for number in by_host[host]])

    told = on_each(by_host, ask)
    found = {
        number: state
        for host, states in told.items()
        for number, state in zip(by_host[host], states, strict=True)
    }
    return {number: found[number] for number in numbers}
