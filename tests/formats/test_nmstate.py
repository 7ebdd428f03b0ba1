"""What is written for nmstate, held against the fields that its documentation lists."""

from typing import Any

import jsonschema
import pytest
import yaml
from described_ports import CABLE, GUESTS, ONE_EACH, SPACES, written

from wirespeed.approaches.guest_network import guest_mac

MAC = {"type": "string", "pattern": "^[0-9a-f]{2}(:[0-9a-f]{2}){5}$"}
COUNT = {"type": "integer", "minimum": 0, "maximum": 2**32 - 1}
FLAG = {"type": "boolean"}


def closed(fields: dict[str, Any], *required: str) -> dict[str, Any]:
    """Give a schema that refuses other fields, as nmstate does (deny_unknown_fields)."""
    return {
        "type": "object", "additionalProperties": False,
        "properties": fields, "required": list(required),
    }  # fmt: skip


IP = closed(
    {
        "enabled": FLAG, "dhcp": FLAG,
        "address": {"type": "array", "items": closed(
            {"ip": {"type": "string"}, "prefix-length": {"type": "integer", "maximum": 128}},
            "ip", "prefix-length",
        )},
    },
    "enabled",
)  # fmt: skip
VF = closed(
    {
        "id": COUNT, "mac-address": MAC, "spoof-check": FLAG, "trust": FLAG,
        "min-tx-rate": COUNT, "max-tx-rate": COUNT,
        "vlan-id": {"type": "integer", "minimum": 0, "maximum": 4095}, "qos": COUNT,
        "vlan-proto": {"enum": ["802.1q", "802.1ad"]},
    },
    "id",
)  # fmt: skip
SRIOV = closed(
    {"drivers-autoprobe": FLAG, "total-vfs": COUNT, "vfs": {"type": "array", "items": VF}}
)
ETHTOOL = closed(
    {
        "ring": closed({"rx": COUNT, "tx": COUNT, "rx-jumbo": COUNT, "rx-mini": COUNT}),
        "pause": closed({"rx": FLAG, "tx": FLAG, "autoneg": FLAG}),
    }
)
ETHERNET = closed(
    {
        "name": {"type": "string"}, "type": {"const": "ethernet"}, "state": {"enum": ["up"]},
        "mtu": COUNT, "ipv4": IP, "ipv6": IP, "ethtool": ETHTOOL,
        "ethernet": closed({"sr-iov": SRIOV}),
    },
    "name", "type",
)  # fmt: skip
VLAN = closed(
    {
        "name": {"type": "string"}, "type": {"const": "vlan"}, "state": {"enum": ["up"]},
        "mtu": COUNT, "ipv4": IP, "ipv6": IP,
        "vlan": closed({"base-iface": {"type": "string"}, "id": COUNT}, "base-iface", "id"),
    },
    "name", "type", "vlan",
)  # fmt: skip
STATE = closed(
    {"interfaces": {"type": "array", "items": {"anyOf": [ETHERNET, VLAN]}}}, "interfaces"
)


def ports_of(text: str) -> list[dict[str, Any]]:
    (content,) = written("nmstate", text).files.values()
    data = yaml.safe_load(content)
    jsonschema.validate(data, STATE)
    found: list[dict[str, Any]] = data["interfaces"]
    return found


@pytest.mark.parametrize("text", [GUESTS, ONE_EACH, SPACES])
def test_each_vf_has_its_vlan_and_mac(text: str):
    ports = ports_of(text)
    assert [port["name"] for port in ports] == ["enp3s0f0np0", "enp3s0f1np1"]
    for port in ports:
        assert (port["state"], port["mtu"]) == ("up", 9080)
        sriov = port["ethernet"]["sr-iov"]
        assert sriov["total-vfs"] == 2
        assert sriov["vfs"] == [
            {"id": 0, "mac-address": guest_mac("ceph-1", "storage"), "vlan-id": 42},
            {"id": 1, "mac-address": guest_mac("web-1", "public"), "vlan-id": 40},
        ]
        assert sriov.get("drivers-autoprobe") == (False if text is GUESTS else None)


def test_a_vlan_on_a_port_has_the_address():
    port, vlan = ports_of(CABLE.replace("mtu: 9000", "mtu: 9000, vlan: 40"))
    assert "ipv4" not in port
    assert (vlan["name"], vlan["mtu"]) == ("enp3s0f0np0.40", 9000)
    assert vlan["vlan"] == {"base-iface": "enp3s0f0np0", "id": 40}
    assert vlan["ipv4"]["address"] == [{"ip": "192.168.9.1", "prefix-length": 24}]


def test_a_port_without_guests_has_its_address_rings_and_pause():
    (port,) = ports_of(CABLE)
    assert port["ipv4"]["address"] == [{"ip": "192.168.9.1", "prefix-length": 24}]
    assert port["ethtool"] == {
        "ring": {"rx": 8192, "tx": 4096},
        "pause": {"autoneg": False, "rx": False, "tx": False},
    }
    assert written("nmstate", CABLE).unsaid == ("enp3s0f0np0: combined channels 4",)
