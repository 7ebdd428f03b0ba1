"""Open vSwitch over a bond by LACP, on real kernels: both cables are one LAG, and guests talk.

Fail-over is not shown: the far end of an emulated cable does not see that a port went down, and
LACP takes 90 s to notice.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from ovs_story import HOSTS, PORTS, START, STORY, assert_talk, sh
from program import wirespeed

from wirespeed.host.clock import Deadline, sleep_s
from wirespeed.lab.machine_spec import LabSpec, MachineSpec
from wirespeed.lab.machines import Machines
from wirespeed.measure.network.endpoints import endpoints_of
from wirespeed.runs.hosts_of_spec import read_spec, runners_of

pytestmark = [pytest.mark.machines, pytest.mark.rare, pytest.mark.timeout(900)]
FULL_MAC = "00:00:00:00:00:00"


@pytest.fixture(scope="module")
def lab() -> Iterator[Machines]:
    hosts = tuple(MachineSpec(name=name, memory_mib=768, cpus=2) for name in HOSTS)
    # Each port's cable ends at the same port of the other host: the two bonds are partners.
    with Machines(LabSpec(hosts=hosts), name=f"test-{os.getpid()}-lacp") as lab:
        yield lab


def test_ovs_over_lacp_both_ports_are_one_lag_and_guests_talk(lab: Machines, tmp_path: Path):
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

    undone = wirespeed("undo", str(path), timeout_s=600)
    assert undone.returncode == 0, undone.stdout + undone.stderr
    for host in HOSTS:
        assert "underlay0" not in sh(lab, host, "ip -br link")
