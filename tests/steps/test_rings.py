"""Rings of a netdev."""

import pytest
from described_ethtool import DescribedPorts, Port
from proof import plan_on, prove
from pydantic import ValidationError
from samples import is_never_guessed, reason_of, sample, section_of, state_of

from wirespeed.model.command import Command
from wirespeed.model.finding import Danger
from wirespeed.steps.rings import Rings

BOTH = Rings(netdev="eth0", rx=8192, tx=4096)


def host(rx: int, tx: int) -> DescribedPorts:
    return DescribedPorts({"eth0": Port(rings={"rx": rx, "tx": tx}), "eth1": Port()})


def test_both_rings():
    prove(BOTH, host(512, 512), host(8192, 4096))


def test_one_ring_leaves_the_other():
    prove(Rings(netdev="eth0", tx=4096), host(512, 512), host(512, 4096))


def test_only_what_differs_is_set():
    planned = plan_on(BOTH, host(512, 4096)).steps[0]
    assert planned.commands == (Command(argv=("ethtool", "-G", "eth0", "rx", "8192")),)
    assert planned.undo == (Command(argv=("ethtool", "-G", "eth0", "rx", "512")),)
    assert planned.danger is Danger.DROPS_LINK


def test_the_maximum_is_not_what_is_set():
    section = sample("ethtool/rings_i40e_6.7")
    assert state_of(BOTH, section) == {"rx": 256, "tx": 512}
    assert state_of(Rings(netdev="eno1", rx=1), section) == {"rx": 256}


def test_a_driver_without_a_ring_of_the_kind_is_not_one_with_0():
    without_rx = DescribedPorts({"eth0": Port(rings={"tx": 512}, rings_max={"tx": 8192})})
    answer = without_rx.run(BOTH.read())
    assert "no such setting" in reason_of(BOTH, section_of(answer.output))


def test_it_is_never_guessed():
    is_never_guessed(BOTH)


@pytest.mark.parametrize("fields", [{}, {"rx": 0}, {"rx": 1 << 17}, {"netdev": "-s", "rx": 1}])
def test_no_such_step(fields: dict[str, object]):
    with pytest.raises(ValidationError):
        Rings.model_validate({"netdev": "eth0", **fields})
