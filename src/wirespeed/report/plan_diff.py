"""What a plan would make different on the hosts, as a diff: only that. Pure."""

from collections.abc import Iterator
from difflib import ndiff

from wirespeed.apply.planner import word
from wirespeed.model.plan import Plan, PlannedStep
from wirespeed.model.shown import shown
from wirespeed.model.step import State
from wirespeed.report.plan_text import WIDTH, later_text, step_heading
from wirespeed.report.text_lines import wrapped

INDENT = "    "


def diff_lines(plan: Plan) -> Iterator[str]:
    """Give each step to do: the present state with `-`, the wanted one with `+`."""
    host = ""
    for number, planned in enumerate(plan.steps, 1):
        if planned.no_op:
            continue
        if planned.host != host:
            yield from (["", planned.host] if host else [planned.host])
            host = planned.host
        yield step_heading(number, planned)
        yield from _step_diff(planned)
    if not host:
        yield "nothing differs"
    for later in plan.later:
        yield from wrapped(later_text(later), WIDTH, "", "  ")


def _step_diff(planned: PlannedStep) -> Iterator[str]:
    yield from states_diff(planned.before, planned.goal)
    if planned.before is None:
        yield f"{INDENT} an earlier step makes it"


def states_diff(before: State | None, goal: State) -> Iterator[str]:
    """Give the lines of what differs between two states; a text by its lines. None: not known."""
    for key in dict.fromkeys([*(before or {}), *goal]):
        was, now = (before or {}).get(key), goal.get(key)
        if before is not None and was == now:
            continue
        if "\n" in f"{was}{now}":
            yield from _text_diff(key, was, now)
            continue
        if before is not None:
            yield from wrapped(shown(f"{key} {word(was)}"), WIDTH, f"{INDENT}-", f"{INDENT}  ")
        yield from wrapped(shown(f"{key} {word(now)}"), WIDTH, f"{INDENT}+", f"{INDENT}  ")


def _text_diff(key: str, was: object, now: object) -> Iterator[str]:
    yield f"{INDENT} {shown(key)}"
    for line in ndiff(_lines(was), _lines(now)):
        if line[0] in "-+":
            yield from wrapped(shown(line[2:]), WIDTH, f"{INDENT}{line[0]}", f"{INDENT}  ")


def _lines(value: object) -> list[str]:
    return [] if value is None else str(value).splitlines()
