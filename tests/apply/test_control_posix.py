"""Control of this machine, with real commands: files in a folder of the test's own."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from note_step import NASTY, Busy, Failing, Note

from wirespeed import catalog
from wirespeed.apply.control_posix import PosixControl
from wirespeed.apply.executor import Executor
from wirespeed.apply.planner import make_plan
from wirespeed.host.local import LocalRunner
from wirespeed.model.command import Command
from wirespeed.model.error import ApplyError
from wirespeed.model.journal import Entry
from wirespeed.model.observed import CannotTellError, Known, Unreadable
from wirespeed.model.step import Step


@pytest.fixture(autouse=True)
def _own_steps(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(
        catalog, "step_types", lambda: {"note": Note, "failing": Failing, "busy": Busy}
    )
    yield


@pytest.fixture
def control() -> PosixControl:
    return PosixControl("here", LocalRunner())


def executor(control: PosixControl, steps: list[Step], journal: list[Entry]) -> Executor:
    plan = make_plan(("here", step, s) for step, s in zip(steps, control.read(steps), strict=True))
    return Executor(plan, {"here": control}, journal.append, lambda: "now", tuple(journal))


def test_apply_writes_and_undo_gives_back_what_was_there(tmp_path: Path, control: PosixControl):
    old, new = tmp_path / "old", tmp_path / "it's new"
    old.write_text("before\n")
    steps: list[Step] = [Note(path=str(old), text=NASTY), Note(path=str(new), text="x")]
    journal: list[Entry] = []
    run = executor(control, steps, journal)
    run.apply()
    assert old.read_text() == NASTY + "\n"
    assert new.read_text() == "x\n"
    run.undo()
    assert old.read_text() == "before\n"
    assert not new.exists()


def test_bytes_that_undo_could_not_put_back_are_not_written_over(
    tmp_path: Path, control: PosixControl
):
    """A comment in ISO 8859-1: as text each such byte is U+FFFD, and would stay that."""
    path = tmp_path / "file"
    path.write_bytes(b"# gr\xfc\xdfe\nA=b\n")
    (found,) = control.read([Note(path=str(path), text="x")])
    assert isinstance(found, Unreadable) and "not UTF-8" in found.reason
    with pytest.raises(CannotTellError):
        executor(control, [Note(path=str(path), text="x")], [])
    path.write_text("# grüße\nA=b\n", encoding="utf-8")
    run = executor(control, [Note(path=str(path), text="x")], [])
    run.apply()
    run.undo()
    assert path.read_bytes() == "# grüße\nA=b\n".encode()


def test_the_first_command_that_fails_is_the_last(tmp_path: Path, control: PosixControl):
    path = tmp_path / "file"
    with pytest.raises(ApplyError) as caught:
        executor(control, [Failing(path=str(path), text="x")], []).apply()
    assert caught.value.what == "step.failed"
    assert caught.value.found.startswith("ls '/nowhere/at all': return code 2: ls: cannot access")
    assert not path.exists()


@pytest.mark.parametrize(
    "says",
    [
        # EAGAIN of i40e, EBUSY of ice, as iproute2 prints them.
        "RTNETLINK answers: Resource temporarily unavailable",
        "RTNETLINK answers: Device or resource busy",
    ],
)
def test_what_a_busy_driver_refuses_is_given_again(
    tmp_path: Path, control: PosixControl, says: str
):
    path = tmp_path / "a file's"
    Path(f"{path}.says").write_text(says)
    executor(control, [Busy(path=str(path), text="it's")], []).apply()
    assert path.read_text() == "it's\n"


def test_another_refusal_is_final_and_told_as_the_command_of_the_plan(
    tmp_path: Path, control: PosixControl
):
    path = tmp_path / "file"
    Path(f"{path}.says").write_text("RTNETLINK answers: Operation not supported\n")
    with pytest.raises(ApplyError) as caught:
        executor(control, [Busy(path=str(path), text="x")], []).apply()
    assert "return code 2: RTNETLINK answers: Operation not supported" in caught.value.found
    assert "temporarily unavailable" not in caught.value.found
    assert Path(f"{path}.tries").read_text() == "x\n"


def test_nothing_in_a_name_or_a_text_is_run(tmp_path: Path, control: PosixControl):
    path = tmp_path / "$(touch pwned)`touch pwned`; touch pwned"
    executor(control, [Note(path=str(path), text="$(touch pwned)\ntouch pwned")], []).apply()
    assert path.read_text() == "$(touch pwned)\ntouch pwned\n"
    assert not list(tmp_path.rglob("pwned"))
    assert not Path("pwned").exists()


def test_a_tool_that_is_missing_fails_the_step(tmp_path: Path, control: PosixControl):
    changed = control.change(
        Note(path=str(tmp_path / "x"), text="x"), [Command(argv=("no-such-tool-at-all",))]
    )
    assert "return code 127" in changed.failed
    assert changed.now == Known({"text": None}, f"cat {tmp_path / 'x'}")


def test_states_are_json(tmp_path: Path, control: PosixControl):
    state = control.read([Note(path=str(tmp_path / "x"), text="x")])[0]
    assert isinstance(state, Known)
    assert json.loads(json.dumps(state.value)) == state.value
