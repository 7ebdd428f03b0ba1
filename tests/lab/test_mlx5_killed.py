"""An apply of VFs on a modelled ConnectX whose controller is killed: the host ends as found."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from mlx5_host import PORTS, facts_of, mlx5_lab, refused
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
