"""What varies by itself in a reading is no colleague to a try_timer; what tells the state is."""

import json
from ipaddress import ip_interface
from typing import Any

import pytest
from host_text import as_printed, host_text
from samples import section_of

from wirespeed.model.observed import Known
from wirespeed.model.step import Step
from wirespeed.steps.address import Address
from wirespeed.steps.bond import Bond
from wirespeed.steps.fec import Fec
from wirespeed.steps.hugepage_mount import HugepageMount
from wirespeed.steps.in_namespace import InNamespace
from wirespeed.steps.link_mode import LinkMode
from wirespeed.steps.link_up import LinkUp
from wirespeed.steps.marks import literal
from wirespeed.steps.mtu import Mtu
from wirespeed.steps.netdev_name import NetdevName
from wirespeed.steps.vf_settings import VfSettings
from wirespeed.steps.vlan import Vlan

PCI = "0000:03:00.1"
FLAGS = ["BROADCAST", "MULTICAST", "UP", "LOWER_UP"]


def link(name: str, *, up: bool = True, carrier: bool = True, **more: Any) -> dict[str, Any]:
    flags = [*FLAGS[:2], *FLAGS[2 : 2 + up + (up and carrier)]]
    state = {"operstate": "UP" if up and carrier else "DOWN", "qdisc": "mq" if up else "noop"}
    return {"ifindex": 0, "ifname": name, "flags": flags, "mtu": 1500, **state, **more}


def said(step: Step, *links: dict[str, Any]) -> tuple[str | None, Any]:
    """What the host keeps, and the state that wirespeed reads of it."""
    output = as_printed(json.dumps(links))
    found = step.parse(section_of(output))
    assert isinstance(found, Known), found
    return host_text(step, output), found.value


ADDRESS = Address(netdev="eth0", address=ip_interface("192.0.2.1/24"))
IPV4 = {"family": "inet", "local": "192.0.2.1", "prefixlen": 24, "scope": "global"}
OTHER = {"family": "inet", "local": "192.0.2.11", "prefixlen": 24, "scope": "global"}
IPV6 = {"family": "inet6", "local": "fe80::1", "prefixlen": 64, "tentative": True}
BOND = Bond(netdev="bond0", members=("eth0", "eth1"), mode="active-backup", miimon_ms=100)
OF_BOND = {"linkinfo": {"info_kind": "bond", "info_data": {}}}
VF = {"vf": 1, "address": "02:00:00:00:00:01", "spoofchk": True, "trust": False}
SETTINGS = VfSettings(netdev="eth0", vf=1, trust=True)


SAME: dict[str, tuple[Step, list[dict[str, Any]], list[dict[str, Any]]]] = {
    "carrier": (LinkUp(netdev="eth0"), [link("eth0")], [link("eth0", carrier=False)]),
    "addresses of others": (
        ADDRESS,
        [link("eth0", addr_info=[IPV4])],
        [link("eth0", carrier=False, addr_info=[IPV6, OTHER, IPV4])],
    ),
    "netdevs of others": (
        Vlan(lower="eth0", netdev="eth0.42", vlan=42),
        [link("eth0")],
        [link("eth0", carrier=False), link("eth0x42"), link("tap7")],
    ),
    "another function": (
        NetdevName(pci_address=PCI, netdev="port1"),
        [link("port1", parentbus="pci", parentdev=PCI)],
        [
            link("port1", up=False, parentbus="pci", parentdev=PCI),
            link("eth9", parentbus="pci", parentdev="0000:03:00.2"),
        ],
    ),
    "another VF": (
        SETTINGS,
        [link("eth0", vfinfo_list=[VF])],
        [link("eth0", vfinfo_list=[VF | {"vf": 0, "trust": True}, VF | {"spoofchk": False}])],
    ),
}
DIFFERENT: dict[str, tuple[Step, list[dict[str, Any]], list[dict[str, Any]]]] = {
    "up": (LinkUp(netdev="eth0"), [link("eth0")], [link("eth0", up=False)]),
    "address": (
        ADDRESS,
        [link("eth0", addr_info=[IPV4, OTHER])],
        [link("eth0", addr_info=[OTHER])],
    ),
    "name": (
        NetdevName(pci_address=PCI, netdev="port1"),
        [link("port1", parentbus="pci", parentdev=PCI)],
        [link("eth3", parentbus="pci", parentdev=PCI)],
    ),
    "trust": (
        SETTINGS,
        [link("eth0", vfinfo_list=[VF])],
        [link("eth0", vfinfo_list=[VF | {"trust": True}])],
    ),
}


@pytest.mark.parametrize("what", SAME)
def test_a_try_timer_takes_for_no_colleague_what_varies_by_itself(what: str):
    step, before, after = SAME[what]
    assert said(step, *before) == said(step, *after)


@pytest.mark.parametrize("what", DIFFERENT)
def test_a_try_timer_sees_each_state_that_wirespeed_sees(what: str):
    step, before, after = DIFFERENT[what]
    one, other = said(step, *before), said(step, *after)
    assert one[1] != other[1] and one[0] != other[0] and None not in (one[0], other[0])


def test_a_try_timer_sees_the_members_of_a_bond_and_no_other():
    def of(*links: dict[str, Any]) -> str | None:
        return host_text(BOND, as_printed(json.dumps(links)))

    both = [link(name, master="bond0") for name in ("eth0", "eth1")]
    bond = link("bond0", **OF_BOND)
    joined = of(*both, bond)
    assert joined == of(*both, link("bond0", carrier=False, **OF_BOND), link("eth2"))
    assert joined != of(both[0], link("eth1"), bond) != of(*both)


def test_a_try_timer_compares_nothing_that_only_a_link_tells():
    step = LinkMode(netdev="eth0", autoneg=True)
    assert step.mark is None and host_text(step, "Speed: 25000Mb/s\n") is None
    inner = InNamespace(namespace="blue", inner=step.model_dump(mode="json"))
    assert inner.mark is None


def test_a_try_timer_sees_what_is_set_and_not_what_runs():
    def of(configured: str, active: str) -> str | None:
        lines = f"Supported/Configured FEC encodings: {configured}\nActive FEC encoding: {active}\n"
        return host_text(step, f"FEC parameters for eth0:\n{lines}")

    step = Fec(netdev="eth0", encoding="rs")
    assert of("RS", "RS") == of("RS", "Off") != of("Off", "Off")


def test_a_try_timer_sees_its_own_mount_alone():
    step = HugepageMount(page_size="2M")
    mine = f"none {step.subject} hugetlbfs rw,pagesize=2M 0 0\n"
    assert host_text(step, f"proc /proc proc rw 0 0\n{mine}") == host_text(step, mine)
    assert host_text(step, mine) != host_text(step, "proc /proc proc rw 0 0\n")


def test_a_try_timer_knows_a_reading_that_failed_from_a_thing_that_is_not_there():
    step = Mtu(netdev="eth0", mtu=9000)
    gone = "cat: /sys/class/net/eth0/mtu: No such file or directory\n"
    assert str(host_text(step, "", gone, 1)).split() == ["1"]
    assert host_text(step, "", "cat: /sys/class/net/eth0/mtu: Permission denied\n", 1) is None
    for code in (124, 126, 127, 137):
        assert host_text(step, "9000\n", "", code) is None


def test_a_try_timer_takes_a_name_as_it_is():
    assert literal("eth0.42") == r"eth0\.42"
    assert literal("a+b") == r"a\+b"
