"""From what the doctor found to the steps that mend it, in order. Pure.

Of each finding the remedies that are steps are taken, unless the first of its remedies is by hand:
then what is best is for a person to say, who can name the rule. Of two that want one thing to be
different, the one of the dearer finding stays.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from wirespeed.apply.planner import planned
from wirespeed.catalog import platforms, read_step
from wirespeed.model.command import Shell
from wirespeed.model.finding import Finding
from wirespeed.model.observed import Known, Observed
from wirespeed.model.plan import Plan, PlannedStep
from wirespeed.model.step import State, Step


@dataclass(frozen=True, slots=True)
class SelectedStep:
    """A step, and the rule that names it."""

    rule: str
    step: Step


@dataclass(frozen=True, slots=True)
class Skipped:
    """What is not done, and why."""

    rule: str
    why: str


def chosen(
    findings: Iterable[Finding], only: Collection[str] = (), shell: Shell = Shell.POSIX
) -> tuple[list[SelectedStep], list[Skipped]]:
    """Give the steps of findings, dearest first, in the order in which they are done.

    `only`: of these rules, and then those too that are rather for a person to choose. `shell`: what
    the host is reached by; steps of another one are left.
    """
    steps: list[SelectedStep] = []
    left: list[Skipped] = []
    for finding in findings:
        if only and finding.rule not in only:
            continue
        first = finding.remedies[0].by_hand if finding.remedies else None
        if first is not None and not only:
            left.append(Skipped(finding.rule, f"by hand first: {finding.remedies[0].text}"))
            continue
        for remedy in finding.remedies:
            if remedy.by_hand is not None:
                left.append(Skipped(finding.rule, f"by hand: {remedy.text}"))
            for call in remedy.steps:
                try:
                    step = read_step(call.data)
                except ValueError as error:
                    # A netdev may be called what no command should be given.
                    left.append(Skipped(finding.rule, f"{call.kind}: {error}"))
                    continue
                if step.read().shell is not shell:
                    why = _elsewhere(step.read().shell)
                    left.append(Skipped(finding.rule, f"{call.kind}: {why}"))
                    continue
                if step not in [other.step for other in steps]:
                    steps.append(SelectedStep(finding.rule, step))
    return sorted(steps, key=lambda one: one.step.phase or 0), left


def _elsewhere(shell: Shell) -> str:
    """Say why a step is not done from here, and where it is."""
    return next(one.elsewhere for one in platforms() if one.shell is shell and one.elsewhere)


def plan_remedies(
    host: str, steps: Sequence[SelectedStep], states: Sequence[Observed[State]]
) -> tuple[Plan, list[Skipped]]:
    """Plan them, without those whose state is not known or that contradict another."""
    taken: list[PlannedStep] = []
    left: list[Skipped] = []
    for one, state in zip(steps, states, strict=True):
        if not isinstance(state, Known):
            left.append(Skipped(one.rule, f"{one.step.subject}: {state.reason}"))
            continue
        mine = planned(host, one.step, state)
        if against := next(_against(mine, taken), None):
            left.append(Skipped(one.rule, f"{mine.subject}: another finding wants {against}"))
        elif not mine.no_op:
            taken.append(mine)
    return Plan(steps=tuple(taken)), left


def _against(mine: PlannedStep, taken: Iterable[PlannedStep]) -> Iterator[str]:
    """Say what another step of the same thing wants to be otherwise."""
    for other in taken:
        if (mine.step["step"], mine.subject) == (other.step["step"], other.subject):
            for key in mine.goal.keys() & other.goal.keys():
                if mine.goal[key] != other.goal[key]:
                    yield f"{key} {other.goal[key]}"
