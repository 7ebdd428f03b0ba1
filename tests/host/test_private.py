"""Files that another local user planted, or may have written, where ours are looked for."""

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from other_user import as_other_user, needs_root, open_to_all

from wirespeed.host import private
from wirespeed.host.files import write_result, write_whole
from wirespeed.host.jsonl import JsonlWriter, ResultWriter
from wirespeed.host.lock import FileLock
from wirespeed.host.private import (
    make_private_folder,
    open_private,
    read_private,
    tighten_folder,
)
from wirespeed.model.error import InputError

PRECIOUS = "root:x:0:0\n"


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def refused(act: Callable[[], object]) -> InputError:
    with pytest.raises(InputError) as caught:
        act()
    assert caught.value.what == "file.untrusted"
    return caught.value


@pytest.fixture(params=[0o022, 0o000, 0o077])
def umask(request: pytest.FixtureRequest) -> Iterator[None]:
    before = os.umask(request.param)
    yield
    os.umask(before)


@pytest.mark.usefixtures("umask")
def test_a_new_journal_is_for_its_owner_alone_with_its_folder_and_lock(tmp_path: Path):
    writer = JsonlWriter(tmp_path / "a" / "b" / "journal.jsonl")
    writer.append("{}")
    writer.close()
    assert mode(tmp_path / "a") == mode(tmp_path / "a/b") == 0o700
    assert {mode(path) for path in (tmp_path / "a/b").iterdir()} == {0o600}


def test_an_older_journal_that_others_only_could_read_is_taken_and_closed_to_them(tmp_path: Path):
    path = tmp_path / "journal.jsonl"
    path.write_text('{"a":1}\n')
    path.chmod(0o644)
    JsonlWriter(path).close()
    assert mode(path) == 0o600
    path.chmod(0o640)
    assert read_private(path) == b'{"a":1}\n'
    assert mode(path) == 0o600


@pytest.mark.parametrize("bits", [0o620, 0o602, 0o666])
def test_a_file_that_others_may_write_to_is_refused(tmp_path: Path, bits: int):
    path = tmp_path / "journal.jsonl"
    path.write_text("{}\n")
    path.chmod(bits)
    error = refused(lambda: JsonlWriter(path))
    assert f"mode {bits:04o}" in error.found
    assert error.where == str(path)
    assert error.next.endswith(f"chmod go-w {path}")
    refused(lambda: read_private(path))


def test_a_folder_that_others_may_write_to_is_refused(tmp_path: Path):
    folder = tmp_path / "run"
    folder.mkdir()
    folder.chmod(0o777)
    refused(lambda: JsonlWriter(folder / "journal.jsonl"))
    assert list(folder.iterdir()) == []


@needs_root
@pytest.mark.parametrize("what", ["file", "folder", "lock"])
def test_what_another_user_planted_is_refused_by_its_owner(tmp_path: Path, what: str):
    scene = open_to_all(tmp_path)
    path = scene / "run" / "journal.jsonl"

    def plant() -> None:
        if what == "folder":
            path.parent.mkdir()
            path.write_text("{}\n")
        else:
            name = path if what == "file" else path.with_name(".journal.jsonl.lock")
            name.write_text("{}\n")

    if what != "folder":
        path.parent.mkdir()
        path.parent.chmod(0o1777)
    as_other_user(plant)
    path.parent.chmod(0o755)
    assert "uid 61234" in refused(lambda: JsonlWriter(path)).found


@pytest.mark.parametrize("name", ["journal.jsonl", ".journal.jsonl.lock"])
def test_a_planted_link_is_neither_followed_nor_truncated(tmp_path: Path, name: str):
    precious = tmp_path / "passwd"
    precious.write_text(PRECIOUS)
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / name).symlink_to(precious)
    for writes in (JsonlWriter, ResultWriter):
        assert str(precious) in refused(lambda: writes(folder / "journal.jsonl")).found  # noqa: B023
    assert precious.read_text() == PRECIOUS


