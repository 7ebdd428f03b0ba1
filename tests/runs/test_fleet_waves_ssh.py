"""20 SSH hosts changed in waves: a fault in wave 2, the controller killed in each wave, undone.

Whatever happens, every host ends as it was or as it is to be, and nothing between.
"""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from namespace_hosts import NamespaceHosts

from wirespeed.host.clock import Deadline, sleep_s

pytestmark = [
    pytest.mark.sshd,
    pytest.mark.rare,
    pytest.mark.timeout(1500),
    pytest.mark.skipif(os.geteuid() != 0, reason="network namespaces need root"),
]
COUNT = 20
TRY_S = 3600
"""So long that no slow machine reaches it: the test lets it pass."""
START = (1500, False, ())
GOAL = (9000, True, ("192.168.50.1/24",))
SPEC = """\
hosts:
  {{ inventory_hostname }}: {reach: {{ reach }}, ports: ["{{ data_pci }}"]}
approach: none
underlay: {subnet: 192.168.50.0/24, mtu: 9000}
"""


@pytest.fixture(name="hosts", scope="module")
def _hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NamespaceHosts]:
    assert shutil.which("nsenter") and shutil.which("ip")
    hosts = NamespaceHosts(COUNT, tmp_path_factory.mktemp("fleet"))
    try:
        yield hosts
    finally:
        hosts.close()


def waves_of(folder: Path) -> list[list[str]]:
    return json.loads((folder / "waves.json").read_text())["waves"]


def has_begun(folder: Path, wave: int) -> bool:
    lines = (folder / "waves.jsonl").read_text() if (folder / "waves.jsonl").exists() else ""
    events = [json.loads(line) for line in lines.splitlines()]
    return bool(events) and (events[-1]["wave"], events[-1]["kind"]) == (wave, "begun")


def killed_in(hosts: NamespaceHosts, folder: Path, wave: int, *words: str) -> None:
    """Start it, and kill it as soon as a host of that wave has begun to change."""
    process = hosts.controller("fleet", "apply", *words)
    deadline = Deadline(300)
    try:
        while True:
            assert not deadline.expired and process.poll() is None, process.communicate()
            if has_begun(folder, wave) and hosts.has_changed(waves_of(folder)[wave - 1], START):
                break
            sleep_s(0.1)
    finally:
        process.kill()
        process.communicate()
    # `ip netns exec` becomes the program itself: what was killed is the controller.
    hosts.let_pass(TRY_S, 300)


def at_start_or_goal(hosts: NamespaceHosts) -> set[str]:
    """Give the hosts at their goal; all others are at their start."""
    standing = hosts.standing()
    assert set(standing.values()) <= {START, GOAL}, standing
    return {name for name, how in standing.items() if how == GOAL}


def test_fleet_waves_end_at_start_or_goal_whatever_happens(hosts: NamespaceHosts, tmp_path: Path):
    spec, folder = tmp_path / "spec.yaml", tmp_path / "change"
    spec.write_text(SPEC)
    resume = ("--resume", str(folder))
    assert at_start_or_goal(hosts) == set()

    begin = (
        str(spec),
        "-i",
        str(hosts.inventory),
        "--waves",
        "1,30%,100%",
        "--at-once",
        "8",
        "--yes",
    )
    killed_in(hosts, folder, 1, *begin, "--try", str(TRY_S), "--run", str(folder))
    first, second, third = map(set, waves_of(folder))
    assert (len(first), len(second), len(third)) == (1, 5, 14)
    assert at_start_or_goal(hosts) <= first

    # A fault in wave 2: more than 5 % of it fail, so all of it is taken back and wave 3 not begun.
    broken = sorted(second)[0]
    hosts.break_host(broken)
    code, output = hosts.ran("fleet", "apply", *resume)
    assert code == 1, output
    assert "wave 2: 1 of 5 failed, which is more than 5%: undoing the wave" in output
    assert "wave 3 of 3" not in output
    assert at_start_or_goal(hosts) == first
    hosts.mend_host(broken)

    killed_in(hosts, folder, 2, *resume)
    assert first <= at_start_or_goal(hosts) <= first | second
    killed_in(hosts, folder, 3, *resume)
    assert first | second <= at_start_or_goal(hosts)

    code, output = hosts.ran("fleet", "apply", *resume)
    assert code == 0, output
    assert at_start_or_goal(hosts) == first | second | third
    # Confirmed: no timer is left that takes it back.
    hosts.let_pass(TRY_S, 120)
    assert at_start_or_goal(hosts) == first | second | third
    code, output = hosts.ran("fleet", "status", str(folder))
    assert code == 0, output
    assert "wave 3: 14 hosts, kept: 14 at goal" in output

    code, output = hosts.ran("fleet", "undo", str(folder), "--wave", "2")
    assert code == 0, output
    assert at_start_or_goal(hosts) == first | third
    code, output = hosts.ran("fleet", "undo", str(folder))
    assert code == 0, output
    assert at_start_or_goal(hosts) == set()


def test_fleet_doctor_reads_20_hosts_over_ssh(hosts: NamespaceHosts, tmp_path: Path):
    words = ("fleet", "doctor", "-i", str(hosts.inventory), "--out", str(tmp_path / "out"))
    code, output = hosts.ran(*words, "--database", "sqlite://")
    assert code in (0, 1), output
    fleet = json.loads((tmp_path / "out/fleet.json").read_text())
    assert [host["name"] for host in fleet["hosts"]] == hosts.names
    assert {host["state"] for host in fleet["hosts"]} <= {"well", "with findings"}
    assert len({host["profile"] for host in fleet["hosts"]}) == 1
