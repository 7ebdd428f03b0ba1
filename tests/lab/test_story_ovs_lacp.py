"""Open vSwitch over a bond by LACP, on real kernels: both cables carry flows, and one may go."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from ovs_story import HOSTS, NETDEVS, PAIR, PORTS, START, STORY, assert_talk, sh
from program import wirespeed

from wirespeed.host.clock import Deadline, sleep_s
from wirespeed.lab.machine_spec import LabSpec, MachineSpec
from wirespeed.lab.machines import Machines
from wirespeed.measure.network.endpoints import endpoints_of
from wirespeed.measure.network.failover import HostBond, failovers
from wirespeed.measure.network.port_switch import port_set_down
from wirespeed.model.network_trial import FailoverTrial, FailoverVerdict, NetworkTrial
from wirespeed.model.spec.measure import FailoverSpec
from wirespeed.runs.hosts_of_spec import read_spec, runners_of

pytestmark = [pytest.mark.machines, pytest.mark.rare, pytest.mark.timeout(900)]
FULL_MAC = "00:00:00:00:00:00"


@pytest.fixture(scope="module")
def lab() -> Iterator[Machines]:
    hosts = tuple(MachineSpec(name=name, memory_mib=768, cpus=2) for name in HOSTS)
    # Each port's cable ends at the same port of the other host: the two bonds are partners.
    with Machines(LabSpec(hosts=hosts), name=f"test-{os.getpid()}-lacp") as lab:
        yield lab


def test_ovs_over_lacp_both_ports_are_one_lag_and_the_flow_survives_a_port(
    lab: Machines, tmp_path: Path
):
    path = tmp_path / "spec.yaml"
    hosts = {n: {"reach": f"ssh://{lab.hosts[n].state.destination}", "ports": PORTS} for n in HOSTS}
    guests = {name: STORY["guests"][name] for name in ("ceph-1", "ceph-2")}
    story = {**STORY, "guests": guests, "failover": "lacp", "approach": "ovs-tc", "hosts": hosts}
    path.write_text(json.dumps(story))
    for host in HOSTS:
        sh(lab, host, START)
    applied = wirespeed("apply", str(path), "--yes", timeout_s=600)
    assert applied.returncode == 0, applied.stdout + applied.stderr

    # The kernel's own account of the partner: it is the other host, and has both ports.
    deadline = Deadline(60)
    while "Number of ports: 2" not in (
        state := sh(lab, "alpha", "cat /proc/net/bonding/underlay0")
    ):
        assert not deadline.expired, state
        sleep_s(1)
    assert f"Partner Mac Address: {FULL_MAC}" not in state
    assert "IEEE 802.3ad" in state and "layer3+4" in state

    wanted = read_spec(path)
    with runners_of(wanted) as runners:
        ends = endpoints_of(wanted, runners)
        assert_talk(ends["ceph-1"], ends["ceph-2"], "storage")
        recorded: list[NetworkTrial] = []
        switches = [
            port_set_down(
                runners["alpha"],
                host="alpha",
                port=PORTS[n],
                number=n,
                netdev=NETDEVS[n],
                carried={},
            )
            for n in range(2)
        ]
        bonds = {"alpha": HostBond(runners["alpha"], "underlay0", NETDEVS)}
        spec = FailoverSpec(load_pps=50, seconds=3)
        failovers(ends, spec, PAIR, switches, recorded.append, bonds=bonds)
    trials = [trial for trial in recorded if isinstance(trial, FailoverTrial)]
    assert [t for t in trials if t.verdict is FailoverVerdict.SURVIVED], trials
    assert not [t for t in trials if t.verdict is FailoverVerdict.LOST], trials

    undone = wirespeed("undo", str(path), timeout_s=600)
    assert undone.returncode == 0, undone.stdout + undone.stderr
    for host in HOSTS:
        assert "underlay0" not in sh(lab, host, "ip -br link")
