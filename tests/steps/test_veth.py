"""A pair of virtual ports between a host and a namespace."""

import json
from dataclasses import dataclass, field
from typing import Any

import pytest
from proof import Answer, UnknownCommandError, plan_on, prove
from pydantic import ValidationError
from samples import is_never_guessed, reason_of, section_of, state_of

from wirespeed.model.command import Command
from wirespeed.steps.veth import Veth

STEP = Veth(netdev="ws3f", namespace="ceph-1", inside="net0p0", mac="02:11:22:33:44:55")
REAL = (
    '[{"ifindex":7,"link_index":2,"ifname":"ws3f","flags":["BROADCAST","MULTICAST"],"mtu":1500,'
    '"qdisc":"noop","operstate":"DOWN","link_type":"ether","address":"2e:ae:34:89:d4:68",'
    '"link_netnsid":0,"linkinfo":{"info_kind":"veth"}}]\n'
)
"""ip of iproute2 6.1.0, shortened."""


@dataclass
class DescribedHost:
    """Netdevs of a host and of its namespaces, and `ip` on them."""

    namespaces: dict[str, dict[str, str]]
    """Name: netdevs with their MAC."""
    links: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Host's end: the far one, by namespace and name."""

    def run(self, command: Command) -> Answer:
        assert command.stdin is None
        match command.argv:
            case ("ip", "-j", "-d", "link", "show", "dev", name):
                if name not in self.links:
                    return Answer("", f'Device "{name}" does not exist.\n', 1)
                link: dict[str, Any] = {"ifname": name, "linkinfo": {"info_kind": "veth"}}
                return Answer(json.dumps([link | {"link_netnsid": 0}]))
            case ("ip", "link", "add", "dev", name, "type", "veth", "peer", "name", far,
                  "address", mac, "netns", namespace):  # fmt: skip
                if namespace not in self.namespaces:
                    return Answer("", f"Invalid \"netns\" value: '{namespace}'\n", 255)
                if name in self.links or far in self.namespaces[namespace]:
                    return Answer("", "RTNETLINK answers: File exists\n", 2)
                self.links[name] = (namespace, far)
                self.namespaces[namespace][far] = mac
            case ("ip", "link", "del", "dev", name):
                if name not in self.links:
                    return Answer("", f'Cannot find device "{name}"\n', 1)
                namespace, far = self.links.pop(name)
                del self.namespaces[namespace][far]
            case _:
                raise UnknownCommandError(command.line())
        return Answer()


def test_the_pair_is_made_and_both_ends_go():
    before = DescribedHost({"ceph-1": {"lo": ""}, "gpu-1": {"lo": ""}})
    after = DescribedHost(
        {"ceph-1": {"lo": "", "net0p0": STEP.mac}, "gpu-1": {"lo": ""}},
        {"ws3f": ("ceph-1", "net0p0")},
    )
    prove(STEP, before, after)


def test_the_commands():
    planned = plan_on(STEP, DescribedHost({"ceph-1": {}})).steps[0]
    assert [c.line() for c in planned.commands] == [
        "ip link add dev ws3f type veth peer name net0p0 address 02:11:22:33:44:55 netns ceph-1"
    ]
    assert [c.line() for c in planned.undo] == ["ip link del dev ws3f"]


def test_real_outputs():
    assert state_of(STEP, section_of(REAL)) == {"is_there": True}
    gone = section_of("", 'Device "ws3f" does not exist.\n', 1)
    assert state_of(STEP, gone) == {"is_there": False}
    is_never_guessed(STEP)


@pytest.mark.parametrize(
    ("was", "becomes"),
    [('"veth"', '"dummy"'), ('"link_netnsid":0,', ""), ('"ws3f"', '"eth0"')],
)
def test_a_netdev_of_somebody_else_stays_as_it_is(was: str, becomes: str):
    reason_of(STEP, section_of(REAL.replace(was, becomes)))


@pytest.mark.parametrize("mac", ["", "01:00:5e:00:00:01", "02:11:22:33:44", "02:11:22:33:44:5G"])
def test_a_mac_is_of_one_station(mac: str):
    with pytest.raises(ValidationError):
        Veth(netdev="ws3f", namespace="ceph-1", inside="net0p0", mac=mac)
