"""Steps and what stands on the hosts to a plan. Pure."""

from collections.abc import Iterable

from wirespeed.apply.registry import kind_of
from wirespeed.model.observed import Observed, known
from wirespeed.model.plan import Plan, PlannedStep
from wirespeed.model.shown import shown
from wirespeed.model.step import State, Step


def make_plan(steps: Iterable[tuple[str, Step, Observed[State]]]) -> Plan:
    """Plan each (host, step, its state now), in this order.

    Raises CannotTellError where a state is not known: nothing is planned on a guess.
    """
    return Plan(steps=tuple(planned(host, step, state) for host, step, state in steps))


def planned(host: str, step: Step, state: Observed[State]) -> PlannedStep:
    """Plan one step."""
    before = known(state, f"{kind_of(type(step))} of {step.subject} on {host}")
    goal = step.wanted(before)
    return PlannedStep(
        host=host,
        step=step.model_dump(mode="json"),
        subject=step.subject,
        why=step.why,
        scope=step.scope,
        danger=step.danger,
        before=before,
        goal=goal,
        read=step.read(),
        commands=step.change(before, goal),
        undo=step.change(goal, before),
        no_op=f"it is so already: {described(before)}" if before == goal else "",
    )


def described(state: State) -> str:
    """Give a state as text for a person."""
    parts = (f"{key} {'not there' if value is None else value}" for key, value in state.items())
    return shown(", ".join(parts))
