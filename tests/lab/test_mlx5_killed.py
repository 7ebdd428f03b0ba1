"""An apply on a modelled ConnectX whose controller is killed: the host ends as found.

WIRESPEED_KILLS is how often: `WIRESPEED_KILLS=20 pytest tests/lab/test_mlx5_killed.py -k ovs_tc`.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from mlx5_host import PORTS, facts_of, mlx5_lab, refused, sh
from namespace_story import SMALL, assert_start_or_goal_where_killed, written

from wirespeed.doctor.host_state import differences, values_of
from wirespeed.lab.machines import Machines

pytestmark = [pytest.mark.machines, pytest.mark.rare, pytest.mark.timeout(3600)]


@pytest.fixture(scope="module")
def lab() -> Iterator[Machines]:
    with mlx5_lab(f"test-{os.getpid()}-mlx5kill", "alpha", wiring="switch") as lab:
        yield lab


def test_mlx5_legacy_vlan_killed_in_its_midst_ends_in_start_or_goal(lab: Machines, tmp_path: Path):
    alpha = lab.hosts["alpha"]
    found = facts_of(alpha)
    spec = written(lab, tmp_path / "spec.yaml", SMALL, {"alpha": PORTS[:1]})
    assert_start_or_goal_where_killed(spec, tmp_path, usual=3)
    assert not differences("alpha", values_of(found), values_of(facts_of(alpha)))
    assert refused(lab, "alpha") == ""


@pytest.fixture(scope="module")
def switching() -> Iterator[Machines]:
    """Alpha with Open vSwitch, on the kernel whose mlx5_core offloads flows of tc."""
    name = f"test-{os.getpid()}-mlx5ktc"
    with mlx5_lab(name, "alpha", wiring="switch", kernel="6.1", systemd=True) as lab:
        sh(lab.hosts["alpha"], "systemctl enable --now openvswitch-switch 2>&1")
        yield lab


def test_mlx5_ovs_tc_killed_in_its_midst_ends_in_start_or_goal(switching: Machines, tmp_path: Path):
    alpha = switching.hosts["alpha"]
    found = facts_of(alpha)
    story = SMALL | {
        "approach": "ovs-tc",
        "failover": "active-backup",
        # The model does not let the driver write rules (smfs).
        "steering": "as-found",
        "underlay": {"subnet": "192.168.9.0/24", "mtu": 1580},
    }
    spec = written(switching, tmp_path / "spec.yaml", story, {"alpha": PORTS})
    assert_start_or_goal_where_killed(spec, tmp_path, usual=1)
    assert not differences("alpha", values_of(found), values_of(facts_of(alpha)))
    assert refused(switching, "alpha") == ""
