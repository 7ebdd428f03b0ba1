"""What is written for sriov-network-operator, held against the fields of its CRDs."""

from typing import Any

import jsonschema
import pytest
import yaml
from described_ports import BRIDGED, CABLE, GUESTS, ONE_EACH, SPACES, written

TEXT, FLAG = {"type": "string"}, {"type": "boolean"}
TEXTS = {"type": "array", "items": TEXT}
COUNT = {"type": "integer", "minimum": 0}

VLAN = {"type": "integer", "minimum": 0, "maximum": 4095}
TRUNK = {
    "type": "object", "additionalProperties": False,
    "properties": {"id": VLAN, "minID": VLAN, "maxID": VLAN},
}  # fmt: skip


def of_kind(fields: dict[str, Any], *required: str) -> dict[str, Any]:
    """Give the schema of an object; the API server prunes or refuses any other field."""
    name = {"type": "string", "maxLength": 253, "pattern": "^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$"}
    spec = {"additionalProperties": False, "properties": fields, "required": list(required)}
    return {
        "type": "object", "additionalProperties": False,
        "required": ["apiVersion", "kind", "metadata", "spec"],
        "properties": {
            "apiVersion": {"const": "sriovnetwork.openshift.io/v1"}, "kind": TEXT,
            "metadata": {"type": "object", "required": ["name"], "properties": {"name": name}},
            "spec": {"type": "object", **spec},
        },
    }  # fmt: skip


SCHEMAS = {
    "SriovNetworkNodePolicy": of_kind(
        {
            "deviceType": {"enum": ["netdevice", "vfio-pci"]},
            "eSwitchMode": {"enum": ["legacy", "switchdev"]},
            "isRdma": FLAG, "needVhostNet": FLAG, "externallyManaged": FLAG,
            "linkType": {"enum": ["eth", "ETH", "ib", "IB"]},
            "mtu": {"type": "integer", "minimum": 1}, "numVfs": COUNT,
            "nicSelector": {
                "type": "object", "additionalProperties": False,
                "properties": {
                    "deviceID": TEXT, "vendor": TEXT, "netFilter": TEXT,
                    "pfNames": TEXTS, "rootDevices": TEXTS,
                },
            },
            "nodeSelector": {"type": "object", "additionalProperties": TEXT},
            "priority": {"type": "integer", "minimum": 0, "maximum": 99},
            "resourceName": {"type": "string", "pattern": "^[a-zA-Z0-9_]+$"},
        },
        "nicSelector", "nodeSelector", "numVfs", "resourceName",
    ),
    "SriovNetwork": of_kind(
        {
            "capabilities": TEXT, "ipam": TEXT, "networkNamespace": TEXT, "metaPlugins": TEXT,
            "linkState": {"enum": ["auto", "enable", "disable"]},
            "maxTxRate": COUNT, "minTxRate": COUNT,
            "resourceName": {"type": "string", "pattern": "^[a-zA-Z0-9_]+$"},
            "spoofChk": {"enum": ["on", "off"]}, "trust": {"enum": ["on", "off"]},
            "vlan": {"type": "integer", "minimum": 0, "maximum": 4094},
            "vlanQoS": {"type": "integer", "minimum": 0, "maximum": 7},
            "vlanProto": {"enum": ["802.1q", "802.1Q", "802.1ad", "802.1AD"]},
        },
        "resourceName",
    ),
    "OVSNetwork": of_kind(
        {
            "bridge": TEXT, "capabilities": TEXT, "interfaceType": TEXT, "ipam": TEXT,
            "metaPlugins": TEXT, "mtu": {"type": "integer"}, "networkNamespace": TEXT,
            "resourceName": TEXT, "trunk": {"type": "array", "items": TRUNK}, "vlan": VLAN,
        },
        "resourceName",
    ),
}  # fmt: skip
"""Their types, bounds and required fields, at commit 249e20012faf of the operator."""


