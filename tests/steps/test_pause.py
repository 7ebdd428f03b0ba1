"""Pause frames."""

import pytest
from described_ethtool import DescribedPorts, Port
from proof import plan_on, prove
from pydantic import ValidationError
from samples import is_never_guessed, sample, state_of

from wirespeed.apply import executor
from wirespeed.model.command import Command
from wirespeed.steps.pause import Pause

OFF = Pause(netdev="eth0", autoneg=False, rx=False, tx=False)


@pytest.fixture(autouse=True)
def no_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """A described host settles at once."""
    monkeypatch.setattr(executor, "sleep_s", lambda _: None)


def host(autoneg: str, rx: str, tx: str) -> DescribedPorts:
    return DescribedPorts({"eth0": Port(pause={"autoneg": autoneg, "rx": rx, "tx": tx})})


@pytest.mark.parametrize("rx", ["on", "off"])
@pytest.mark.parametrize("autoneg", ["on", "off"])
def test_off_and_back(autoneg: str, rx: str):
    prove(OFF, host(autoneg, rx, "on"), host("off", "off", "off"))


def test_what_is_not_asked_for_stays():
    prove(Pause(netdev="eth0", tx=False), host("on", "on", "on"), host("on", "on", "off"))


def test_the_commands():
    planned = plan_on(OFF, host("on", "off", "on")).steps[0]
    assert planned.commands == (
        Command(argv=("ethtool", "-A", "eth0", "autoneg", "off", "tx", "off")),
    )
    assert planned.undo == (Command(argv=("ethtool", "-A", "eth0", "autoneg", "on", "tx", "on")),)


def test_what_was_negotiated_is_not_what_is_set():
    assert state_of(OFF, sample("ethtool/pause")) == {"autoneg": True, "rx": False, "tx": True}


def test_it_is_never_guessed():
    is_never_guessed(OFF)


def test_no_such_step():
    with pytest.raises(ValidationError):
        Pause(netdev="eth0")
