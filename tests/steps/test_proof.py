"""The proof itself: a step whose undo, reading or change is wrong does not pass it."""

# ruff: noqa: ARG001  (a step's functions have these arguments)

from collections.abc import Callable

import pytest
from described_files import DescribedFiles
from proof import UnknownCommandError, prove

from wirespeed.model.capture import Section
from wirespeed.model.command import Command, write_file
from wirespeed.model.error import LeftChangedError
from wirespeed.model.observed import Known, Observed
from wirespeed.model.step import State
from wirespeed.steps.file_content import FileContent

PATH = "/etc/motd"
STEP = FileContent(path=PATH, content="new\n", reason="for a test")
START, GOAL = DescribedFiles({PATH: "old\n"}), DescribedFiles({PATH: "new\n"})
Change = Callable[[FileContent, State, State], tuple[Command, ...]]


def written(step: FileContent, now: State, to: State) -> tuple[Command, ...]:
    """Written in one command, so that no kill leaves anything beside."""
    return () if now == to else (write_file(PATH, str(to["content"]).strip()),)


def no_undo(step: FileContent, now: State, to: State) -> tuple[Command, ...]:
    return written(step, now, to) if to["content"] == "new\n" else ()


def other_undo(step: FileContent, now: State, to: State) -> tuple[Command, ...]:
    to = to if to["content"] == "new\n" else {"content": "elder"}
    return written(step, now, to)


def in_two_parts(step: FileContent, now: State, to: State) -> tuple[Command, ...]:
    """Right from either end, and of no use from the middle, where a kill may leave it."""
    middle = () if now["content"] == "half\n" else (write_file(PATH, "half"),)
    rest = written(step, {}, to) if now["content"] != "half\n" else ()
    return () if now == to else middle + rest


def always(step: FileContent, now: State, to: State) -> tuple[Command, ...]:
    return written(step, {}, to)


def unknown(step: FileContent, now: State, to: State) -> tuple[Command, ...]:
    return (Command(argv=("sed", "-i", "s/old/new/", PATH)),)


def test_a_right_step_passes(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(FileContent, "change", written)
    prove(STEP, START, GOAL)


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (no_undo, LeftChangedError),
        (other_undo, LeftChangedError),
        (in_two_parts, LeftChangedError),
        (always, AssertionError),
        (unknown, UnknownCommandError),
    ],
)
def test_a_wrong_change_fails(
    monkeypatch: pytest.MonkeyPatch, change: Change, error: type[Exception]
):
    monkeypatch.setattr(FileContent, "change", change)
    with pytest.raises(error):
        prove(STEP, START, GOAL)


def test_a_goal_that_the_commands_do_not_reach_fails(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(FileContent, "change", lambda *_: (write_file(PATH, "newer"),))
    with pytest.raises(LeftChangedError):
        prove(STEP, START, GOAL)


def test_a_reading_that_repeats_what_was_asked_for_fails(monkeypatch: pytest.MonkeyPatch):
    def parse(self: FileContent, section: Section) -> Observed[State]:
        return Known({"content": "new\n"}, "cat")

    monkeypatch.setattr(FileContent, "change", written)
    monkeypatch.setattr(FileContent, "parse", parse)
    with pytest.raises(AssertionError):
        prove(STEP, START, GOAL)
