"""A spec is taken as it is meant, and what cannot be is refused with the reason."""

import copy
import json
from typing import Any

import pytest
from pydantic import ValidationError

from wirespeed.model.spec.members import read_spec_data

SPEC: dict[str, Any] = {
    "hosts": {
        "alpha": {"reach": "ssh://root@alpha", "ports": ["0000:03:00.0", "0000:03:00.1"]},
        "beta": {"reach": "ssh://root@beta", "ports": ["0000:03:00.0", "0000:03:00.1"]},
    },
    "approach": "legacy-vlan",
    "failover": "active-backup",
    "underlay": {"subnet": "192.168.9.0/24", "mtu": 9080},
    "networks": {
        "storage": {"segment": 42, "subnet": "192.168.10.0/24", "mtu": 9000},
        "public": {"segment": 40, "subnet": "192.168.20.0/24", "mtu": 1500},
    },
    "guests": {
        "ceph-1": {"host": "alpha", "networks": ["storage"], "vcpus": 16, "memory_gib": 8},
        "gpu-1": {"host": "beta", "networks": ["storage", "public"], "vcpus": 16, "memory_gib": 8},
    },
    "measure": {
        "iperf3": {"mtu": [1500, 9000], "streams": [2, 6], "bidirectional": True, "runs": 3},
        "ping": {"count": 10000, "warmup": 1, "runs": 3},
        "rfc2544": {"frame_bytes": [64, 1518], "flows": 8192, "seconds": 60},
    },
}


def spec_with(path: str, value: object) -> dict[str, Any]:
    """Change one place of the spec; None takes it out."""
    changed = copy.deepcopy(SPEC)
    *way, last = path.split("/")
    place = changed
    for key in way:
        place = place[key]
    if value is None:
        del place[last]
    else:
        place[last] = value
    return changed


def test_the_spec_of_the_design_is_taken():
    spec = read_spec_data(SPEC)
    assert spec.approach == "legacy-vlan"
    assert spec.guests["gpu-1"].networks == ("storage", "public")
    assert read_spec_data(json.loads(spec.model_dump_json())) == spec


@pytest.mark.parametrize(
    ("path", "value", "why"),
    [
        ("networks/storage/mtu", 9080, None),
        ("networks/storage/mtu", 9081, "do not fit into the underlay's 9080"),
        ("networks/storage/segment", 4094, None),
        ("networks/storage/segment", 4095, "VLAN id 4095 is not 1 to 4094"),
        ("networks/storage/segment", 0, "it must be the only network"),
        ("networks/storage/segment", 40, "both have VLAN id 40"),
        ("networks/storage/subnet", "192.168.20.128/25", "overlap"),
        ("networks/storage/subnet", "192.168.9.0/30", "overlap"),
        ("networks/storage/subnet", "192.168.10.0/31", "no room for 2 guests"),
        ("networks/storage/subnet", "192.168.10.0/30", None),
        ("networks/storage/subnet", "192.168.10.1/24", "not a valid IPv4 network"),
        ("guests/ceph-1/host", "gamma", "no host 'gamma' among alpha, beta"),
        ("guests/ceph-1/networks", ["lan"], "no network 'lan' among public, storage"),
        ("guests/ceph-1/networks", ["storage", "storage"], "named twice"),
        ("guests/ceph-1/vcpus", 0, "greater than or equal to 1"),
        ("hosts/alpha/ports", ["0000:03:00.0"], "active-backup needs two ports"),
        ("steering", "as-found", "legacy-vlan has no rules of an embedded switch"),
        ("failover", "lacp", "keeps a switch's LACP frames from VFs"),
        ("hosts/alpha/ports", ["0000:03:00.0"] * 2, "a port is named twice"),
        ("hosts/alpha/ports", ["03:00.0", "03:00.1"], "is not a PCI address"),
        ("hosts/alpha/colour", "red", "Extra inputs are not permitted"),
        ("colour", "red", "Extra inputs are not permitted"),
        ("approach", "ovs", "legacy-vlan"),
        ("underlay", None, "Field required"),
        ("guests/ceph-1; reboot", SPEC["guests"]["ceph-1"], "small letters"),
    ],
)
def test_what_cannot_be_is_refused_with_the_reason(path: str, value: object, why: str | None):
    changed = spec_with(path, value)
    if why is None:
        read_spec_data(changed)
        return
    with pytest.raises(ValidationError, match=why):
        read_spec_data(changed)


@pytest.mark.parametrize(("mtu", "fits"), [(9030, True), (9031, False)])
def test_vxlan_takes_50_bytes_of_the_underlay(mtu: int, fits: bool):
    changed = spec_with("networks/storage/mtu", mtu) | {"approach": "ovs-tc"}
    if fits:
        read_spec_data(changed)
    else:
        with pytest.raises(ValidationError, match="50 bytes of ovs-tc do not fit"):
            read_spec_data(changed)


def test_a_vni_may_be_larger_than_a_vlan():
    changed = spec_with("networks/storage/segment", 2**24 - 1) | {"approach": "ovs-tc"}
    changed["networks"]["storage"]["mtu"] = 9000
    assert read_spec_data(changed).networks["storage"].segment == 2**24 - 1


@pytest.mark.parametrize("path", ["/a/../b", "/..", "/images/.."])
def test_a_path_of_an_image_that_goes_up_is_refused(path: str):
    with pytest.raises(ValidationError) as caught:
        read_spec_data(
            {
                "hosts": {"alpha": {"reach": "here", "ports": ["0000:03:00.0"]}},
                "approach": "legacy-vlan",
                "failover": "none",
                "underlay": {"subnet": "192.168.9.0/24", "mtu": 9000},
                "networks": {"n": {"segment": 42, "subnet": "192.168.10.0/24", "mtu": 9000}},
                "guests": {
                    "g": {"host": "alpha", "networks": ["n"], "kind": "qemu", "image": path}
                },
            }
        )
    assert "without .." in str(caught.value)
