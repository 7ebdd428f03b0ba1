"""A fleet's folder loses what it knows: its answers are made of what stands on the hosts.

On real SSH servers in network namespaces, whose state the kernel tells.
"""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from namespace_hosts import PORT, NamespaceHosts

pytestmark = [
    pytest.mark.sshd,
    pytest.mark.rare,
    pytest.mark.timeout(300),
    pytest.mark.skipif(os.geteuid() != 0, reason="network namespaces need root"),
]
START = (1500, False, ())
GOAL = (9000, True, ("192.168.50.1/24",))
SPEC = """\
hosts:
  {{ inventory_hostname }}: {reach: {{ reach }}, ports: ["{{ data_pci }}"]}
approach: none
underlay: {subnet: 192.168.50.0/24, mtu: 9000}
"""
FIRST, SECOND = "h01", "h02"


@pytest.fixture(name="hosts", scope="module")
def _hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NamespaceHosts]:
    assert shutil.which("nsenter") and shutil.which("ip")
    hosts = NamespaceHosts(2, tmp_path_factory.mktemp("truth"))
    try:
        yield hosts
    finally:
        hosts.close()


@pytest.fixture(name="folder")
def _folder(hosts: NamespaceHosts, tmp_path: Path) -> Path:
    """Of a change that was kept on both hosts, one a wave."""
    return changed(hosts, tmp_path, "1,100%")


def changed(hosts: NamespaceHosts, tmp_path: Path, waves: str) -> Path:
    spec, folder = tmp_path / "spec.yaml", tmp_path / "change"
    spec.write_text(SPEC)
    assert set(hosts.standing().values()) == {START}
    begin = (str(spec), "-i", str(hosts.inventory), "--waves", waves, "--yes")
    code, output = hosts.ran("fleet", "apply", *begin, "--run", str(folder))
    assert code == 0, output
    assert set(hosts.standing().values()) == {GOAL}
    return folder


def ends_at_start(hosts: NamespaceHosts, folder: Path) -> None:
    code, output = hosts.ran("fleet", "undo", str(folder))
    assert (code, set(hosts.standing().values())) == (0, {START}), output
    code, output = hosts.ran("fleet", "status", str(folder))
    assert code == 1 and "at goal" not in output, output


def without_copies(hosts: NamespaceHosts, name: str) -> None:
    hosts.inside(name, "rm", "-r", "/var/lib/wirespeed/runs")


def test_fleet_truth_a_lost_journal_is_not_at_start(hosts: NamespaceHosts, folder: Path):
    code, output = hosts.ran("fleet", "status", str(folder))
    assert code == 0, output
    shutil.rmtree(folder / "hosts" / FIRST / "run-1")
    code, output = hosts.ran("fleet", "status", str(folder))
    assert code == 3, output
    assert "wave 1: 1 hosts, kept: 1 at goal" in output
    assert "its journal is lost here: `wirespeed fleet undo` undoes it by the host's copy" in output
    ends_at_start(hosts, folder)


def test_fleet_truth_a_resumed_change_finds_the_lost_journal(hosts: NamespaceHosts, folder: Path):
    shutil.rmtree(folder / "hosts" / SECOND / "run-1")
    (folder / "waves.jsonl").unlink()
    code, output = hosts.ran("fleet", "apply", "--resume", str(folder))
    assert code == 0, output
    assert (folder / "hosts" / SECOND / "run-1/journal.jsonl").exists()
    ends_at_start(hosts, folder)


def test_fleet_truth_where_journal_and_copy_are_lost_the_way_back_is_said_to_be_gone(
    hosts: NamespaceHosts, tmp_path: Path
):
    folder = changed(hosts, tmp_path, "100%")
    kept = folder.with_name("kept")
    shutil.move(folder / "hosts" / FIRST / "run-1", kept)
    hosts.inside(FIRST, "mv", "/var/lib/wirespeed/runs", "/var/lib/wirespeed/away")
    for word in ("status", "undo", "status", "undo"):
        code, output = hosts.ran("fleet", word, str(folder))
        assert code == 3, output
        assert "no way back is known" in output and FIRST in output
    assert hosts.standing() == {FIRST: GOAL, SECOND: START}
    hosts.inside(FIRST, "mv", "/var/lib/wirespeed/away", "/var/lib/wirespeed/runs")
    ends_at_start(hosts, folder)


def test_fleet_truth_a_host_without_its_copy_is_named_and_undone_by_the_journal(
    hosts: NamespaceHosts, folder: Path
):
    without_copies(hosts, FIRST)
    code, output = hosts.ran("fleet", "status", str(folder))
    assert code == 3 and "the host has no copy of it" in output, output
    ends_at_start(hosts, folder)


