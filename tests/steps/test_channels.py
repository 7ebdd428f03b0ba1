"""Channels of a netdev."""

import pytest
from described_ethtool import DescribedPorts, Port
from proof import DescribedControl, plan_on, prove
from pydantic import ValidationError
from samples import is_never_guessed, reason_of, sample, section_of, state_of

from wirespeed.model.command import Command
from wirespeed.steps.channels import Channels

STEP = Channels(netdev="eth0", combined=32)


def combined(count: int, table: int = 0) -> DescribedPorts:
    channels = {"combined": count}
    return DescribedPorts({"eth0": Port(channels=channels, highest_queue_of_table=table)})


def split(rx: int, tx: int, both: int) -> DescribedPorts:
    maximums = {"rx": 4, "tx": 4, "combined": 8}
    channels = {"rx": rx, "tx": tx, "combined": both}
    return DescribedPorts({"eth0": Port(channels=channels, channels_max=maximums)})


@pytest.mark.parametrize("before", [1, 8, 63])
def test_more_and_fewer(before: int):
    prove(STEP, combined(before), combined(32))


def test_from_split_ones_to_combined_ones_in_one_command():
    # One after the other there would be a moment without any, which the kernel refuses.
    step = Channels(netdev="eth0", rx=0, tx=0, combined=8)
    prove(step, split(4, 4, 0), split(0, 0, 8))
    assert plan_on(step, split(4, 4, 0)).steps[0].undo == (
        Command(argv=("ethtool", "-L", "eth0", "combined", "0", "rx", "4", "tx", "4")),
    )


def test_a_table_that_names_higher_queues_refuses_it():
    few, host = Channels(netdev="eth0", combined=4), combined(8, table=7)
    changed = DescribedControl(host).change(few, few.change({"combined": 8}, {"combined": 4}))
    assert "too low for existing indirection table" in changed.failed
    assert host == combined(8, table=7)


def test_real_outputs():
    assert state_of(STEP, sample("ethtool/channels_mlx5_ioctl")) == {"combined": 16}
    separate = Channels(netdev="enp2s0f0", rx=4, tx=4)
    assert state_of(separate, sample("ethtool/channels_tg3")) == {"rx": 4, "tx": 1}


def test_it_is_never_guessed():
    is_never_guessed(STEP)
    shown = section_of(combined(8).run(STEP.read()).output)
    assert "no such setting" in reason_of(Channels(netdev="eth0", rx=4), shown)


@pytest.mark.parametrize("fields", [{}, {"combined": 0}, {"rx": 0, "tx": 0}, {"combined": 5000}])
def test_no_such_step(fields: dict[str, int]):
    with pytest.raises(ValidationError):
        Channels.model_validate({"netdev": "eth0", **fields})
