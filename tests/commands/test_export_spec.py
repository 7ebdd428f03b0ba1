"""`wirespeed export-spec`: captures in, files of another tool out, and what they do not say."""

import os
import stat
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from described_ports import CABLE, GUESTS, capture_text

from wirespeed.commands.export_spec import export_spec
from wirespeed.model.error import InputError


def spec_file(folder: Path, text: str, **capture: str | int) -> str:
    (folder / "host.txt").write_text(capture_text(**capture))  # type: ignore[arg-type]
    for name in ("ALPHA", "BETA"):
        text = text.replace(name, str(folder / "host.txt"))
    (folder / "spec.yaml").write_text(text)
    return str(folder / "spec.yaml")


def run(*words: str) -> Result:
    return CliRunner().invoke(export_spec, words, catch_exceptions=False, standalone_mode=False)


def test_files_are_written_for_each_host_and_the_rest_is_listed(tmp_path: Path):
    out = tmp_path / "out"
    done = run(spec_file(tmp_path, CABLE), "--as", "nmstate", "--out", str(out))
    paths = [out / name / "wirespeed.nmstate.yaml" for name in ("alpha", "beta")]
    assert done.stdout == "".join(f"written: {path}\n" for path in paths)
    assert "  enp3s0f0np0: combined channels 4\n" in done.stderr
    assert [f"192.168.9.{n}" in path.read_text() for n, path in enumerate(paths, 1)] == [True] * 2


@pytest.mark.parametrize(("form", "others_may"), [("netplan", 0), ("networkd", stat.S_IROTH)])
def test_networkd_can_read_its_files_as_its_own_user_and_netplans_are_roots(
    form: str, others_may: int, tmp_path: Path
):
    before = os.umask(0o022)
    try:
        run(spec_file(tmp_path, CABLE), "--as", form, "--out", str(tmp_path / "out"))
    finally:
        os.umask(before)
    found = {path.stat().st_mode & 0o077 & stat.S_IRWXO for path in (tmp_path / "out").glob("*/*")}
    assert found == {others_may}


def test_one_host_is_printed(tmp_path: Path):
    done = run(spec_file(tmp_path, CABLE), "--as", "networkd", "--host", "beta")
    assert done.stdout.startswith("# ==> beta/10-wirespeed-enp3s0f0np0.link <==\n# Made by")
    assert "Address=192.168.9.2/24" in done.stdout and "alpha" not in done.stdout
    assert done.stderr == ""


def test_vfs_of_a_capture_are_written_with_their_vlan(tmp_path: Path):
    done = run(spec_file(tmp_path, GUESTS), "--as", "networkd")
    assert done.stdout.count("VLANId=42\n") == 2
    assert "VF 0 of enp3s0f1np1: driver vfio-pci\n" in done.stderr


@pytest.mark.parametrize(
    ("text", "form", "capture", "what"),
    [
        (CABLE, "sriov-operator", {}, "formats.says_nothing"),
        (GUESTS, "networkd", {"total": 1}, "formats.before_boot"),
        (GUESTS, "networkd", {"driver": "igb", "total": 1}, "spec.too_many_vfs"),
        (GUESTS.replace("legacy-vlan", "ovs-tc"), "netplan", {}, "formats.approach"),
    ],
)
def test_what_cannot_be_written_is_refused(
    text: str, form: str, capture: dict[str, str | int], what: str, tmp_path: Path
):
    text = text.replace("9080", "9200") if "ovs-tc" in text else text
    out = tmp_path / "out"
    with pytest.raises(InputError) as caught:
        run(spec_file(tmp_path, text, **capture), "--as", form, "--out", str(out))
    assert caught.value.what == what
    assert not out.exists()
