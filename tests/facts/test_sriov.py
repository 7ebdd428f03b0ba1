"""VFs among the lines of `list_ports`, and sysfs attributes of their PFs."""

import pytest

from wirespeed.facts.ports import Ports
from wirespeed.facts.sriov import Sriov
from wirespeed.model.capture import Capture, Section
from wirespeed.model.observed import Absent, Known, Unreadable

PF = "0000:03:00.0"
UP = "/sys/devices/pci0000:00/0000:00:01.1"
BASE = f"/sys/bus/pci/devices/{PF}"


def parse(lines: list[str], sysfs: str = "", errors: str = "") -> Sriov:
    sections = [
        Section("ports", "", "\n".join(lines), "", 0),
        Section("sriov", "", sysfs, errors, 123 if errors else 0),
    ]
    return Sriov.parse(Capture(sections, complete=True))


def pf(netdev: str = "ens1") -> str:
    return f"{netdev} driver=mlx5_core physfn= port=p0 device={UP}/{PF}"


def vf(address: str, netdev: str = "-", driver: str = "vfio-pci") -> str:
    return f"{netdev} driver={driver} physfn={PF} port= device={UP}/{address}"


def test_vfs_are_numbered_by_their_address():
    lines = [pf(), vf("0000:03:01.0"), vf("0000:03:00.2"), vf("0000:03:00.7")]
    assert [v.pci_address for v in parse(lines).pfs[PF].vfs] == [
        "0000:03:00.2", "0000:03:00.7", "0000:03:01.0",
    ]  # fmt: skip
    assert [v.index for v in parse(lines).pfs[PF].vfs] == [0, 1, 2]


def test_a_vf_that_the_host_uses_tells_its_netdev_and_one_without_a_driver_none():
    lines = [
        pf(), vf("0000:03:00.2", "ens1v0", "mlx5_core"), vf("0000:03:00.2", "-", "mlx5_core"),
        vf("0000:03:00.3", "-", ""),
    ]  # fmt: skip
    used, unbound = parse(lines).pfs[PF].vfs
    assert isinstance(used.netdev, Known) and used.netdev.value == "ens1v0"
    assert isinstance(unbound.driver, Absent) and isinstance(unbound.netdev, Absent)


def test_thousands_of_vfs_are_read():
    lines = [pf(), *(vf(f"0000:{4 + i // 256:02x}:{i // 8 % 32:02x}.{i % 8}") for i in range(2048))]
    sriov = parse(lines)
    assert len(sriov.pfs[PF].vfs) == 2048
    assert list(sriov.pfs) == [PF]


def test_a_representor_is_no_function_of_its_own():
    rep = f"eth7 driver=mlx5_core physfn= port=pf0vf0 device={UP}/{PF}"
    assert list(parse([pf(), rep]).pfs) == [PF]
    section = Section("ports", "", "\n".join([pf(), rep]), "", 0)
    assert len(Ports.parse(Capture([section], complete=True)).ports) == 1


def test_a_pci_domain_other_than_0_is_read():
    address = "10001:81:00.1"
    line = f"ens9 driver=mlx5_core physfn= port= device=/sys/devices/pci10001:80/{address}"
    assert list(parse([line]).pfs) == [address]


def test_0_vfs_offered_is_told_from_no_capability_and_from_denied():
    zero = parse([pf()], f"{BASE}/sriov_totalvfs:0").pfs[PF].total_vfs
    assert isinstance(zero, Known) and zero.value == 0
    why = f"grep: {BASE}/sriov_totalvfs: "
    none = parse([pf()], f"{BASE}/vendor:0x15b3", why + "No such file or directory")
    assert isinstance(none.pfs[PF].total_vfs, Absent)
    denied = parse([pf()], f"{BASE}/vendor:0x15b3", why + "Permission denied")
    assert isinstance(denied.pfs[PF].total_vfs, Unreadable)


@pytest.mark.parametrize(("device", "is_vf"), [("0x1019", False), ("0x101a", True)])
def test_a_vf_that_another_host_lent_is_told_by_its_device_number(device: str, is_vf: bool):
    found = parse([pf()], f"{BASE}/vendor:0x15b3\n{BASE}/device:{device}").pfs[PF]
    assert (found.is_mellanox, found.is_lent_vf) == (True, is_vf)


def test_attributes_that_are_no_numbers_are_unreadable():
    text = f"{BASE}/sriov_numvfs:many\n{BASE}/vendor:zz\n{BASE}/sriov_drivers_autoprobe:?"
    found = parse([pf()], text).pfs[PF]
    assert isinstance(found.num_vfs, Unreadable) and isinstance(found.vendor, Unreadable)
    assert isinstance(found.drivers_autoprobe, Unreadable)
    assert not found.is_mellanox
