"""The steps of Open vSwitch's userspace datapath, on a host whose card DPDK does not drive.

tests/described/test_plan_ovs_dpdk.py has a card that it does drive.
"""

import pytest
from test_ovs_tc import host, spec

from wirespeed.approaches.ovs_dpdk import ovs_dpdk
from wirespeed.model.error import InputError
from wirespeed.steps.ovs_bridge import OvsBridge
from wirespeed.steps.ovs_port import OvsPort


def shown(**changes: object) -> list[str]:
    of = spec(approach="ovs-dpdk", **changes)
    return [
        f"{wanted.step.model_dump()['step']} {wanted.step.subject}"
        for wanted in ovs_dpdk(of, "alpha", host())
    ]


def test_the_switch_takes_the_kernels_netdevs_and_has_the_hosts_address():
    assert shown() == [
        "module tun",
        "offloads enp1s0",
        "offloads enp2s0",
        "module bonding",
        "bond underlay0",
        "mtu underlay0",
        "ovs_bridge br-phy",
        "ingress_drop underlay0",
        "ovs_port underlay0 in br-phy",
        "link_up br-phy",
        "address br-phy",
        "ovs_bridge br-storage",
        "ovs_port t42-beta in br-storage",
        "namespace c1",
        "in_namespace lo in c1",
        "veth c1-n0 to net0p0 in c1",
        "in_namespace net0p0 in c1",
        "address_generation c1-n0",
        "ingress_drop c1-n0",
        "mtu c1-n0",
        "link_up c1-n0",
        "ovs_port c1-n0 in br-storage",
        "in_namespace net0p0 in c1",
        "in_namespace net0p0 in c1",
        "in_namespace net0p0 in c1",
    ]


def test_every_bridge_is_in_userspace_and_no_port_needs_dpdk():
    steps = [wanted.step for wanted in ovs_dpdk(spec(approach="ovs-dpdk"), "alpha", host())]
    assert {s.datapath_type for s in steps if isinstance(s, OvsBridge)} == {"netdev"}
    assert {s.interface_type for s in steps if isinstance(s, OvsPort)} == {"system", "vxlan"}


def test_a_guests_frames_have_their_checksum_before_the_switch_gets_them():
    steps = [wanted.step.model_dump() for wanted in
             ovs_dpdk(spec(approach="ovs-dpdk"), "alpha", host())]  # fmt: skip
    after = steps[[step["step"] for step in steps].index("veth") + 1]
    assert after["inner"]["step"] == "offloads"
    assert after["inner"]["features"] == {"tx-checksum-ip-generic": False}


def test_what_an_earlier_step_makes_can_be_planned_before_it_is_there():
    for wanted in ovs_dpdk(spec(approach="ovs-dpdk"), "alpha", host()):
        assert not wanted.is_made or wanted.step.made() is not None, wanted.step


def test_one_port_without_failover_joins_as_it_is():
    assert "ovs_port enp1s0 in br-phy" in shown(failover="none")


def test_a_virtual_machine_has_no_vf_behind_this_switch():
    guests = {"c1": {"host": "alpha", "networks": ["storage"], "kind": "qemu", "image": "/x"}}
    with pytest.raises(InputError) as caught:
        shown(guests=guests)
    assert caught.value.what == "spec.guest_kind"