def objects_of(text: str, kind: str) -> list[dict[str, Any]]:
    (content,) = written("sriov-operator", text).files.values()
    objects = list(yaml.safe_load_all(content))
    for one in objects:
        jsonschema.validate(one, SCHEMAS[one["kind"]])
    names = [(one["kind"], one["metadata"]["name"]) for one in objects]
    assert len(set(names)) == len(names)
    return [one["spec"] for one in objects if one["kind"] == kind]


@pytest.mark.parametrize(("text", "driver"), [(GUESTS, "vfio-pci"), (SPACES, "netdevice")])
def test_a_policy_of_each_port_and_a_network_of_each_vlan(text: str, driver: str):
    policies = objects_of(text, "SriovNetworkNodePolicy")
    assert [policy["nicSelector"] for policy in policies] == [
        {"rootDevices": ["0000:03:00.0"]},
        {"rootDevices": ["0000:03:00.1"]},
    ]
    for policy in policies:
        assert policy["nodeSelector"] == {"kubernetes.io/hostname": "alpha"}
        assert (policy["numVfs"], policy["mtu"], policy["deviceType"]) == (2, 9080, driver)
    resources = [policy["resourceName"] for policy in policies]
    networks = objects_of(text, "SriovNetwork")
    assert {(n["resourceName"], n["vlan"]) for n in networks} == {
        (resource, vlan) for resource in resources for vlan in (40, 42)
    }


def test_vfs_of_two_drivers_are_two_policies_of_one_port():
    policies = objects_of(ONE_EACH, "SriovNetworkNodePolicy")
    assert [(p["nicSelector"]["pfNames"], p["deviceType"], p["numVfs"]) for p in policies] == [
        (["enp3s0f0np0#0-0"], "vfio-pci", 2),
        (["enp3s0f0np0#1-1"], "netdevice", 2),
        (["enp3s0f1np1#0-0"], "vfio-pci", 2),
        (["enp3s0f1np1#1-1"], "netdevice", 2),
    ]
    assert len({policy["resourceName"] for policy in policies}) == 4


@pytest.mark.parametrize("name", ["089", "1e5", "0o17", "12e34", "1", "on", "y", "n"])
def test_a_node_whose_name_other_tools_take_for_a_number_or_a_truth_stands_in_quotes(name: str):
    # The values of a nodeSelector are text: the API server refuses a number there.
    (text,) = written("sriov-operator", GUESTS.replace("alpha", f'"{name}"'), name).files.values()
    assert f"kubernetes.io/hostname: '{name}'" in text


def test_of_ports_without_vfs_it_can_say_nothing():
    made = written("sriov-operator", CABLE)
    assert made.files == {}
    assert "enp3s0f0np0: address 192.168.9.1/24 (a policy is about VFs)" in made.unsaid


@pytest.mark.parametrize(
    ("kind", "driver"), [("kind: none", "vfio-pci"), ("kind: namespace", "netdevice")]
)
def test_a_vf_behind_a_bridge_has_an_ovs_network_and_its_port_is_in_switchdev_mode(
    kind: str, driver: str
):
    text = BRIDGED.replace("KIND", kind)
    (policy,) = objects_of(text, "SriovNetworkNodePolicy")
    assert (policy["eSwitchMode"], policy["numVfs"], policy["mtu"]) == ("switchdev", 2, 9080)
    assert policy["deviceType"] == driver and "bridge" not in policy
    networks = objects_of(text, "OVSNetwork")
    assert [(n["bridge"], n["mtu"], n["resourceName"]) for n in networks] == [
        ("br-storage", 9000, policy["resourceName"]), ("br-public", 1500, policy["resourceName"]),
    ]  # fmt: skip
    assert not objects_of(text, "SriovNetwork")
    unsaid = written("sriov-operator", text).unsaid
    assert any(line.startswith("ovs_bridge br-storage") for line in unsaid)
    assert any(line.startswith("ovs_config other_config:hw-offload") for line in unsaid)
