"""A netdev is set up and down again."""

import json
from dataclasses import dataclass

import pytest
from proof import Answer, UnknownCommandError, plan_on, prove
from samples import is_never_guessed, reason_of, section_of, state_of

from wirespeed.model.command import Command
from wirespeed.steps.link_up import LinkUp

STEP = LinkUp(netdev="eth0")


@dataclass
class Described:
    """`ip -j link show dev eth0` and `ip link set dev eth0 up|down`."""

    up: bool

    def run(self, command: Command) -> Answer:
        match command.argv:
            case ("ip", "-j", "link", "show", "dev", "eth0"):
                flags = ["BROADCAST", "MULTICAST"] + ["UP", "LOWER_UP"] * self.up
                return Answer(json.dumps([{"ifname": "eth0", "flags": flags}]) + "\n")
            case ("ip", "link", "set", "dev", "eth0", "up" | "down" as way):
                self.up = way == "up"
                return Answer()
        raise UnknownCommandError(command.line())


def test_up_and_down_again():
    prove(STEP, Described(up=False), Described(up=True))


def test_the_commands():
    planned = plan_on(STEP, Described(up=False)).steps[0]
    assert [c.line() for c in planned.commands] == ["ip link set dev eth0 up"]
    assert [c.line() for c in planned.undo] == ["ip link set dev eth0 down"]


@pytest.mark.parametrize(
    ("flags", "up"), [(["NO-CARRIER", "UP"], True), (["LOWER_UP"], False), ([], False)]
)
def test_what_is_set_counts_and_not_whether_a_link_came(flags: list[str], up: bool):
    printed = json.dumps([{"ifname": "eth0", "flags": flags}])
    assert state_of(STEP, section_of(printed)) == {"up": up}


def test_it_is_never_guessed():
    is_never_guessed(STEP)
    for links in ([], [{"ifname": "eth1", "flags": ["UP"]}], [{"ifname": "eth0"}], {}):
        reason_of(STEP, section_of(json.dumps(links)))
