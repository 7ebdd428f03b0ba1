"""SR-IOV with VLANs, by the kernel's own driver: a guest owns a VF of each port for each network.

The card tags and strips: guests of two networks cannot hear each other whatever they send. A guest
bonds its two VFs itself, active-backup; both have one MAC, so that no VF needs to be trusted.

On the host, in this order: vfio-pci; each port's MTU (before VFs, which may not have a larger one)
and its link; its VFs; each VF's VLAN and MAC; vfio-pci bound to it.
"""

import hashlib
from collections.abc import Iterator

from wirespeed.approaches.wanted import Wanted
from wirespeed.facts.ports import Ports
from wirespeed.facts.sriov import Sriov, SriovPf
from wirespeed.model.error import InputError
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import CannotTellError, known, value_or_none
from wirespeed.model.spec import NetworkSpec, Spec
from wirespeed.steps.driver_override import DriverOverride
from wirespeed.steps.link_up import LinkUp
from wirespeed.steps.module import Module
from wirespeed.steps.mtu import Mtu
from wirespeed.steps.vf_count import VfCount
from wirespeed.steps.vf_settings import VfSettings

LOCAL_STATION = 0x02
"""First byte of a MAC address that no vendor gives out."""


def legacy_vlan(spec: Spec, name: str, host: HostFacts) -> Iterator[Wanted]:
    """Give the steps of the host `name`.

    Raises InputError `spec.*` where the host has no such port or too few VFs, and
    CannotTellError where that is not known.
    """
    shares = vf_shares(spec, name)
    yield Wanted(Module(name="vfio-pci", reason="hands a VF to a guest, behind the IOMMU"))
    for address in spec.hosts[name].ports:
        netdev = _netdev(host, name, address)
        yield Wanted(Mtu(netdev=netdev, mtu=spec.underlay.mtu))
        yield Wanted(LinkUp(netdev=netdev))
        if not shares:
            continue
        pf = _with_room(host, name, address, len(shares))
        present = known(pf.num_vfs, f"VFs of {address}")
        if present not in (0, len(shares)):
            raise InputError(
                "spec.vfs_in_use",
                where=f"{name} {address}",
                found=f"it has {present} VFs, and {len(shares)} are wanted",
                so="to change the number takes all of them away, with what was set on them",
                next=f"free them first: echo 0 | tee /sys/bus/pci/devices/{address}/sriov_numvfs",
            )
        yield Wanted(VfCount(pci_address=address, num_vfs=len(shares)))
        is_made = present == 0
        for vf, (guest, network) in enumerate(shares):
            yield Wanted(_settings(netdev, vf, guest, network, spec.networks[network]), is_made)
        for vf in range(len(shares)):
            yield Wanted(DriverOverride(pci_address=vf_address(pf, vf)), is_made)


def vf_shares(spec: Spec, name: str) -> tuple[tuple[str, str], ...]:
    """Guest and network of VF 0, 1, … of every port of a host, as the spec lists them."""
    return tuple(
        (guest, network)
        for guest, wanted in spec.guests.items()
        if wanted.host == name
        for network in wanted.networks
    )


def guest_mac(guest: str, network: str) -> str:
    """Give the MAC address of a guest in a network: the same from run to run, and on both ports."""
    digest = hashlib.sha256(f"{guest}/{network}".encode()).digest()
    return ":".join(f"{byte:02x}" for byte in (LOCAL_STATION, *digest[:5]))


def vf_address(pf: SriovPf, vf: int) -> str:
    """Give the PCI address of a VF, by the offset and stride of its PF (SR-IOV 1.1, 2.1.2).

    Raises CannotTellError where these are not known.
    """
    domain, bus, rest = pf.pci_address.split(":")
    device, function = rest.split(".")
    routing = int(bus, 16) << 8 | int(device, 16) << 3 | int(function)
    routing += known(pf.vf_offset, f"sriov_offset of {pf.pci_address}")
    routing += vf * known(pf.vf_stride, f"sriov_stride of {pf.pci_address}")
    return f"{domain}:{routing >> 8:02x}:{routing >> 3 & 0x1F:02x}.{routing & 7}"


def _settings(netdev: str, vf: int, guest: str, network: str, of: NetworkSpec) -> VfSettings:
    return VfSettings(netdev=netdev, vf=vf, mac=guest_mac(guest, network), vlan=of.segment)


def _netdev(host: HostFacts, name: str, address: str) -> str:
    for port in host[Ports].ports:
        if port.pci_address == address:
            if port.netdev is None:
                raise InputError(
                    "spec.port_without_netdev",
                    where=f"{name} {address}",
                    found=f"the driver {port.driver or 'none'} has it, and no netdev",
                    so="the kernel cannot set up its VFs",
                    next="give it back to the driver of its kind",
                )
            return port.netdev
    has = ", ".join(p.pci_address for p in host[Ports].ports if p.pci_address)
    raise InputError(
        "spec.port_unknown",
        where=f"{name} {address}",
        found=f"no network card has that PCI address; there are {has or 'none'}",
        next="name one of these under `ports`",
    )


def _with_room(host: HostFacts, name: str, address: str, wanted: int) -> SriovPf:
    pf = host[Sriov].pfs.get(address)
    if pf is None:
        raise CannotTellError(f"SR-IOV of {address}: not read", f"lspci -vv -s {address}")
    total = value_or_none(pf.total_vfs)
    if total is None or total < wanted:
        raise InputError(
            "spec.too_many_vfs",
            where=f"{name} {address}",
            found=f"{wanted} VFs are wanted, and the card offers {total or 'none'} "
            f"(cat /sys/bus/pci/devices/{address}/sriov_totalvfs)",
            so="not every guest would have its VF",
            next=f"wirespeed doctor {name} --for guests says what holds SR-IOV back",
        )
    return pf
