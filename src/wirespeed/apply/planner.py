"""Steps and what stands on the hosts to a plan. Pure."""

from collections.abc import Iterable

from wirespeed.catalog import kind_of
from wirespeed.model.observed import Observed, known
from wirespeed.model.plan import Plan, PlannedStep
from wirespeed.model.shown import shown
from wirespeed.model.step import State, Step


def make_plan(steps: Iterable[tuple[str, Step, Observed[State] | None]]) -> Plan:
    """Plan each (host, step, its state now), in this order; None: an earlier step makes the thing.

    Raises CannotTellError where a state is not known: nothing is planned on a guess.
    """
    return Plan(steps=tuple(planned(host, step, state) for host, step, state in steps))


def planned(host: str, step: Step, state: Observed[State] | None, stage: int = 1) -> PlannedStep:
    """Plan one step. Raises CannotTellError."""
    kind = kind_of(type(step))
    if state is None:
        made = step.made()
        if made is None:
            raise AssertionError(f"{kind}: no step makes what it is about")
        before = made
    else:
        before = known(state, f"{kind} of {step.subject} on {host}")
    goal = step.wanted(before)
    return PlannedStep(
        host=host,
        step=step.model_dump(mode="json"),
        subject=step.subject,
        why=step.why,
        scope=step.scope,
        danger=step.danger,
        before=before if state is not None else None,
        goal=goal,
        read=step.read(),
        commands=step.change(before, goal),
        undo=step.change(goal, before),
        no_op=f"it is so already: {described(before)}" if state and before == goal else "",
        stage=stage,
        waits_for_reboot=step.waits_for_reboot,
    )


def described(state: State) -> str:
    """Give a state as text for a person."""
    said = (f"{key} {word(value)}" for key, value in state.items())
    return shown(", ".join(said)) or "as it is"


def word(value: str | int | bool | None) -> str:
    """Give a value of a state as text for a person."""
    if value is None:
        return "none"
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
