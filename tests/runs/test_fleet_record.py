"""The folder of a fleet's change: whose it is, and what it lacks."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from other_user import as_other_user, needs_root, open_to_all

from wirespeed.model.error import InputError, LeftChangedError
from wirespeed.runs.fleet_look import look
from wirespeed.runs.fleet_record import FleetChange, read_change, start_change
from wirespeed.runs.fleet_waves import go_through, undo_change

CHANGE = FleetChange(
    at="2026-01-01", source="spec.yaml", waves=(("alpha",),), bound=0.05, try_s=300, within_s=60,
    at_once=1,
)  # fmt: skip
ACTS: list[Callable[[Path], object]] = [go_through, undo_change, look]


@needs_root
@pytest.mark.parametrize("act", ACTS)
def test_hostile_file_nothing_is_written_in_the_folder_of_another_user(
    tmp_path: Path, act: Callable[[Path], object]
):
    theirs = open_to_all(tmp_path) / "theirs"

    def plant() -> None:
        theirs.mkdir()
        (theirs / "waves.json").write_text(CHANGE.model_dump_json())
        (theirs / "hosts").mkdir()

    as_other_user(plant)
    with pytest.raises(InputError, match=r"file\.untrusted"):
        act(theirs)
    assert sorted(one.name for one in theirs.iterdir()) == ["hosts", "waves.json"]


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.timeout(20)
def test_hostile_file_a_link_or_fifo_in_place_of_the_change_is_refused(
    tmp_path: Path, act: Callable[[Path], object]
):
    start_change(tmp_path / "own", CHANGE, {"alpha": ""})
    start_change(tmp_path / "other", CHANGE, {"alpha": ""})
    (tmp_path / "own/waves.json").unlink()
    (tmp_path / "own/waves.json").symlink_to(tmp_path / "other/waves.json")
    with pytest.raises(InputError, match=r"file\.untrusted"):
        act(tmp_path / "own")
    (tmp_path / "own/waves.json").unlink()
    os.mkfifo(tmp_path / "own/waves.json")
    with pytest.raises(InputError, match=r"file\.untrusted"):
        act(tmp_path / "own")


def test_a_change_that_is_lost_is_not_begun_over(tmp_path: Path):
    start_change(tmp_path / "own", CHANGE, {"alpha": ""})
    (tmp_path / "own/waves.json").unlink()
    with pytest.raises(LeftChangedError, match=r"fleet\.change_lost"):
        read_change(tmp_path / "own")
    with pytest.raises(InputError, match=r"fleet\.begun_before"):
        start_change(tmp_path / "own", CHANGE, {"alpha": ""})
    with pytest.raises(InputError, match=r"fleet\.no_change"):
        read_change(tmp_path / "absent")


def test_hosts_of_waves_that_were_not_begun_are_not_asked(tmp_path: Path):
    start_change(tmp_path / "own", CHANGE, {"alpha": "no spec"})
    now = look(tmp_path / "own")
    assert list(now.lines()) == ["wave 1: 1 hosts, not begun: 1 at start"]
    assert now.exit_code == 1
