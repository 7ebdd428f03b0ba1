"""A plan and a run as text: what an administrator reads before, and after."""

from collections.abc import Iterator, Sequence

from wirespeed.apply.planner import described
from wirespeed.model.finding import Danger
from wirespeed.model.journal import Entry, StepProgress, progress
from wirespeed.model.plan import Plan, PlannedStep
from wirespeed.model.shown import shown
from wirespeed.report.text_lines import wrapped, wrapped_command

WIDTH = 80
INDENT = " " * 12
SCRIPT_HEAD = """\
#!/bin/sh
# What `wirespeed apply` would run on {host}, in this order. Each undo stands below its step.
set -eu
"""


def plan_lines(plan: Plan) -> Iterator[str]:
    """Give the plan, host by host, with the commands of every step and of its undo."""
    host = ""
    for number, planned in enumerate(plan.steps, 1):
        if planned.host != host:
            yield from (["", planned.host] if host else [planned.host])
            host = planned.host
        yield from _step_lines(number, planned)
    todo = [planned for planned in plan.steps if not planned.no_op]
    yield ""
    yield f"{len(todo)} of {len(plan.steps)} steps are to be done" + _dangers(todo)


def _step_lines(number: int, planned: PlannedStep) -> Iterator[str]:
    kind = planned.step["step"]
    name = f"{kind} {shown(planned.subject)}"
    if planned.no_op:
        yield from wrapped(f"{name}: {planned.no_op}", WIDTH, f"{number:>3} ", INDENT)
        return
    danger = "" if planned.danger is Danger.NONE else f"  ({planned.danger.value.upper()})"
    yield f"{number:>3} {name}{danger}"
    if planned.before is None:
        yield from _labelled("to", f"{described(planned.goal)}; an earlier step makes it")
    else:
        changed = {k: v for k, v in planned.goal.items() if planned.before.get(k) != v}
        was = {key: planned.before.get(key) for key in changed}
        yield from _labelled("from", described(was))
        yield from _labelled("to", described(changed))
    for label, commands in (("run", planned.commands), ("undo", planned.undo)):
        for command in commands:
            line = shown(command.line())
            yield from wrapped_command(line, WIDTH, f"      {label:<5} ", INDENT + "  ")


def _labelled(label: str, text: str) -> list[str]:
    return wrapped(text, WIDTH, f"      {label:<5} ", INDENT)


def _dangers(todo: Sequence[PlannedStep]) -> str:
    counts = {
        danger: sum(planned.danger is danger for planned in todo)
        for danger in Danger
        if danger is not Danger.NONE
    }
    said = [f"{danger.value}: {count}" for danger, count in counts.items() if count]
    return f" ({', '.join(said)})" if said else ""


def shell_script(plan: Plan, host: str) -> str:
    """Give one host's steps as a script to read, or to run by hand."""
    lines = [SCRIPT_HEAD.format(host=shown(host))]
    for number, planned in enumerate(plan.steps, 1):
        if planned.host != host:
            continue
        lines.append(f"\n# {number} {planned.step['step']} {shown(planned.subject)}")
        if planned.no_op:
            lines.append(f"# {planned.no_op}")
        lines += [command.line() for command in planned.commands]
        lines += [f"# undo: {shown(command.line())}" for command in planned.undo]
    return "\n".join(lines) + "\n"


def status_lines(plan: Plan, entries: Sequence[Entry], outcome: str) -> Iterator[str]:
    """Tell how far each step of a run came."""
    for number, (planned, came) in enumerate(
        zip(plan.steps, progress(plan, entries), strict=True), 1
    ):
        word = "nothing to do" if planned.no_op else came.value
        kind = planned.step["step"]
        yield f"{number:>3} {word:<14} {kind} {shown(planned.subject)} on {shown(planned.host)}"
    done = sum(came is StepProgress.DONE for came in progress(plan, entries))
    yield f"{outcome}: {done} of {len(plan.steps)} steps stand"
