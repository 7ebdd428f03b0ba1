from pathlib import Path

import pytest

from wirespeed.host.lab_folders import OWNER, LabFolder, lab_ssh_configs, labs_folder, labs_up
from wirespeed.model.error import InputError


@pytest.fixture(autouse=True)
def _own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))


def test_one_lab_has_a_name_and_its_folder_goes_with_it():
    first = LabFolder("lab")
    assert [folder for folder, _ in labs_up()] == [first.path]
    assert first.path.stat().st_mode & 0o777 == 0o700
    with pytest.raises(InputError, match=r"lab\.exists"):
        LabFolder("lab")
    second = LabFolder("other")
    first.close()
    first.close()
    assert [folder for folder, _ in labs_up()] == [second.path]
    LabFolder("lab").close()
    second.close()
    assert list(labs_folder().iterdir()) == []


def test_what_a_dead_owner_left_is_cleared_away():
    left = labs_folder() / "dead"
    left.mkdir(parents=True)
    (left / OWNER).write_text("1\n")
    (left / "ssh_config").write_text("Host alpha.dead\n")
    assert list(labs_up()) == []
    assert not left.exists()
    left.mkdir()
    (left / OWNER).write_text("1\n")
    LabFolder("dead").close()


def test_a_folder_that_is_no_labs_is_left_alone():
    strange = labs_folder() / "strange"
    strange.mkdir(parents=True)
    assert list(labs_up()) == []
    assert strange.exists()


@pytest.mark.parametrize("name", ["", "a/b", "..", "Lab", "a" * 21, "-a", "a\n"])
def test_a_name_is_never_a_path(name: str):
    with pytest.raises(InputError, match=r"lab\.name"):
        LabFolder(name)


def test_ssh_reads_the_configuration_of_the_hosts_own_lab_alone():
    """Another's may be gone by the time that it is read."""
    assert lab_ssh_configs("alpha.lab") == []
    with LabFolder("lab") as folder, LabFolder("other") as other:
        for one in (folder, other):
            (one.path / "ssh_config").write_text("Host alpha.lab\n")
        assert lab_ssh_configs("alpha.lab") == [folder.path / "ssh_config"]
        assert lab_ssh_configs("alpha") == lab_ssh_configs("../lab") == []
    assert lab_ssh_configs("alpha.lab") == []
