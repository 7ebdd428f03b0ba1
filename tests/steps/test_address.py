"""An address is added beside others, and taken away again."""

import json
from dataclasses import dataclass, field
from ipaddress import ip_interface
from typing import Any

import pytest
from proof import Answer, UnknownCommandError, plan_on, prove
from pydantic import ValidationError

from wirespeed.model.capture import Section
from wirespeed.model.command import Command
from wirespeed.model.observed import Known, Observed, Unreadable
from wirespeed.model.step import State
from wirespeed.steps.address import Address


@dataclass
class DescribedAddresses:
    """`ip -j addr show dev`, `ip addr add|del ADDRESS dev`: inet_insert_ifa() of devinet.c."""

    addresses: list[str] = field(default_factory=list)

    def run(self, command: Command) -> Answer:
        assert command.stdin is None
        match command.argv:
            case ("ip", "-j", "addr", "show", "dev", "bond0"):
                return Answer(json.dumps([{"ifname": "bond0", "addr_info": self._info()}]))
            case ("ip", "addr", "add", address, "dev", "bond0"):
                if address in self.addresses:
                    return Answer("", "RTNETLINK answers: File exists\n", 2)
                self.addresses.append(address)
            case ("ip", "addr", "del", address, "dev", "bond0"):
                if address not in self.addresses:
                    return Answer("", "RTNETLINK answers: Cannot assign requested address\n", 2)
                self.addresses.remove(address)
            case _:
                raise UnknownCommandError(command.line())
        return Answer()

    def _info(self) -> list[dict[str, Any]]:
        found = map(ip_interface, self.addresses)
        return [{"local": str(a.ip), "prefixlen": a.network.prefixlen} for a in found]


def step(address: str = "192.168.10.2/24") -> Address:
    return Address.model_validate({"netdev": "bond0", "address": address})


@pytest.mark.parametrize("address", ["192.168.10.2/24", "2001:db8::2/64"])
@pytest.mark.parametrize("others", [[], ["192.168.10.2/16", "192.168.10.3/24", "fe80::1/64"]])
def test_it_is_added_and_taken_away(address: str, others: list[str]):
    start = DescribedAddresses(list(others))
    prove(step(address), start, DescribedAddresses([*others, address]))


def test_on_a_netdev_that_is_new_there_is_none():
    state = state_of(step(), [])
    assert isinstance(state, Known) and state.value == step().made()


def test_the_commands_are_the_seeds():
    plan = plan_on(step(), DescribedAddresses()).steps[0]
    assert [c.line() for c in plan.commands] == ["ip addr add 192.168.10.2/24 dev bond0"]
    assert [c.line() for c in plan.undo] == ["ip addr del 192.168.10.2/24 dev bond0"]


def state_of(one: Address, info: object) -> Observed[State]:
    text = json.dumps([{}, {"ifname": "bond0", "addr_info": info}])
    return one.parse(Section("step", "bond0", text, "", 0))


def test_a_longer_spelling_is_the_same_address():
    state = state_of(step("2001:0db8:0::2/64"), [{"local": "2001:db8::2", "prefixlen": 64}])
    assert isinstance(state, Known) and state.value == {"is_there": True}


def test_an_address_that_another_host_has_is_no_address():
    info = [{"local": "2001:db8::2", "prefixlen": 64, "dadfailed": True}]
    state = state_of(step("2001:db8::2/64"), info)
    assert isinstance(state, Unreadable) and "another host" in state.reason


@pytest.mark.parametrize(
    "info", [None, 7, [{"local": "x", "prefixlen": 1}], [{"local": "1.2.3.4"}]]
)
def test_what_is_no_list_of_addresses_is_unreadable(info: object):
    assert isinstance(state_of(step(), info), Unreadable)


def test_a_netdev_that_is_not_there_is_unreadable():
    gone = Section("step", "bond0", "", 'Device "bond0" does not exist.\n', 1)
    assert isinstance(step().parse(gone), Unreadable)
    for output in ("", "[]", "{", '[{"ifname": "bond1", "addr_info": []}]'):
        assert isinstance(step().parse(Section("step", "bond0", output, "", 0)), Unreadable)


@pytest.mark.parametrize("address", ["x", "192.168.10.256/24", "192.168.10.2/33", "-4"])
def test_it_takes_only_addresses(address: str):
    with pytest.raises(ValidationError):
        step(address)
