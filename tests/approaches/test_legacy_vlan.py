"""The steps of the legacy VLAN approach, against the document that it comes from."""

import pytest

from wirespeed.apply.spec_file import parse_spec
from wirespeed.approaches.guest_network import guest_mac
from wirespeed.approaches.legacy_vlan import legacy_vlan
from wirespeed.approaches.vf_ports import vf_shares
from wirespeed.model.capture import parse_capture
from wirespeed.model.error import InputError
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import CannotTellError
from wirespeed.model.spec import Spec

SPEC = """
hosts:
  alpha: {reach: ssh://root@alpha, ports: ["0000:03:00.0", "0000:03:00.1"]}
  beta: {reach: ssh://root@beta, ports: ["0000:03:00.0", "0000:03:00.1"]}
approach: legacy-vlan
underlay: {subnet: 192.168.9.0/24, mtu: 9080}
networks:
  storage: {segment: 42, subnet: 192.168.10.0/24, mtu: 9000}
  public: {segment: 40, subnet: 192.168.20.0/24, mtu: 1500}
guests:
  ceph-1: {host: alpha, networks: [storage], vcpus: 16, memory_gib: 8}
  gpu-1: {host: alpha, networks: [public], vcpus: 16, memory_gib: 8}
"""
SYSFS = "/sys/bus/pci/devices"
PFS = {"0000:03:00.0": ("enp3s0f0np0", 2), "0000:03:00.1": ("enp3s0f1np1", 17)}
"""Netdev, and the offset that gives the document's addresses: VF 1 is 03:00.3 and 03:02.3."""


def spec(text: str = SPEC) -> Spec:
    return parse_spec(text, "spec.yaml")


def host(
    *, total: int = 16, now: int = 0, offset: bool = True, driver: str = "mlx5_core"
) -> HostFacts:
    ports = [
        f"{netdev} driver={driver} physfn= port=p{n} device=/sys/devices/pci0000:00/{address}"
        for n, (address, (netdev, _)) in enumerate(PFS.items())
    ]
    files = []
    for address, (_, vf_offset) in PFS.items():
        content = {"sriov_totalvfs": total, "sriov_numvfs": now}
        content |= {"sriov_offset": vf_offset, "sriov_stride": 1} if offset else {}
        files += [f"{SYSFS}/{address}/{name}:{value}" for name, value in content.items()]
    lines = ["wirespeed-capture 1 case", "case begin ports -", *ports, "", "case end 0"]
    lines += ["case begin sriov -", *files, "", "case end 0", "case done", ""]
    return HostFacts("alpha", parse_capture("\n".join(lines), "alpha"))


def steps(facts: HostFacts, name: str = "alpha", text: str = SPEC) -> list[str]:
    return [
        f"{wanted.step.model_dump()['step']} {wanted.step.subject}"
        for wanted in legacy_vlan(spec(text), name, facts)
    ]


def test_the_steps_of_the_document_in_its_order():
    assert steps(host()) == [
        "module vfio-pci",
        "mtu enp3s0f0np0",
        "link_up enp3s0f0np0",
        "vf_count 0000:03:00.0",
        "vf_settings VF 0 of enp3s0f0np0",
        "vf_settings VF 1 of enp3s0f0np0",
        "driver_override 0000:03:00.2",
        "driver_override 0000:03:00.3",
        "mtu enp3s0f1np1",
        "link_up enp3s0f1np1",
        "vf_count 0000:03:00.1",
        "vf_settings VF 0 of enp3s0f1np1",
        "vf_settings VF 1 of enp3s0f1np1",
        "driver_override 0000:03:02.2",
        "driver_override 0000:03:02.3",
    ]


def test_each_vf_has_its_guests_vlan_and_mac_on_both_ports():
    found = [w.step.model_dump() for w in legacy_vlan(spec(), "alpha", host())]
    vfs = [(s["netdev"], s["vf"], s["vlan"], s["mac"]) for s in found if s["step"] == "vf_settings"]
    ceph, gpu = guest_mac("ceph-1", "storage"), guest_mac("gpu-1", "public")
    assert vfs == [
        ("enp3s0f0np0", 0, 42, ceph),
        ("enp3s0f0np0", 1, 40, gpu),
        ("enp3s0f1np1", 0, 42, ceph),
        ("enp3s0f1np1", 1, 40, gpu),
    ]
    assert ceph != gpu
    assert int(ceph[:2], 16) & 0b11 == 0b10, "of one station, given out by nobody"


def test_vfs_that_are_not_there_yet_are_made_and_those_that_are_there_are_read():
    made = {w.step.subject: w.is_made for w in legacy_vlan(spec(), "alpha", host())}
    assert made["VF 0 of enp3s0f0np0"]
    assert made["0000:03:00.2"]
    assert not made["0000:03:00.0"]
    assert not any(w.is_made for w in legacy_vlan(spec(), "alpha", host(now=2)))


def test_a_host_without_guests_has_its_ports_made_ready_only():
    assert vf_shares(spec(), "beta") == ()
    assert [s.split()[0] for s in steps(host(), "beta")] == [
        "mtu", "link_up", "mtu", "link_up",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("facts", "what"),
    [
        (host(total=1, driver="igb"), "spec.too_many_vfs"),
        (host(total=0, driver="igb"), "spec.too_many_vfs"),
        (host(now=3), "spec.vfs_in_use"),
    ],
)
def test_what_the_host_cannot_give_is_refused(facts: HostFacts, what: str):
    with pytest.raises(InputError) as caught:
        steps(facts)
    assert caught.value.what == what


def test_as_many_vfs_as_the_card_offers_are_not_too_many():
    assert len(steps(host(total=2))) == 15


def test_a_port_that_is_no_network_card_is_refused_with_those_that_are():
    with pytest.raises(InputError) as caught:
        steps(host(), text=SPEC.replace('alpha, ports: ["0000:03', 'alpha, ports: ["0000:04'))
    assert caught.value.what == "spec.port_unknown"
    assert "0000:03:00.0, 0000:03:00.1" in caught.value.found


def test_nothing_is_planned_where_the_place_of_the_vfs_is_not_known():
    with pytest.raises(CannotTellError, match="sriov_offset"):
        steps(host(offset=False))
