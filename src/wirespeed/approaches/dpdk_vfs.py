"""VFs that a program of the approach dpdk drives; each port stays with its kernel. Pure.

The PF is up and gives VF 0 an address, for a VF receives frames to its own address alone;
then vfio-pci has the VF. Undo takes it away.
"""

import hashlib
from collections.abc import Iterator

from wirespeed.approaches.guest_network import LOCAL_STATION
from wirespeed.approaches.host_ports import mtu_steps, netdev_of, port_of
from wirespeed.approaches.traits import RequestedStep
from wirespeed.approaches.unmanaged import unmanaged
from wirespeed.approaches.vf_ports import (
    FIRMWARE_DRIVERS,
    never_probed,
    refuse_switchdev,
    vf_address,
)
from wirespeed.ceilings.ethernet import FRAME_OF_PAYLOAD_BYTES
from wirespeed.facts.sriov import Sriov, SriovPf
from wirespeed.model.error import InputError
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import CannotTellError, known, value_or_none
from wirespeed.model.spec.members import Dpdk
from wirespeed.steps.dpdk_port import ETHERNET
from wirespeed.steps.driver_override import DriverOverride
from wirespeed.steps.link_up import LinkUp
from wirespeed.steps.vf_count import VfCount
from wirespeed.steps.vf_settings import VfSettings


def vf_steps(spec: Dpdk, name: str, host: HostFacts, address: str) -> Iterator[RequestedStep]:
    """Give what makes the VF of one port, with its address.

    Raises InputError `spec.vf_driver`, `spec.too_many_vfs`, `spec.vfs_in_use`,
    `spec.switchdev_mode`, CannotTellError.
    """
    pf, netdev = _pf_with_room(name, host, address), netdev_of(host, name, address)
    refuse_switchdev(name, host, address, "use_vfs: false")
    if (mtu := longest_payload(spec)) > ETHERNET:
        yield from mtu_steps(host, netdev, mtu)
    yield RequestedStep(LinkUp(netdev=netdev))
    yield from map(RequestedStep, unmanaged(host, address, [vf_address(pf, 0)]))
    yield from map(RequestedStep, never_probed(host, address))
    yield RequestedStep(VfCount(pci_address=address, num_vfs=1))
    settings = VfSettings(netdev=netdev, vf=0, mac=vf_mac(name, address))
    yield RequestedStep(settings, is_made=_is_made(pf))


def vf_binding(host: HostFacts, address: str) -> RequestedStep:
    """Give what hands the VF of a port to DPDK. Raises CannotTellError."""
    pf = _pf(host, address)
    return RequestedStep(DriverOverride(pci_address=vf_address(pf, 0)), is_made=_is_made(pf))


def longest_payload(spec: Dpdk) -> int:
    """Give the MTU that the longest frame of the measurement needs; 0 where it measures none."""
    asked = spec.measure.rfc2544
    return max(asked.frame_bytes, default=0) - FRAME_OF_PAYLOAD_BYTES if asked is not None else 0


def device_of(spec: Dpdk, name: str, host: HostFacts, address: str) -> str:
    """Give the PCI address of what the program drives: the port, or its VF."""
    return vf_address(_pf(host, address), 0) if spec.hosts[name].use_vfs else address


def vf_mac(name: str, address: str) -> str:
    """Give the MAC address of the VF of a host's port: the same from run to run."""
    digest = hashlib.sha256(f"{name}/{address}".encode()).digest()
    return ":".join(f"{byte:02x}" for byte in (LOCAL_STATION, *digest[:5]))


def _is_made(pf: SriovPf) -> bool:
    return value_or_none(pf.num_vfs) == 0


def _pf(host: HostFacts, address: str) -> SriovPf:
    pf = host[Sriov].pfs.get(address)
    if pf is None:
        raise CannotTellError(f"SR-IOV of {address}: not read", f"lspci -vv -s {address}")
    return pf


def _pf_with_room(name: str, host: HostFacts, address: str) -> SriovPf:
    driver = port_of(host, name, address).driver
    if driver in FIRMWARE_DRIVERS:
        raise InputError(
            "spec.vf_driver",
            where=f"{name} {address}",
            found=f"its driver is {driver}, whose VFs DPDK drives beside the kernel's driver",
            so="vfio-pci would take the VF from DPDK's driver",
            next="name a guest that owns its VFs as the host, with `driver: kernel`, and leave "
            "`use_vfs` out",
        )
    pf = _pf(host, address)
    total = value_or_none(pf.total_vfs)
    if not total:
        raise InputError(
            "spec.too_many_vfs",
            where=f"{name} {address}",
            found="use_vfs needs 1 VF, and the card offers none (cat "
            f"/sys/bus/pci/devices/{address}/sriov_totalvfs)",
            so="the program would have no port",
            next=f"run `wirespeed doctor {name} --for guests` to find what limits SR-IOV",
        )
    present = known(pf.num_vfs, f"VFs of {address}")
    if present > 1:
        raise InputError(
            "spec.vfs_in_use",
            where=f"{name} {address}",
            found=f"it has {present} VFs, and 1 is wanted",
            so="to change the number takes all of them away, with what was set on them",
            next=f"free them first: echo 0 | tee /sys/bus/pci/devices/{address}/sriov_numvfs",
        )
    return pf
