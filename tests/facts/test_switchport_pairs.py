"""Which port of a switch a netdev is in, among hosts of one make, whose netdevs have one name."""

import json

import pytest

from wirespeed.model.capture import Capture, Section
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import CannotTellError
from wirespeed.platforms.switch.facts.switchport_pairs import is_own, own_name, pairs
from wirespeed.platforms.switch.facts.switchport_port import Neighbor

MAC = "b8599f000001"
NETDEV = "enp59s0f0"


@pytest.mark.parametrize(
    ("neighbor", "found"),
    [
        (Neighbor("", "b8:59:9f:00:00:01"), True),
        (Neighbor("beta", "B859.9F00.0001", "x"), True),
        (Neighbor("alpha.example.net", NETDEV), True),
        (Neighbor("beta", NETDEV), False),
        (Neighbor("", NETDEV), None),
        (Neighbor("beta", "0c:42:a1:00:00:09", f"Interface   8 as {NETDEV}"), False),
        (Neighbor("alpha", "enp59s0f1"), False),
        (Neighbor("", ""), False),
    ],
)
def test_a_switchport_hears_this_host_by_its_address_or_by_both_of_its_names(
    neighbor: Neighbor, found: bool | None
):
    assert is_own(neighbor, NETDEV, (MAC,), "alpha") is found


def test_a_host_that_does_not_say_its_name_is_not_known_by_that_of_a_netdev_at_a_switchport():
    assert is_own(Neighbor("beta", NETDEV), NETDEV, (), "") is None


def host(*heard: tuple[str, str], name: str = "alpha") -> HostFacts:
    """A host at a switch of NX-OS whose ports 1, 2, … hear (system, port)."""
    slot = "/sys/devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0"
    device = f"{NETDEV} driver=mlx5_core physfn= port=p0 device={slot}\n"
    ports = [{"interface": f"Ethernet1/{n}", "state": "up"} for n, _ in enumerate(heard, 1)]
    neighbors = [
        {"l_port_id": f"Eth1/{n}", "sys_name": system, "port_id": port, "port_desc": ""}
        for n, (system, port) in enumerate(heard, 1)
    ]
    interfaces = json.dumps({"TABLE_interface": {"ROW_interface": ports}})
    lldp = json.dumps({"TABLE_nbor_detail": {"ROW_nbor_detail": neighbors}})
    sections = [
        Section("ports", "", device, "", 0),
        Section("names", "", f"hostname {name}\n" if name else "", "", 0),
        Section("switch-kind", "sw1", "nxos\n", "", 0),
        Section("switch-interfaces", "sw1", interfaces, "", 0),
        Section("switch-lldp", "sw1", lldp, "", 0),
    ]
    return HostFacts("x", Capture(sections, complete=True))


def test_of_switchports_that_hear_the_same_name_the_one_that_hears_this_host_is_taken():
    facts = host(("beta", NETDEV), ("alpha", NETDEV), ("gamma", NETDEV))
    assert own_name(facts) == "alpha"
    assert [pair.port.name for pair in pairs(facts)] == ["Ethernet1/2"]


def test_a_name_that_one_switchport_alone_hears_is_taken_and_one_that_several_hear_is_not():
    (pair,) = pairs(host(("beta", NETDEV), ("core", "Ethernet1"), name=""))
    assert pair.port.name == "Ethernet1/1"
    with pytest.raises(CannotTellError):
        pairs(host(("beta", NETDEV), ("gamma", NETDEV), name=""))


def test_another_host_s_switchport_is_not_this_host_s():
    with pytest.raises(CannotTellError):
        pairs(host(("beta", NETDEV)))
