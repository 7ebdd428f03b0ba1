import gzip
import os
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from wirespeed.commands.capture import capture, file_names
from wirespeed.doctor.collector import collector_script
from wirespeed.host.reach_destination import Here, Recorded, Remote
from wirespeed.model.capture import parse_capture
from wirespeed.model.error import InputError
from wirespeed.platforms.esxi.collector import esxi_collector_script
from wirespeed.platforms.windows.collector import windows_collector_script

MARK = "1f0c8a52-mark"
TEXT = f"""\
wirespeed-capture 1 {MARK}
{MARK} begin names -
hostname alphahost

{MARK} end 0
{MARK} begin module enp3s0

{MARK} errors
alphahost: Operation not permitted
{MARK} end 1
{MARK} begin devlink-info -

{MARK} errors
devlink: not found
{MARK} end 127
{MARK} done
"""


def run(*arguments: object) -> Result:
    return CliRunner().invoke(
        capture, [str(argument) for argument in arguments], standalone_mode=False
    )


def slug_of(result: Result) -> str:
    assert isinstance(result.exception, InputError)
    return result.exception.what


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    path = tmp_path / "alphahost.txt"
    path.write_text(TEXT)
    return path


def test_this_host_is_read_whole(tmp_path: Path):
    out = tmp_path / "here.txt"
    result = run("--seconds", 0, "--out", out)
    assert result.exception is None
    assert parse_capture(out.read_text(), "here").complete
    assert out.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["here.txt"]


def test_the_script_is_the_collector_and_nothing_else():
    assert run("--script", "--seconds", 7).output == collector_script(7)
    assert "sleep 7" in collector_script(7)
    assert run("--script", "windows").output == windows_collector_script()
    assert run("--script", "esxi").output == esxi_collector_script()
    assert slug_of(run("--script", "here")) == "options.invalid"
    assert slug_of(run("--script", "windows", "here")) == "options.invalid"


def test_what_could_not_be_read_is_said(recorded: Path, tmp_path: Path):
    result = run(recorded, "--out", tmp_path / "out.txt")
    assert "not installed: devlink" in result.output
    assert "permission denied: module enp3s0; as root it would tell more" in result.output
    assert (tmp_path / "out.txt").read_text() == TEXT


def test_a_capture_made_before_is_made_anonymous(recorded: Path, tmp_path: Path):
    result = run(recorded, "--anonymous", "--out", tmp_path / "out.txt")
    assert result.exception is None
    assert "alphahost" not in (tmp_path / "out.txt").read_text()
    assert "alphahost" in recorded.read_text()


def test_anonymous_captures_are_not_called_by_the_names_that_they_hide(
    recorded: Path, tmp_path: Path
):
    second = tmp_path / "second.gz"
    second.write_bytes(gzip.compress(TEXT.encode()))
    run(recorded, second, "--anonymous", "--out", tmp_path / "out")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["1.txt", "2.txt"]


def test_one_bad_host_does_not_spoil_the_rest(recorded: Path, tmp_path: Path):
    bad = tmp_path / "bad.txt"
    bad.write_text("\x1b[2Jno capture")
    result = run(recorded, bad, tmp_path / "missing", "--out", tmp_path / "out")
    assert result.return_value == 2
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["alphahost.txt"]
    assert "capture.not_one" in result.output
    assert "file.unreadable" in result.output
    assert "\x1b" not in result.output


def test_one_host_alone_fails_with_its_error(tmp_path: Path):
    assert slug_of(run(tmp_path / "missing", "--out", tmp_path / "out.txt")) == "file.unreadable"
    assert not list(tmp_path.iterdir())


def test_several_hosts_need_a_folder(recorded: Path):
    assert slug_of(run(recorded, "here")) == "options.invalid"


def test_a_folder_that_cannot_be_written_is_bad_input(recorded: Path, tmp_path: Path):
    assert slug_of(run(recorded, "--out", tmp_path / "no" / "folder.txt")) == "file.unwritable"


def test_a_file_that_cannot_be_replaced_is_left_as_it_was(
    recorded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    out = tmp_path / "out.txt"
    out.write_text("before")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    assert slug_of(run(recorded, "--out", out)) == "file.unwritable"
    assert out.read_text() == "before"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["alphahost.txt", "out.txt"]


def test_file_names_are_plain_and_no_two_alike():
    places = [
        Here(),
        Remote("ssh://root@alpha:2222", "alpha", "root", 2222),
        Remote("root@alpha", "alpha", "root"),
        Remote("me@alpha", "alpha", "me"),
        Remote("ALPHA", "ALPHA"),
        Remote("ssh://[2001:db8::1]", "2001:db8::1"),
        Recorded("../../etc/.x;$(id)\n.txt", Path("../../etc/.x;$(id)\n.txt")),
        Recorded("...", Path("...")),
        Remote("a" * 300, "a" * 300),
    ]
    names = list(file_names(places))
    assert names[:7] == [
        "here.txt",
        "alpha-2222.txt",
        "alpha.txt",
        "alpha-2.txt",
        "ALPHA-3.txt",
        "2001-db8-1.txt",
        "x-id.txt",
    ]
    assert names[7] == "host.txt"
    assert max(map(len, names)) < 100