def test_a_planted_link_to_nothing_makes_no_file(tmp_path: Path):
    (tmp_path / "journal.jsonl").symlink_to(tmp_path / "cron.d")
    refused(lambda: JsonlWriter(tmp_path / "journal.jsonl"))
    assert not (tmp_path / "cron.d").exists()


def test_a_planted_hard_link_is_not_written_to(tmp_path: Path):
    precious = tmp_path / "passwd"
    precious.write_text(PRECIOUS)
    (tmp_path / "run").mkdir()
    (tmp_path / "run/journal.jsonl").hardlink_to(precious)
    assert "2 names" in refused(lambda: JsonlWriter(tmp_path / "run/journal.jsonl")).found
    assert precious.read_text() == PRECIOUS


def test_a_planted_link_in_place_of_the_folder_is_refused(tmp_path: Path):
    (tmp_path / "etc").mkdir()
    (tmp_path / "run").symlink_to(tmp_path / "etc")
    refused(lambda: JsonlWriter(tmp_path / "run" / "journal.jsonl"))
    assert list((tmp_path / "etc").iterdir()) == []


@pytest.mark.timeout(20)
@pytest.mark.parametrize("name", ["journal.jsonl", ".journal.jsonl.lock"])
def test_a_planted_fifo_holds_nobody_up(tmp_path: Path, name: str):
    os.mkfifo(tmp_path / name)
    for writes in (JsonlWriter, ResultWriter):
        assert "FIFO" in refused(lambda: writes(tmp_path / "journal.jsonl")).found  # noqa: B023
    assert FileLock(tmp_path / name).holder() == "an unknown process"
    refused(lambda: read_private(tmp_path / name))
    refused(lambda: open_private(tmp_path / name, os.O_WRONLY))


def test_a_page_replaces_a_planted_link_and_leaves_what_it_led_to(tmp_path: Path):
    precious = tmp_path / "passwd"
    precious.write_text(PRECIOUS)
    for write in (write_result, write_whole):
        path = tmp_path / "report.html"
        path.unlink(missing_ok=True)
        path.symlink_to(precious)
        write(path, "<html>")
        assert path.read_text() == "<html>"
        assert not path.is_symlink()
    assert precious.read_text() == PRECIOUS
    assert sorted(p.name for p in tmp_path.iterdir()) == ["passwd", "report.html"]


def test_a_refused_journal_is_not_kept_locked(tmp_path: Path):
    path = tmp_path / "journal.jsonl"
    path.write_text("")
    path.chmod(0o666)
    refused(lambda: JsonlWriter(path))
    path.chmod(0o600)
    JsonlWriter(path).close()


def test_every_folder_that_is_made_is_durable_in_the_one_above_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    synced: list[Path] = []
    monkeypatch.setattr(private, "sync_folder", synced.append)
    make_private_folder(tmp_path / "a" / "b" / "c")
    assert synced == [tmp_path, tmp_path / "a", tmp_path / "a/b"]


def test_an_older_folder_is_closed_to_others_by_its_descriptor(tmp_path: Path):
    folder = tmp_path / "spec.yaml.run"
    folder.mkdir(mode=0o755)
    tighten_folder(folder)
    assert mode(folder) == 0o700


def test_torn_bytes_are_kept_beside_the_journal_each_time(tmp_path: Path):
    path = tmp_path / "journal.jsonl"
    for number, torn in enumerate((b'{"kind":"int', b"\0" * 9), 1):
        with path.open("ab") as file:
            file.write(torn)
        JsonlWriter(path).close()
        kept = tmp_path / f"journal.jsonl.torn-{number}"
        assert kept.read_bytes() == torn
        assert mode(kept) == 0o600
        assert path.read_bytes() == b""


def test_figures_stay_readable_and_their_half_lines_are_not_kept(tmp_path: Path):
    path = tmp_path / "trials.jsonl"
    path.write_text('{"a":1}\n{"b"')
    path.chmod(0o644)
    ResultWriter(path).close()
    assert mode(path) == 0o644
    assert path.read_text() == '{"a":1}\n'
    assert not list(tmp_path.glob("*.torn-*"))
