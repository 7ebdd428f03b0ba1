"""The steps of Open vSwitch where DPDK alone drives the port, by vfio-pci."""

import json
from typing import Any

import pytest
from test_ovs_tc import spec

from wirespeed.approaches.ovs_dpdk import ovs_dpdk
from wirespeed.model.capture import parse_capture
from wirespeed.model.error import InputError
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import CannotTellError
from wirespeed.steps.dpdk_port import DpdkPort
from wirespeed.steps.ovs_port import OvsPort

UNDERLAY = {"subnet": "192.168.9.0/24", "mtu": 9080, "driver": "vfio-pci"}
RUNNING = json.dumps(
    {"headings": ["ovs_version", "other_config"], "data": [["3.1.0", ["map", []]]]}
)
PORT = "enp1s0 driver=igb"
GONE = "- driver=vfio-pci"
SYSFS = "/sys/devices/system"
TWO_CPUS = f"{SYSFS}/node/node0/cpulist:0-1\n{SYSFS}/cpu/online:0-1"


def host(port: str = PORT, cpus: str = TWO_CPUS, more: tuple[str, ...] = ()) -> HostFacts:
    lines = ["wirespeed-capture 1 case", "case begin ports -"]
    lines += [f"{port} physfn= port= device=/sys/devices/pci0000:00/0000:01:00.0"]
    lines += ["", "case end 0", "case begin ovs-db -", RUNNING, "", "case end 0"]
    lines += ["case begin cpu -", cpus, "", "case end 0", *more, "case done", ""]
    return HostFacts("alpha", parse_capture("\n".join(lines), "alpha"))


def steps(facts: HostFacts, **changes: Any) -> list[Any]:
    asked: dict[str, Any] = {"failover": "none", "underlay": UNDERLAY, **changes}
    return list(ovs_dpdk(spec(approach="ovs-dpdk", **asked), "alpha", facts))


def test_memory_build_and_port_are_ready_before_dpdk_starts():
    shown = [f"{w.step.model_dump()['step']} {w.step.subject}" for w in steps(host())]
    assert shown[:17] == [
        "module tun",
        "hugepages hugepages of 2048 KiB",
        "ovs_config other_config:dpdk-socket-mem",
        "ovs_config other_config:pmd-cpu-mask",
        "ovs_config other_config:dpdk-extra",
        "alternative ovs-vswitchd",
        "module vfio-pci",
        "module vfio_iommu_type1",
        "dpdk_port 0000:01:00.0 (enp1s0)",
        "ovs_config other_config:dpdk-init",
        "ovs_bridge br-phy",
        "ovs_port phy-p0 in br-phy",
        "link_up br-phy",
        "address br-phy",
        "ovs_bridge br-storage",
        "ovs_port t42-beta in br-storage",
        "namespace c1",
    ]


def test_a_host_without_an_iommu_gives_vfio_no_port():
    facts = host(more=("case begin iommu -", "groups 0", "", "case end 0"))
    with pytest.raises(InputError) as caught:
        steps(facts)
    assert caught.value.what == "spec.no_iommu"


def test_dpdk_may_take_this_card_alone_and_polls_on_its_last_cpu():
    made = [w.step.model_dump() for w in steps(host())]
    values = {one["key"]: one["value"] for one in made if one["step"] == "ovs_config"}
    assert values == {
        "dpdk-socket-mem": "1024",
        "pmd-cpu-mask": "0x2",
        "dpdk-extra": "-a 0000:01:00.0",
        "dpdk-init": "true",
    }
    (port,) = [w.step for w in steps(host()) if getattr(w.step, "interface_type", "") == "dpdk"]
    assert isinstance(port, OvsPort)
    assert port.options == {"dpdk-devargs": "0000:01:00.0", "dpdk-lsc-interrupt": "true"}
    assert port.mtu_request == 9080


def test_a_port_that_has_left_the_kernel_already_is_planned_too():
    (port,) = [w.step for w in steps(host(GONE)) if isinstance(w.step, DpdkPort)]
    assert port == DpdkPort(pci_address="0000:01:00.0", netdev=None)


def test_the_kernel_bonds_no_ports_that_have_left_it():
    with pytest.raises(InputError) as caught:
        steps(host(), failover="active-backup")
    assert caught.value.what == "spec.failover"
    assert "failover: none" in caught.value.next


@pytest.mark.parametrize("driver", ["mlx5_core", "mlx4_core", "mana"])
def test_a_port_that_dpdk_drives_beside_the_kernel_does_not_leave_it(driver: str):
    # Its embedded switch is not known: no devlink, or a guest's VF.
    with pytest.raises(InputError) as caught:
        steps(host(f"enp1s0 driver={driver}"))
    assert caught.value.what == "spec.port_driver"
    assert driver in caught.value.found and "driver: kernel" in caught.value.next


def test_without_its_cpus_no_polling_core_is_guessed():
    with pytest.raises(CannotTellError):
        steps(host(cpus=""))


GUESTS = {
    "c1": {"host": "alpha", "networks": ["storage"], "kind": "namespace"},
    "vm-1": {"host": "alpha", "networks": ["public", "storage"], "kind": "none"},
    "c2": {"host": "beta", "networks": ["storage"], "kind": "none"},
}


def test_a_guest_that_somebody_else_starts_has_a_socket_of_vhost_user_in_each_network():
    ports = [w.step for w in steps(host(), guests=GUESTS) if isinstance(w.step, OvsPort)]
    vhost = [port for port in ports if port.interface_type == "dpdkvhostuserclient"]
    assert [(p.bridge, p.netdev, p.options, p.mtu_request) for p in vhost] == [
        ("br-public", "vm-1-n0", {"vhost-server-path": "/run/openvswitch/vm-1-n0"}, 1500),
        ("br-storage", "vm-1-n1", {"vhost-server-path": "/run/openvswitch/vm-1-n1"}, 9000),
    ]


def test_without_dpdk_nobody_has_such_a_socket():
    kernels = {**UNDERLAY, "driver": "kernel"}
    hosts = {n: {"reach": f"ssh://{n}", "ports": ["0000:01:00.0"]} for n in ("alpha", "beta")}
    made = [w.step for w in steps(host(), guests=GUESTS, underlay=kernels, hosts=hosts)]
    assert {p.interface_type for p in made if isinstance(p, OvsPort)} == {"system", "vxlan"}
