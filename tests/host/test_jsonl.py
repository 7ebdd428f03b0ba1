import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wirespeed.host import jsonl
from wirespeed.host.jsonl import JsonlWriter, read_lines
from wirespeed.model.error import InputError


def written(path: Path, *lines: str) -> Path:
    writer = JsonlWriter(path)
    for line in lines:
        writer.append(line)
    writer.close()
    return path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run" / "trials.jsonl"


def test_lines_are_read_as_they_were_written_and_more_can_follow(path: Path):
    written(path, "one", "two")
    assert read_lines(written(path, "three")) == ["one", "two", "three"]


# No deadline: each line waits for the disk.
@settings(deadline=None, max_examples=50)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]))))
def test_any_text_in_json_is_one_line(texts: list[str]):
    lines = [json.dumps(text, ensure_ascii=False) for text in texts]
    with tempfile.TemporaryDirectory() as folder:
        assert read_lines(written(Path(folder) / "trials.jsonl", *lines)) == lines


def test_a_line_must_not_hold_the_end_of_one(path: Path):
    writer = JsonlWriter(path)
    with pytest.raises(ValueError, match="one line"):
        writer.append("one\ntwo")
    writer.close()


def test_a_torn_line_is_left_out_and_overwritten_wherever_it_was_torn(path: Path):
    whole = written(path, '{"a":1}', '{"b":"\u2028 \u00e9"}', '{"c":3}').read_bytes()
    for cut in range(len(whole) + 1):
        path.write_bytes(whole[:cut])
        kept = whole[:cut].count(b"\n")
        assert read_lines(path) == whole.decode().split("\n")[:kept]
        written(path, "more")
        assert read_lines(path) == [*whole.decode().split("\n")[:kept], "more"]


def test_what_is_read_while_another_writes_is_whole_lines(path: Path):
    path.parent.mkdir()
    path.write_text('{"a":1}\n{"b"')
    assert read_lines(path) == ['{"a":1}']
    assert path.read_text() == '{"a":1}\n{"b"'


def test_each_line_is_on_disk_before_append_returns(path: Path, monkeypatch: pytest.MonkeyPatch):
    path.parent.mkdir()
    synced: list[bytes] = []
    monkeypatch.setattr(jsonl.os, "fsync", lambda _: synced.append(path.read_bytes()))
    written(path, "one", "two")
    # The first is of the folder: that the file has a name there.
    assert synced == [b"", b"one\n", b"one\ntwo\n"]


def test_a_second_writer_is_refused_and_told_who_the_first_one_is(path: Path):
    first = JsonlWriter(path)
    with pytest.raises(InputError) as error:
        JsonlWriter(path)
    assert error.value.what == "run.in_use"
    assert str(os.getpid()) in error.value.found
    first.close()
    written(path, "mine")


def test_a_writer_that_was_killed_does_not_keep_the_next_one_out(path: Path):
    script = (
        "import sys, time; from pathlib import Path\n"
        "from wirespeed.host.jsonl import JsonlWriter\n"
        "w = JsonlWriter(Path(sys.argv[1])); w.append('one'); print(flush=True); time.sleep(600)\n"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", script, str(path)],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert child.stdout
    with child.stdout:
        child.stdout.readline()
        with pytest.raises(InputError):
            JsonlWriter(path)
        child.send_signal(signal.SIGKILL)
        child.wait()
    assert read_lines(written(path, "two")) == ["one", "two"]


@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(28, "No space left on device")])
def test_what_cuts_a_line_short_does_not_spoil_the_next_one(
    path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
):
    writer = JsonlWriter(path)
    writer.append("one")
    real = os.write

    def half(fd: int, data: memoryview) -> int:
        if len(data) < 4:
            raise error
        return real(fd, data[: len(data) - 3])

    with monkeypatch.context() as patched, pytest.raises((KeyboardInterrupt, InputError)):
        patched.setattr(jsonl.os, "write", half)
        writer.append("two that is cut")
    writer.append("three")
    writer.close()
    assert read_lines(path) == ["one", "three"]


def test_an_interrupt_after_a_whole_line_keeps_it(path: Path, monkeypatch: pytest.MonkeyPatch):
    writer = JsonlWriter(path)

    def interrupted(_: int) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(jsonl.os, "fsync", interrupted)
        writer.append("one")
    writer.append("two")
    writer.close()
    assert read_lines(path) == ["one", "two"]


def test_clear_begins_anew(path: Path):
    writer = JsonlWriter(written(path, "old", "older"))
    writer.clear()
    writer.append("new")
    writer.close()
    assert read_lines(path) == ["new"]


def test_what_cannot_be_written_is_said_and_not_kept_locked(tmp_path: Path):
    (tmp_path / "folder").mkdir()
    for _ in range(2):
        with pytest.raises(InputError) as error:
            JsonlWriter(tmp_path / "folder")
        assert error.value.what == "file.unwritable"
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError) as error:
        JsonlWriter(tmp_path / "file" / "trials.jsonl")
    assert error.value.what == "file.unwritable"


def test_a_file_that_is_not_there_is_unreadable(tmp_path: Path):
    with pytest.raises(InputError) as error:
        read_lines(tmp_path / "trials.jsonl")
    assert error.value.what == "file.unreadable"


def test_closing_twice_is_closing_once(path: Path):
    writer = JsonlWriter(path)
    writer.close()
    writer.close()
