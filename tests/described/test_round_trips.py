"""An `apply` of what is applied already asks each host once."""

from pathlib import Path

import pytest

from described.round_trips import RecordedRunner, applied, trips
from wirespeed.apply.control_posix import PosixControl
from wirespeed.steps.mtu import Mtu


def test_an_applied_spec_of_two_hosts_takes_one_round_trip_to_each(tmp_path: Path):
    made, plan = trips(tmp_path)
    assert made == {"alpha": 1, "beta": 1}
    assert all(step.no_op for step in plan.steps)
    assert {step.host for step in plan.steps} == {"alpha", "beta"}


def test_the_described_host_counts_and_is_only_read():
    runner = RecordedRunner(applied("ceph-1"))
    control, step = PosixControl("alpha", runner), Mtu(netdev="enp3s0f0np0", mtu=1500)
    control.read([step])
    control.read([step])
    assert runner.trips == 2
    with pytest.raises(AssertionError, match="only read"):
        control.change(step, step.change({"mtu": 9080}, {"mtu": 1500}))
