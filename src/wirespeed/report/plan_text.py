"""A plan and a run as text: what an administrator reads before, and after."""

from collections.abc import Iterator, Sequence

from wirespeed.apply.drift import Drifted
from wirespeed.apply.planner import described
from wirespeed.catalog import platforms
from wirespeed.model.command import Command
from wirespeed.model.finding import Danger
from wirespeed.model.journal import Entry, StepProgress, progress, tried_s
from wirespeed.model.journal_salvage import Undoable
from wirespeed.model.observed import Known
from wirespeed.model.plan import Later, Plan, PlannedStep
from wirespeed.model.shown import shown
from wirespeed.report.text_lines import wrapped, wrapped_command

WIDTH = 80
INDENT = " " * 12
SCRIPT_HEAD = """\
#!/bin/sh
# What `wirespeed apply` would run on {host}, in this order. Below each step: its undo.
set -eu
"""

NO_LOCK = "no lock keeps others from changing it at the same time"
LEFT_ALONE = "left alone"
"""Of a step that undo left as others had changed it."""


def plan_lines(plan: Plan, first: int = 1) -> Iterator[str]:
    """Give the plan by host, stage and scope: what each step checks, its commands and its undo.

    `first` is the number of its first step: those of a later stage go on.
    """
    heading = ""
    for number, planned in enumerate(plan.steps, first):
        if (new := _heading(plan, planned)) != heading:
            yield from (["", new] if heading else [new])
            heading = new
        yield from _step_lines(number, planned)
    todo = [planned for planned in plan.steps if not planned.no_op]
    yield ""
    yield f"{len(todo)} of {len(plan.steps)} steps to do" + _dangers(todo)
    unlocked = [platform.shell for platform in platforms() if not platform.can_be_locked]
    for host in dict.fromkeys(p.host for p in todo if any(c.shell in unlocked for c in p.commands)):
        yield from wrapped(f"{shown(host)}: {NO_LOCK}", WIDTH, "", "  ")
    for note in plan.notes:
        yield from wrapped(shown(note), WIDTH, "", "  ")
    for later in plan.later:
        yield from wrapped(later_text(later), WIDTH, "", "  ")


def later_text(later: Later) -> str:
    """Say what follows the stage on a host."""
    event = "reboot" if later.needs_reboot else "reset of the card"
    by = ", ".join(shown(one) for one in later.after)
    host = shown(later.host)
    return f"after the {event} of {host} ({by}): planned again, from the state of the host then"


def _heading(plan: Plan, planned: PlannedStep) -> str:
    is_staged = planned.stage > 1 or plan.later
    stage = f", stage {planned.stage}" if is_staged else ""
    return f"{shown(planned.host)}{stage}: {planned.scope.value}"


def step_heading(number: int, planned: PlannedStep) -> str:
    """Give a step's number, name and danger."""
    danger = "" if planned.danger is Danger.NONE else f"  ({planned.danger.value.upper()})"
    return f"{number:>3} {shown(planned.name)}{danger}"


def _step_lines(number: int, planned: PlannedStep) -> Iterator[str]:
    if planned.no_op:
        name = shown(planned.name)
        yield from wrapped(f"{name}: {planned.no_op}", WIDTH, f"{number:>3} ", INDENT)
        return
    yield step_heading(number, planned)
    yield from _command_lines("check", (planned.read,))
    if planned.before is None:
        yield from _labelled("to", f"{described(planned.goal)}; an earlier step makes it")
    else:
        changed = {k: v for k, v in planned.goal.items() if planned.before.get(k) != v}
        was = {key: planned.before.get(key) for key in changed}
        yield from _labelled("from", described(was))
        yield from _labelled("to", described(changed))
    yield from _command_lines("run", planned.commands)
    yield from _command_lines("undo", planned.undo)


def _command_lines(label: str, commands: Sequence[Command]) -> Iterator[str]:
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
        lines.append(f"\n# {number} {shown(planned.name)}")
        if planned.no_op:
            lines.append(f"# {shown(planned.no_op)}")
        lines += [command.line() for command in planned.commands]
        lines += [f"# undo: {shown(command.line())}" for command in planned.undo]
    return "\n".join(lines) + "\n"


def status_lines(plan: Plan, entries: Sequence[Entry], outcome: str) -> Iterator[str]:
    """Tell how far each step of a run reached."""
    alone: list[str] = []
    for number, (planned, reached) in enumerate(
        zip(plan.steps, progress(plan, entries), strict=True), 1
    ):
        word = "nothing to do" if planned.no_op else reached.value
        if outcome == "left changed" and reached is StepProgress.DONE and not planned.no_op:
            word = LEFT_ALONE
            alone.append(str(number))
        yield f"{number:>3} {word:<14} {shown(planned.name)} on {shown(planned.host)}"
    done = sum(reached is StepProgress.DONE for reached in progress(plan, entries))
    todo = sum(not planned.no_op for planned in plan.steps)
    yield f"{outcome}: {done} of {todo} steps are in place"
    if alone:
        yield (
            f"step {', '.join(alone)}: others changed it, or what hangs together with it, so undo "
            "left it alone; `wirespeed drift` shows how"
        )
    if outcome == "unconfirmed":
        yield f"each host undoes it {tried_s(entries)} s after its last step, or has done so"
        yield "`wirespeed confirm` keeps it on every host that has not undone it yet"
    if outcome == "staged":
        for later in plan.later:
            yield from wrapped(later_text(later), WIDTH, "", "  ")


def salvage_lines(plan: Plan, ways: Sequence[Undoable]) -> Iterator[str]:
    """Tell for each step of a damaged journal whether it can still be undone."""
    for number, (planned, way) in enumerate(zip(plan.steps, ways, strict=True), 1):
        yield f"{number:>3} {way.value:<16} {shown(planned.name)} on {shown(planned.host)}"


def drift_lines(found: Sequence[Drifted], steps: int, outcome: str) -> Iterator[str]:
    """Tell of each step that is not as it was left."""
    for one in found:
        name = f"{shown(one.planned.name)} on {shown(one.planned.host)}"
        yield from wrapped(name, WIDTH, f"{one.number + 1:>3} ", "      ")
        changed = one.left
        now = f"not known: {shown(getattr(one.now, 'reason', ''))}"
        if isinstance(one.now, Known):
            is_now = one.now.value
            changed = {k: v for k, v in one.left.items() if is_now.get(k) != v}
            now = described({k: is_now.get(k) for k in changed}) if changed else described(is_now)
        yield from _labelled_wide("left as", described(changed))
        yield from _labelled_wide("is now", now)
    yield f"{len(found)} of {steps} steps are not as the run left them ({outcome})"


def _labelled_wide(label: str, text: str) -> list[str]:
    return wrapped(text, WIDTH, f"      {label:<8}", " " * 14)
