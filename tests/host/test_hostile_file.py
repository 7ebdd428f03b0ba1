"""Where a file is to be written another user put a link, a FIFO or a folder of theirs."""

import ast
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from other_user import as_other_user, needs_root, open_to_all

from wirespeed.host.files import (
    append_text,
    write_bytes,
    write_exact,
    write_private_result,
    write_result,
    write_whole,
)
from wirespeed.host.folder import PrivateFolder
from wirespeed.model.error import InputError

PRECIOUS = "root:x:0:0\n"
SOURCE = Path(__file__).parents[2] / "src/wirespeed"
Write = Callable[[Path, str], None]
WRITES: list[Write] = [
    write_exact,
    write_result,
    write_private_result,
    write_whole,
    lambda path, text: write_bytes(path, text.encode(), 0o644),
]
MAY_OPEN = {
    "host/files.py",
    "host/private.py",
    # Named by nobody: temporary files of our own folders.
    "host/detached.py",
    "host/guest_keeper.py",
}
"""Files that open others for writing themselves."""


@pytest.fixture(name="precious")
def _precious(tmp_path: Path) -> Path:
    path = tmp_path / "passwd"
    path.write_text(PRECIOUS)
    return path


@pytest.mark.parametrize("write", WRITES)
def test_hostile_file_no_link_is_followed(tmp_path: Path, precious: Path, write: Write):
    path = tmp_path / "out.html"
    path.symlink_to(precious)
    write(path, "<html>")
    assert path.read_text() == "<html>" and not path.is_symlink()
    assert precious.read_text() == PRECIOUS


@pytest.mark.parametrize("write", WRITES)
def test_hostile_file_a_hard_link_keeps_what_it_has(tmp_path: Path, precious: Path, write: Write):
    (tmp_path / "out.html").hardlink_to(precious)
    write(tmp_path / "out.html", "<html>")
    assert precious.read_text() == PRECIOUS


@pytest.mark.timeout(20)
@pytest.mark.parametrize("write", [*WRITES, append_text])
def test_hostile_file_a_fifo_is_refused_at_once(tmp_path: Path, write: Write):
    os.mkfifo(tmp_path / "out.html")
    with pytest.raises(InputError) as caught:
        write(tmp_path / "out.html", "<html>")
    assert caught.value.what == "file.untrusted" and "FIFO" in caught.value.found
    assert stat.S_ISFIFO((tmp_path / "out.html").stat().st_mode)
    assert [one.name for one in tmp_path.iterdir()] == ["out.html"]


@pytest.mark.parametrize("write", WRITES)
def test_hostile_file_a_device_is_never_replaced(tmp_path: Path, write: Write):
    """As `--html /dev/stdout` by root: the link there, or the device, would be gone."""
    path = tmp_path / "stdout"
    path.symlink_to("/dev/null")
    with pytest.raises(InputError, match=r"file\.untrusted"):
        write(path, "<html>")
    assert path.is_symlink()


@needs_root
@pytest.mark.parametrize("write", [*WRITES, append_text])
def test_hostile_file_no_folder_is_reached_by_a_link_of_another_user(tmp_path: Path, write: Write):
    """`protected_symlinks` keeps from that where it is on, and in folders open to all alone."""
    ours = tmp_path / "etc"
    ours.mkdir()
    shared = tmp_path / "shared"
    shared.mkdir()
    open_to_all(shared)
    # Another user's own folder, where the kernel follows every link.
    as_other_user(lambda: (shared / "theirs").mkdir())
    as_other_user(lambda: (shared / "theirs/out").symlink_to(ours))
    with pytest.raises(InputError) as caught:
        write(shared / "theirs/out/page.html", "<html>")
    assert caught.value.what == "file.untrusted" and "symbolic link" in caught.value.found
    assert list(ours.iterdir()) == []


@pytest.mark.parametrize("write", [*WRITES, append_text])
def test_hostile_file_links_of_ours_lead_to_folders(tmp_path: Path, write: Write):
    (tmp_path / "real/deep").mkdir(parents=True)
    (tmp_path / "one").symlink_to("real")
    (tmp_path / "two").symlink_to(tmp_path / "one/deep")
    write(tmp_path / "two/../deep/page.html", "<html>")
    assert (tmp_path / "real/deep/page.html").read_text() == "<html>"


@pytest.mark.parametrize("write", WRITES)
def test_hostile_file_a_relative_name_is_written_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: Write
):
    monkeypatch.chdir(tmp_path)
    write(Path("page.html"), "<html>")
    assert (tmp_path / "page.html").read_text() == "<html>"


def test_hostile_file_a_log_is_added_to_by_no_link(tmp_path: Path, precious: Path):
    (tmp_path / "log").symlink_to(precious)
    with pytest.raises(InputError, match=r"file\.untrusted"):
        append_text(tmp_path / "log", "more\n")
    assert precious.read_text() == PRECIOUS


@needs_root
def test_hostile_file_no_lock_is_left_in_a_folder_of_another_user(tmp_path: Path):
    open_to_all(tmp_path)
    theirs = tmp_path / "theirs"
    as_other_user(theirs.mkdir)
    with pytest.raises(InputError, match=r"file\.untrusted"):
        PrivateFolder.adopt(theirs)
    assert list(theirs.iterdir()) == []


def test_hostile_file_only_host_files_opens_a_file_to_write_it():
    """What a command writes where a user says goes the one safe way."""
    found = [
        f"{path.relative_to(SOURCE)}:{call.lineno}"
        for path in sorted(SOURCE.rglob("*.py"))
        if str(path.relative_to(SOURCE)) not in MAY_OPEN
        for call in ast.walk(ast.parse(path.read_text()))
        if isinstance(call, ast.Call) and _writes(call)
    ]
    assert found == []


def _writes(call: ast.Call) -> bool:
    function = call.func
    if isinstance(function, ast.Attribute) and function.attr in ("write_text", "write_bytes"):
        return True
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    if name not in ("open", "fdopen") or getattr(getattr(function, "value", 0), "id", "") == "os":
        return False
    modes = [one.value for one in (*call.args, *(k.value for k in call.keywords if k.arg == "mode"))
             if isinstance(one, ast.Constant) and isinstance(one.value, str)]  # fmt: skip
    return any(set(mode) <= set("rwaxbt+") and set(mode) & set("wax") for mode in modes)
