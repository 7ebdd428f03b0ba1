"""`wirespeed measure command --on ssh://…`: a host is watched over one connection meanwhile."""

import json
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from sshd import Home, Sshd, free_port

from wirespeed.commands.measure import measure
from wirespeed.model.error import HostError

SLEEPS = "import time; time.sleep(3.3); print('took 3.3 s')"


def ran(out: Path, *hosts: str) -> int:
    on = [word for host in hosts for word in ("--on", host)]
    options = ["-n", "2", "--figure", r"took (\S+) s", "--unit", "s", "--lower-is-better"]
    result = CliRunner().invoke(
        measure,
        ["command", "--out", str(out), *options, *on, "--", sys.executable, "-c", SLEEPS],
        catch_exceptions=False,
        standalone_mode=False,
    )
    assert not isinstance(result.exception, click.ClickException), result.exception
    return int(result.return_value)


@pytest.mark.sshd
def test_hosts_are_watched_over_ssh_and_here_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    home = Home(tmp_path / "home")
    server = Sshd(tmp_path / "server", home.key)
    try:
        home.add_host("lab*", server.port)
        home.known_hosts.write_text(server.known_as())
        monkeypatch.setenv("HOME", str(home.folder))
        monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
        assert ran(tmp_path / "run", "here", "ssh://lab1") == 0
    finally:
        server.close()
    lines = (tmp_path / "run/workload.jsonl").read_text().splitlines()
    trials = [t for t in map(json.loads, lines) if t["kind"] == "trial"]
    assert len(trials) == 2
    for trial in trials:
        here, there = trial["hosts"]
        assert (here["host"], there["host"]) == ("here", "ssh://lab1")
        for use in (here, there):
            # Before, meanwhile, and after.
            assert use["readings"] >= 3 and not use["failed"]
            assert use["seconds"] >= 3.2
            assert use["cores"][0]["busy_peak"] is not None
        # It is the same machine under two names: what one saw, the other did.
        assert len(here["cores"]) == len(there["cores"])


def test_a_host_that_cannot_be_reached_stops_it_before_anything_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(HostError):
        ran(tmp_path / "run", f"ssh://127.0.0.1:{free_port()}")
    assert "trial" not in [
        json.loads(line)["kind"]
        for line in (tmp_path / "run/workload.jsonl").read_text().splitlines()
    ]
