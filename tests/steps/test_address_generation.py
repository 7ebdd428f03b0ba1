"""A netdev that gives itself no address."""

import json
from dataclasses import dataclass

import pytest
from proof import Answer, UnknownCommandError, plan_on, prove
from samples import is_never_guessed, reason_of, section_of, state_of

from wirespeed.model.command import Command
from wirespeed.steps.address_generation import AddressGeneration

STEP = AddressGeneration(netdev="c1-n0")
REAL = (
    '[{"ifindex":15,"link_index":2,"ifname":"c1-n0","flags":["BROADCAST","MULTICAST"],"mtu":9000,'
    '"qdisc":"noqueue","operstate":"UP","link_type":"ether","address":"e6:bd:5e:c0:1e:b6",'
    '"link_netnsid":1,"linkinfo":{"info_kind":"veth"},"inet6_addr_gen_mode":"eui64"}]\n'
)
"""ip of iproute2 6.1.0, shortened."""


@dataclass
class Described:
    """One netdev, and its mode."""

    mode: str

    def run(self, command: Command) -> Answer:
        match command.argv:
            case ("ip", "-j", "-d", "link", "show", "dev", "c1-n0"):
                return Answer(json.dumps([{"ifname": "c1-n0", "inet6_addr_gen_mode": self.mode}]))
            case ("ip", "link", "set", "dev", "c1-n0", "addrgenmode", mode):
                self.mode = mode
                return Answer()
        raise UnknownCommandError(command.line())


@pytest.mark.parametrize("before", ["eui64", "random"])
def test_it_makes_none_and_the_former_way_is_put_back(before: str):
    prove(STEP, Described(before), Described("none"))


def test_the_commands():
    planned = plan_on(STEP, Described("eui64")).steps[0]
    assert [c.line() for c in planned.commands] == ["ip link set dev c1-n0 addrgenmode none"]
    assert [c.line() for c in planned.undo] == ["ip link set dev c1-n0 addrgenmode eui64"]


def test_real_outputs():
    assert state_of(STEP, section_of(REAL)) == {"mode": "eui64"}
    without_ipv6 = REAL.replace(',"inet6_addr_gen_mode":"eui64"', "")
    assert state_of(STEP, section_of(without_ipv6)) == {"mode": "none"}
    is_never_guessed(STEP)


@pytest.mark.parametrize(("was", "becomes"), [('"eui64"', '"odd"'), ('"c1-n0"', '"eth0"')])
def test_what_could_not_be_put_back_is_not_planned(was: str, becomes: str):
    reason_of(STEP, section_of(REAL.replace(was, becomes)))
