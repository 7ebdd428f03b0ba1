"""Open vSwitch that is not there, dies or comes back anew; each a verdict, and undo still works.

The underlay is IPv6 here, and the tunnels are Geneve.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ovs_story import AWAKE, OVS
from ovs_story import START as HERE
from program import start, wirespeed
from test_legacy_reboot import reboot

from wirespeed.apply.run_place import run_folder
from wirespeed.doctor.host_state import Values, differences, values_of
from wirespeed.host.clock import Deadline, sleep_s
from wirespeed.host.reach_destination import Remote
from wirespeed.lab.machine_spec import LabSpec, MachineSpec
from wirespeed.lab.machines import Machines
from wirespeed.runs.captures import Gathered, gather

pytestmark = [pytest.mark.machines, pytest.mark.rare, pytest.mark.timeout(900)]
HOSTS = ("alpha", "beta")
STORY: dict[str, Any] = {
    "approach": "ovs-tc",
    "failover": "none",
    "underlay": {"subnet": "fd00:9::/64", "mtu": 1600, "tunnel": "geneve"},
    "networks": {"storage": {"segment": 16000000, "subnet": "192.168.10.0/24", "mtu": 1500}},
    "guests": {
        "ceph-1": {"host": "alpha", "networks": ["storage"], "kind": "namespace"},
        "gpu-1": {"host": "beta", "networks": ["storage"], "kind": "namespace"},
    },
}
START = {
    "alpha": HERE,
    "beta": f"{AWAKE}; systemctl enable --now openvswitch-switch",
}
PING = "ip netns exec ceph-1 ping -n -M do -s 1472 -c 1 -W 2 192.168.10.2"


@pytest.fixture(scope="module")
def lab() -> Iterator[Machines]:
    alpha = MachineSpec(name="alpha", memory_mib=768, cpus=2)
    # Its switch is a service, and what that has in its database is there again after a reboot.
    beta = MachineSpec(name="beta", memory_mib=768, cpus=2, systemd=True, disk=True)
    with Machines(LabSpec(hosts=(alpha, beta)), name=f"test-{os.getpid()}-ovsfault") as lab:
        yield lab


@pytest.fixture
def spec(lab: Machines, tmp_path: Path) -> Path:
    path = tmp_path / "spec.yaml"
    hosts = {
        n: {"reach": f"ssh://{lab.hosts[n].state.destination}", "ports": ["0000:01:00.0"]}
        for n in HOSTS
    }
    # JSON is YAML too.
    path.write_text(json.dumps({"hosts": hosts, **STORY}))
    return path


def sh(lab: Machines, host: str, script: str) -> str:
    done = lab.hosts[host].run(["sh", "-ec", script])
    assert done.returncode == 0, f"{script}\n{done.output}\n{done.errors}"
    return done.output


def standing(lab: Machines) -> dict[str, Values]:
    """All that is set on every host, by a fresh capture."""
    places = [lab.hosts[name].state.destination for name in HOSTS]
    found = {}
    for gathered in gather([Remote(p, p) for p in places], timeout_s=180):
        assert isinstance(gathered, Gathered), gathered
        assert gathered.facts.capture.complete, "cut off: there is nothing to compare"
        found[gathered.destination.text] = values_of(gathered.facts)
    assert len(found) == len(HOSTS)
    return found


def assert_as_before(lab: Machines, before: dict[str, Values]) -> None:
    now = standing(lab)
    assert [d for host in before for d in differences(host, before[host], now[host])] == []


def assert_talk(lab: Machines) -> None:
    deadline = Deadline(60)
    while lab.hosts["alpha"].run(["sh", "-c", PING]).returncode:
        assert not deadline.expired, sh(lab, "alpha", "ovs-vsctl show; ovs-appctl dpctl/show")
        sleep_s(0.5)


def in_one_line(text: str) -> str:
    return " ".join(text.split())


def test_ovs_that_does_not_run_is_said_before_anything_is_changed(spec: Path):
    refused = wirespeed("apply", str(spec), "--yes")
    assert refused.returncode == 2, refused.stdout + refused.stderr
    assert "ERROR spec.no_ovs alpha" in refused.stderr
    assert "Open vSwitch does not run" in in_one_line(refused.stderr)


def test_ovs_bridge_or_port_of_the_user_is_left_alone(lab: Machines, spec: Path):
    for host in HOSTS:
        sh(lab, host, START[host])
    for made, gone, why in (
        ("add-br br-storage", "del-br br-storage", "wirespeed did not make it"),
        ("add-br br0 -- add-port br0 t16000000-beta", "del-br br0", "it is in br0"),
    ):
        sh(lab, "alpha", f"ovs-vsctl --no-wait {made}")
        try:
            refused = wirespeed("apply", str(spec), "--yes")
        finally:
            sh(lab, "alpha", f"ovs-vsctl {gone}")
        assert refused.returncode == 2, refused.stdout + refused.stderr
        assert f"already: {why}" in in_one_line(refused.stderr), refused.stderr


def test_ovs_database_without_its_daemon_is_said_before_anything_is_changed(
    lab: Machines, spec: Path
):
    sh(lab, "alpha", "kill -KILL $(cat /run/openvswitch/ovs-vswitchd.pid)")
    try:
        refused = wirespeed("apply", str(spec), "--yes")
    finally:
        sh(lab, "alpha", START["alpha"])
    assert refused.returncode == 2, refused.stdout + refused.stderr
    assert "ERROR spec.no_ovs alpha" in refused.stderr
    assert "ovs-vswitchd does not (" in in_one_line(refused.stderr)


def test_ovs_killed_in_the_midst_is_named_and_undo_works_when_it_runs_again(
    lab: Machines, spec: Path
):
    before = standing(lab)
    journal = run_folder(spec) / "journal.jsonl"
    process = start("apply", str(spec), "--yes")
    deadline = Deadline(90)
    # In the midst of alpha: its address is there, its bridge is not.
    while not journal.exists() or journal.read_text().count('"kind":"intent"') < 2:
        assert process.poll() is None and not deadline.expired
        sleep_s(0.01)
    sh(lab, "alpha", "kill -KILL $(cat /run/openvswitch/ovsdb-server.pid)")
    sh(lab, "alpha", "kill -KILL $(cat /run/openvswitch/ovs-vswitchd.pid)")
    output, errors = process.communicate(timeout=300)
    assert process.returncode in (1, 3), output + errors
    assert "database connection failed" in in_one_line(output + errors), output + errors

    sh(lab, "alpha", START["alpha"])
    undone = wirespeed("undo", str(spec))
    assert undone.returncode == 0, undone.stdout + undone.stderr
    assert_as_before(lab, before)


def test_ovs_restarted_has_all_as_it_was_and_a_rebooted_peer_is_named_and_undone(
    lab: Machines, spec: Path
):
    before = standing(lab)
    applied = wirespeed("apply", str(spec), "--yes")
    assert applied.returncode == 0, applied.stdout + applied.stderr
    assert_talk(lab)

    sh(lab, "alpha", "kill -KILL $(cat /run/openvswitch/ovsdb-server.pid)")
    assert_talk(lab)
    blind = wirespeed("drift", str(spec))
    assert blind.returncode == 1, blind.stdout + blind.stderr
    assert "database connection failed" in in_one_line(blind.stdout), blind.stdout
    assert "on beta" not in blind.stdout
    sh(lab, "alpha", START["alpha"])
    # As does the whole switch.
    sh(lab, "alpha", OVS.replace("start", "restart", 1))
    assert_talk(lab)
    still = wirespeed("drift", str(spec))
    assert still.returncode == 0, still.stdout + still.stderr

    # What its database was told last stands in memory alone for some seconds: a cut would lose it.
    sh(lab, "beta", "sync")
    reboot(lab.hosts["beta"])
    sh(lab, "beta", "systemctl start openvswitch-switch")
    gone = wirespeed("drift", str(spec))
    assert gone.returncode == 1, gone.stdout + gone.stderr
    assert "namespace gpu-1 on beta" in gone.stdout
    # The bridge came back by the switch's own database.
    assert "ovs_bridge" not in gone.stdout
    assert "on alpha" not in gone.stdout
    undone = wirespeed("undo", str(spec))
    assert undone.returncode == 0, undone.stdout + undone.stderr
    assert sh(lab, "beta", "ovs-vsctl list-br; ip netns list") == ""
    assert_as_before(lab, before)