def test_fleet_truth_what_was_undone_from_elsewhere_is_at_start(
    hosts: NamespaceHosts, folder: Path, tmp_path: Path
):
    # Another machine has no such folder.
    away = tmp_path / "away"
    folder.rename(away)
    code, output = hosts.ran("undo", hosts.reach(FIRST), "--yes")
    away.rename(folder)
    assert (code, hosts.standing()[FIRST]) == (0, START), output
    code, output = hosts.ran("fleet", "status", str(folder))
    assert code == 3, output
    assert "wave 1: 1 hosts, kept: 1 at start" in output and "undone from elsewhere" in output
    ends_at_start(hosts, folder)


def test_fleet_truth_a_host_that_cannot_be_asked_is_not_known(hosts: NamespaceHosts, folder: Path):
    spec = folder / "hosts" / FIRST / "spec.yaml"
    text = spec.read_text()
    spec.write_text(text.replace(f":{PORT}", ":2223"))
    code, output = hosts.ran("fleet", "status", str(folder))
    assert code == 1 and "1 not known" in output and "its journal says at goal" in output, output
    code, output = hosts.ran("fleet", "undo", str(folder))
    assert code in (1, 3) and hosts.standing() == {FIRST: GOAL, SECOND: START}, output
    spec.write_text(text)
    ends_at_start(hosts, folder)


def test_fleet_truth_a_spoilt_line_of_the_waves_is_asked_of_the_hosts(
    hosts: NamespaceHosts, folder: Path
):
    path = folder / "waves.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    assert [json.loads(line)["kind"] for line in lines] == ["begun", "kept"] * 2
    spoilt = (b"xx\n", b"\0" * 50 + b"\n", b'{"wave":1}\n', b"\xff\xfe\n")
    path.write_bytes(b"".join([lines[0], *spoilt, *lines[2:]]))
    code, output = hosts.ran("fleet", "status", str(folder))
    assert code == 0 and "waves.jsonl: 4 lines are damaged" in output, output
    assert output.count("1 at goal") == 2
    code, output = hosts.ran("fleet", "apply", "--resume", str(folder))
    assert code == 0, output
    ends_at_start(hosts, folder)


@pytest.mark.parametrize("left", [None, b"\xff"])
def test_fleet_truth_lost_waves_are_not_no_change(
    hosts: NamespaceHosts, folder: Path, left: bytes | None
):
    path = folder / "waves.json"
    path.unlink()
    if left is not None:
        path.write_bytes(left)
    code, output = hosts.ran("fleet", "status", str(folder))
    assert code == 3 and "2 at goal" in output and "waves.json" in output, output
    code, output = hosts.ran("fleet", "apply", "--resume", str(folder))
    assert code == 3 and "fleet.change_lost" in output, output
    code, output = hosts.ran("fleet", "undo", str(folder))
    assert (code, set(hosts.standing().values())) == (0, {START}), output


def test_fleet_truth_a_damaged_journal_is_healed_by_the_hosts_copy(
    hosts: NamespaceHosts, folder: Path
):
    journal = folder / "hosts" / FIRST / "run-1/journal.jsonl"
    lines = journal.read_bytes().split(b"\n")
    journal.write_bytes(b"\n".join([lines[0], b"xx", *lines[2:]]))
    code, output = hosts.ran("fleet", "status", str(folder))
    assert code == 3 and "its journal here is damaged" in output, output
    ends_at_start(hosts, folder)
    # The first line, without which nothing says which steps there are.
    code, output = hosts.ran("fleet", "apply", "--resume", str(folder))
    assert (code, set(hosts.standing().values())) == (0, {GOAL}), output
    journal = folder / "hosts" / FIRST / "run-2/journal.jsonl"
    journal.write_bytes(b"xx" + journal.read_bytes())
    assert hosts.ran("fleet", "status", str(folder))[0] == 3
    ends_at_start(hosts, folder)


def test_fleet_truth_a_lost_folder_of_a_host_is_named(hosts: NamespaceHosts, folder: Path):
    kept = folder.with_name("kept")
    shutil.move(folder / "hosts" / FIRST, kept)
    for words in ("status", "undo"):
        code, output = hosts.ran("fleet", words, str(folder))
        assert code == 3 and FIRST in output, output
    assert hosts.standing() == {FIRST: GOAL, SECOND: START}
    shutil.rmtree(folder / "hosts" / FIRST, ignore_errors=True)
    shutil.move(kept, folder / "hosts" / FIRST)
    ends_at_start(hosts, folder)
