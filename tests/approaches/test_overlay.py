"""Names and addresses of an overlay: the mesh is full, and nothing of it collides."""

from ipaddress import ip_interface

from hypothesis import given
from hypothesis import strategies as st

from wirespeed.approaches.overlay import (
    bridge_of,
    guest_port_of,
    meshes,
    networks_on,
    underlay_address,
)
from wirespeed.model.names import NETDEV
from wirespeed.model.spec.members import read_spec_data
from wirespeed.model.spec.spec import Spec

HOSTS = ("alpha", "beta", "a-host-with-a-long-name", "idle")


def spec(**underlay: str) -> Spec:
    return read_spec_data(
        {
            "hosts": {
                n: {"reach": f"ssh://{n}", "ports": ["0000:03:00.0", "0000:03:00.1"]} for n in HOSTS
            },
            "approach": "ovs-tc",
            "underlay": {"subnet": "192.168.9.0/24", "mtu": 9080, **underlay},
            "networks": {
                "storage": {"segment": 16777215, "subnet": "192.168.10.0/24", "mtu": 9000},
                "public": {"segment": 40, "subnet": "192.168.20.0/24", "mtu": 1500},
            },
            "guests": {
                "c1": {"host": "alpha", "networks": ["storage"]},
                "c2": {"host": "beta", "networks": ["storage", "public"]},
                "c3": {"host": HOSTS[2], "networks": ["public", "storage"]},
                "c4": {"host": HOSTS[2], "networks": ["public"]},
            },
        }
    )


def test_each_host_has_an_address_of_its_own_in_the_underlay():
    assert underlay_address(spec(), "alpha") == ip_interface("192.168.9.1/24")
    assert underlay_address(spec(), "idle") == ip_interface("192.168.9.4/24")
    assert underlay_address(spec(subnet="fd00:9::/64"), "beta") == ip_interface("fd00:9::2/64")


def test_networks_of_a_host():
    assert networks_on(spec(), "alpha") == ("storage",)
    assert networks_on(spec(), HOSTS[2]) == ("storage", "public")
    assert networks_on(spec(), "idle") == ()


def test_the_mesh_is_full_and_both_ends_of_a_tunnel_agree():
    ends = {
        (host, one.remote_host, network): one
        for host in HOSTS
        for network in networks_on(spec(), host)
        for one in meshes(spec(), host, network)
    }
    among = {"storage": HOSTS[:3], "public": HOSTS[1:3]}
    assert set(ends) == {
        (a, b, network) for network, hosts in among.items() for a in hosts for b in hosts if a != b
    }
    for (a, b, network), one in ends.items():
        far = ends[b, a, network].options
        assert one.options["local_ip"] == far["remote_ip"]
        assert one.options["remote_ip"] == far["local_ip"]
        assert one.options["key"] == far["key"] == str(spec().networks[network].segment)
        assert one.options["dst_port"] == "4789"
    geneve = next(meshes(spec(tunnel="geneve"), "alpha", "storage"))
    assert geneve.options["dst_port"] == "6081"


def test_names_are_netdevs_and_differ():
    names = [
        one.netdev
        for network in networks_on(spec(), HOSTS[2])
        for one in meshes(spec(), HOSTS[2], network)
    ]
    names += [bridge_of(network) for network in spec().networks]
    assert len(set(names)) == len(names) == 5
    assert all(NETDEV.fullmatch(name) for name in names)
    assert "t40-beta" in names
    assert bridge_of("storage") == "br-storage"
    assert next(meshes(spec(), "alpha", "storage")).netdev == "t16777215-beta"


@given(st.from_regex(r"[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?", fullmatch=True))
def test_any_name_of_a_spec_makes_a_netdev(name: str):
    for made in (bridge_of(name), guest_port_of(name, name, 15)):
        assert NETDEV.fullmatch(made)
    assert bridge_of(name) != bridge_of(name + "x")
