"""`wirespeed fleet doctor`: hosts over SSH or from captures; who is not reached stops no other."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from sshd import Home, Sshd, free_port

from described.healthy import kinds
from described.host import capture_of
from wirespeed.commands.fleet import doctor
from wirespeed.fleet.records import Fleet, HostState
from wirespeed.model.error import InputError
from wirespeed.runs.fleet_folder import FILE

CASES = Path(__file__).parent.parent / "rules/cases"
NARROW = CASES / "pcie.width_below_capability/present_x4_where_both_ends_can_do_x16/capture.txt"


def ran(*options: str) -> tuple[int, str]:
    result = CliRunner().invoke(
        doctor, [*options, "--database", "sqlite://"], catch_exceptions=False, standalone_mode=False
    )
    return int(result.return_value), result.output


def answer_in(folder: Path) -> Fleet:
    return Fleet.model_validate_json((folder / FILE).read_text())


def test_captures_are_judged_without_any_host(tmp_path: Path):
    folder = tmp_path / "captures"
    folder.mkdir()
    healthy = capture_of(kinds()["ice_25g"]())
    for number in range(6):
        (folder / f"n{number}.txt").write_text(healthy)
    (folder / "narrow.txt").write_text(NARROW.read_text())
    (folder / "broken.txt").write_text("nothing of use\n")
    code, output = ran("--captures", str(folder), "--out", str(tmp_path / "out"))
    assert code == 2
    assert "8 hosts: 6 well, 1 with findings, 1 not read" in output
    assert "pcie.width_below_capability" in output
    kept = answer_in(tmp_path / "out")
    assert {host.name: host.state for host in kept.hosts}["broken"] is HostState.NOT_READ
    assert len({host.profile for host in kept.hosts if host.state is HostState.WELL}) == 1


def test_a_host_of_the_inventory_without_a_capture_is_not_reached(tmp_path: Path):
    folder = tmp_path / "captures"
    folder.mkdir()
    (folder / "a.txt").write_text(NARROW.read_text())
    inventory = tmp_path / "hosts"
    inventory.write_text("a rack=r1\nb rack=r2\n")
    options = ("-i", str(inventory), "--captures", str(folder), "--out", str(tmp_path / "out"))
    code, output = ran(*options, "--json")
    assert code == 1
    fleet = Fleet.model_validate(json.loads(output))
    a, b = fleet.hosts
    assert (a.traits["rack"], b.state, b.what) == (
        ("r1",),
        HostState.NOT_REACHED,
        "capture.missing",
    )


def test_neither_inventory_nor_captures_is_refused(tmp_path: Path):
    with pytest.raises(InputError):
        ran("--out", str(tmp_path / "out"))


@pytest.mark.sshd
def test_a_fleet_is_read_over_ssh_and_who_is_not_reached_stops_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    home = Home(tmp_path / "home")
    server = Sshd(tmp_path / "server", home.key)
    try:
        home.known_hosts.write_text(server.known_as())
        home.add_host("n*", server.port, "HostKeyAlias [127.0.0.1]:" + str(server.port))
        monkeypatch.setenv("HOME", str(home.folder))
        monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
        inventory = tmp_path / "hosts"
        inventory.write_text(
            f"[rack7]\nn[1:4] rack=r7\n[rack8]\ndead ansible_host=127.0.0.1 "
            f"ansible_port={free_port()}\nn9\n"
        )
        out = tmp_path / "out"
        ran("-i", str(inventory), "-l", "rack7:dead", "--at-once", "2", "--out", str(out))
    finally:
        server.close()
    states = {host.name: host for host in answer_in(out).hosts}
    assert list(states) == ["n1", "n2", "n3", "n4", "dead"]
    assert (states["dead"].state, states["dead"].what) == (HostState.NOT_REACHED, "ssh.refused")
    for name in ("n1", "n2", "n3", "n4"):
        assert states[name].is_judged
        assert states[name].traits["rack"] == ("r7",)
        assert (out / "captures" / f"{name}.txt").read_text().startswith("wirespeed-capture 1 ")
    # It is one machine by four names.
    assert len({states[f"n{i}"].profile for i in range(1, 5)}) == 1
