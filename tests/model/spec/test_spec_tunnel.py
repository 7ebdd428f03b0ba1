"""What a spec of tunnels may ask for."""

import pytest
from pydantic import ValidationError

from wirespeed.model.spec.members import read_spec_data
from wirespeed.model.spec.networks import Tunnel


def spec(approach: str = "ovs-tc", subnet: str = "192.168.9.0/24", mtu: int = 9080, **more: str):
    ports = ["0000:03:00.0", "0000:03:00.1"]
    return read_spec_data(
        {
            "hosts": {n: {"reach": f"ssh://{n}", "ports": ports} for n in ("alpha", "beta")},
            "approach": approach,
            "underlay": {"subnet": subnet, "mtu": mtu, **more},
            "networks": {"storage": {"segment": 42, "subnet": "192.168.10.0/24", "mtu": 9000}},
            "guests": {"ceph-1": {"host": "alpha", "networks": ["storage"]}},
        }
    )


@pytest.mark.parametrize(
    ("subnet", "least"),
    # RFC 7348: outer IPv4 20 or IPv6 40, UDP 8, VXLAN 8, and the inner Ethernet header 14.
    [("192.168.9.0/24", 9000 + 20 + 8 + 8 + 14), ("fd00:9::/64", 9000 + 40 + 8 + 8 + 14)],
)
def test_an_mtu_has_room_for_the_outer_headers(subnet: str, least: int):
    spec(subnet=subnet, mtu=least)
    with pytest.raises(ValidationError, match="do not fit into the underlay"):
        spec(subnet=subnet, mtu=least - 1)
    spec("legacy-vlan", subnet=subnet, mtu=9000)


def test_the_tunnel_is_vxlan_or_geneve():
    assert spec().underlay.tunnel is Tunnel.VXLAN
    assert spec(tunnel="geneve").underlay.tunnel is Tunnel.GENEVE
    with pytest.raises(ValidationError):
        spec(tunnel="gre")


def test_the_underlay_has_room_for_every_host():
    spec(subnet="192.168.9.0/30")
    with pytest.raises(ValidationError, match="no room for the hosts"):
        spec(subnet="192.168.9.0/31")


def test_subnets_of_two_versions_do_not_overlap_and_those_of_one_may():
    spec(subnet="fd00:9::/64")
    with pytest.raises(ValidationError, match="overlap"):
        spec(subnet="192.168.0.0/16")
