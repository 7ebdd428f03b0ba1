"""The ports of a host that its guests share: VFs, what stands in the way, what they reset."""

from collections.abc import Iterator

from wirespeed.approaches.guest_index import guest_index
from wirespeed.approaches.host_ports import netdev_of, port_of
from wirespeed.approaches.support import require_host_managed
from wirespeed.approaches.traits import RequestedStep
from wirespeed.approaches.unmanaged import running_managers, unmanaged
from wirespeed.facts.cpu import Cpus
from wirespeed.facts.eswitch import Eswitch
from wirespeed.facts.firmware import Firmware
from wirespeed.facts.iommu import Iommu
from wirespeed.facts.kernel import Kernel
from wirespeed.facts.netstack import NetStack
from wirespeed.facts.queues import Queues
from wirespeed.facts.sriov import Sriov, SriovPf
from wirespeed.model.error import InputError
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import (
    Absent,
    CannotTellError,
    Known,
    known,
    read_as,
    value_or_none,
)
from wirespeed.model.spec.guests import GuestKind
from wirespeed.model.spec.spec import Spec
from wirespeed.steps.channels import Channels
from wirespeed.steps.file_content import FileContent
from wirespeed.steps.firmware_settings import FirmwareSettings
from wirespeed.steps.kernel_switch import KernelSwitch
from wirespeed.steps.netdev_name import NO_PARENT

FIRMWARE_DRIVERS = ("mlx5_core",)
"""Of cards that offer as many VFs as their firmware was told at the last boot."""
OVERRIDE_WINS = (5, 3)
"""Linux from which a VF whose PF has sriov_drivers_autoprobe 0 is bound by its driver_override."""
NUMBER_OF_VFS = "NUM_OF_VFS"
RESETTING_DRIVERS = ("igb",)
"""Drivers that give a port as many channels as there are CPUs, up to what it then can, whenever
its number of VFs is changed (igb_init_queue_configuration(), by way of igb_sriov_reinit()). What
was set before is lost, so it is a step of ours, and undo brings it back."""


def vf_shares(spec: Spec, name: str) -> tuple[tuple[str, str], ...]:
    """Guest and network of VF 0, 1, … of every port of a host, as the spec lists them."""
    return tuple(
        (guest, network)
        for guest in guest_index(spec).by_host.get(name, ())
        for network in spec.guests[guest].networks
    )


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


def firmware_steps(spec: Spec, name: str, host: HostFacts) -> Iterator[FirmwareSettings]:
    """Give what makes the cards of a host offer enough VFs, after its next boot; mostly nothing.

    A card that is told a larger number keeps it: others may count on it. Raises CannotTellError
    where the number that it has is not known, InputError `spec.card_managed`.
    """
    require_host_managed(spec, name, host)
    wanted = len(vf_shares(spec, name)) + spec.hosts[name].spare_vfs
    asked: set[str] = set()
    for address in spec.hosts[name].ports:
        driver = port_of(host, name, address).driver
        total = value_or_none(_pf(host, address).total_vfs)
        card = address.rpartition(".")[0]
        if driver not in FIRMWARE_DRIVERS or (total or 0) >= wanted or card in asked:
            continue
        asked.add(card)
        tool = (
            host[Firmware].cards[address].settings_tool if address in host[Firmware].cards else ""
        )
        yield FirmwareSettings(
            pci_address=address,
            tool="mlxconfig" if tool == "mlxconfig" else "mstconfig",
            settings={"SRIOV_EN": 1, "NUM_OF_VFS": max(wanted, _told_vfs(host, address))},
        )


def _told_vfs(host: HostFacts, address: str) -> int:
    """Give how many VFs the card's firmware is told to offer from the next boot on, with SR-IOV."""
    settings = known(host[Firmware].of(address).settings, f"settings of {address}")
    told = settings.get(NUMBER_OF_VFS)
    tool = host[Firmware].of(address).settings_tool
    if told is None:
        raise CannotTellError(f"{address} has no {NUMBER_OF_VFS}", f"{tool} -d {address} -e q")
    return known(read_as(told.next_boot, int), f"{NUMBER_OF_VFS} of {address}")


def unprobed(spec: Spec, name: str, host: HostFacts, address: str) -> Iterator[KernelSwitch]:
    """Give what keeps the host's own driver off VFs that are all for guests; else nothing."""
    kinds = {spec.guests[guest].kind for guest, _ in vf_shares(spec, name)}
    if kinds and GuestKind.NAMESPACE not in kinds:
        yield from never_probed(host, address)


def never_probed(host: HostFacts, address: str) -> Iterator[KernelSwitch]:
    """Give what keeps the host's driver off the VFs of a port as they are made, whatever driver.

    It takes each VF at once, else: a netdev comes and goes, which other programs set up, and
    each VF costs its driver's start and end. A driver of VFs also resets its VF when the port gives
    it an address or a VLAN, and i40e and ice refuse the next setting until that is over.

    Nothing on a kernel that has no such switch (before 4.12), nor on one that would not bind
    vfio-pci either while it is off (before 5.3: pci_device_can_probe()).
    """
    pf = host[Sriov].pfs.get(address)
    if pf is None or isinstance(pf.drivers_autoprobe, Absent) or _is_older(host):
        return
    yield KernelSwitch(
        paths=(f"/sys/bus/pci/devices/{address}/sriov_drivers_autoprobe",),
        value="0",
        reason="The host's driver does not take VFs that are not for it, as they are made.",
    )


def _is_older(host: HostFacts) -> bool:
    """Give whether vfio-pci would not be bound without the switch; a release not known is new."""
    try:
        release = value_or_none(host[Kernel].version())
    except CannotTellError:
        return False
    return release is not None and release < OVERRIDE_WINS


def unmanaged_vfs(spec: Spec, name: str, host: HostFacts, pf: SriovPf) -> Iterator[FileContent]:
    """Give what keeps the host's network programs off the VFs of a port; mostly nothing.

    Raises CannotTellError where such a program runs, and where the VFs will be is not known.
    """
    if running_managers(host):
        vfs = [vf_address(pf, vf) for vf in range(len(vf_shares(spec, name)))]
        yield from unmanaged(host, pf.pci_address, vfs)


def pf_with_room(spec: Spec, name: str, host: HostFacts, address: str) -> SriovPf:
    """Give a port that offers VFs enough, and that has none or as many as are wanted.

    Raises InputError `spec.too_many_vfs`, `spec.vfs_in_use`, `spec.vfs_not_probed`,
    `spec.vfs_not_found`, `spec.no_iommu`.
    """
    shares = vf_shares(spec, name)
    pf = _pf(host, address)
    total = value_or_none(pf.total_vfs)
    if total is None or total < len(shares):
        raise InputError(
            "spec.too_many_vfs",
            where=f"{name} {address}",
            found=f"the spec needs {len(shares)} VFs, and the card offers {total or 'none'} (cat "
            f"/sys/bus/pci/devices/{address}/sriov_totalvfs)",
            so="not every guest would get its VF",
            next=f"run `wirespeed doctor {name} --for guests` to find what limits SR-IOV",
        )
    present = known(pf.num_vfs, f"VFs of {address}")
    if present not in (0, len(shares)):
        raise _in_use(
            name, address,
            f"it has {present} VFs, and {len(shares)} are wanted",
            "to change the number takes all of them away, with what was set on them",
        )  # fmt: skip
    if any(spec.guests[guest].kind is GuestKind.NAMESPACE for guest, _ in shares):
        _refuse_unprobed(name, pf)
        _refuse_unfound(name, host, address)
    if any(spec.guests[guest].kind is not GuestKind.NAMESPACE for guest, _ in shares):
        _refuse_without_iommu(name, host)
    for vf in pf.vfs:
        guest = shares[vf.index][0]
        if spec.guests[guest].kind is not GuestKind.NAMESPACE:
            continue
        has = vf.netdev if isinstance(vf.netdev, Known) else None
        driver = vf.driver.value if isinstance(vf.driver, Known) else ""
        if has is not None or driver == "vfio-pci":
            raise _in_use(
                name, address,
                f"its VF {vf.index} is there already, as {has.value if has else 'vfio-pci has it'}",
                f"its user is not known, and for {guest} it would be made again",
            )  # fmt: skip
    return pf


def _pf(host: HostFacts, address: str) -> SriovPf:
    pf = host[Sriov].pfs.get(address)
    if pf is None:
        raise CannotTellError(f"SR-IOV of {address}: not read", f"lspci -vv -s {address}")
    return pf


def _in_use(name: str, address: str, found: str, so: str) -> InputError:
    return InputError(
        "spec.vfs_in_use",
        where=f"{name} {address}",
        found=found,
        so=so,
        next=f"free them first: echo 0 | tee /sys/bus/pci/devices/{address}/sriov_numvfs",
    )


def _refuse_unprobed(name: str, pf: SriovPf) -> None:
    if value_or_none(pf.drivers_autoprobe) is False:
        path = f"/sys/bus/pci/devices/{pf.pci_address}/sriov_drivers_autoprobe"
        raise InputError(
            "spec.vfs_not_probed",
            where=f"{name} {pf.pci_address}",
            found=f"the host binds no driver to its VFs ({path} is 0)",
            so="the VFs have no netdev to move into a namespace",
            next=f"echo 1 | tee {path}",
        )


def _refuse_without_iommu(name: str, host: HostFacts) -> None:
    """Refuse a host on which no VF can be a virtual machine's: vfio-pci wants a group for each.

    The kernel says nothing when its probe fails: the VF stays without a driver.
    """
    try:
        groups = host[Iommu].groups
    except CannotTellError:
        return
    if isinstance(groups, Known) and not groups.value:
        raise InputError(
            "spec.no_iommu",
            where=name,
            found="no IOMMU is in use (ls /sys/kernel/iommu_groups)",
            so="vfio-pci accepts no VF, and no virtual machine can have one",
            next=f"run `wirespeed doctor {name} --for guests` to see how it is enabled, or use "
            "`kind: namespace`",
        )


def _refuse_unfound(name: str, host: HostFacts, address: str) -> None:
    """Refuse a host whose own port is not said to be of its PCI function: nor would a VF be."""
    try:
        links = value_or_none(host[NetStack].links) or {}
    except CannotTellError:
        return
    link = links.get(netdev_of(host, name, address))
    if link is not None and isinstance(link.pci_address, Absent):
        raise InputError(
            "spec.vfs_not_found",
            where=f"{name} {address}",
            found=f"{NO_PARENT} ({link.pci_address.source})",
            so="the netdev of a VF could not be found by its address, and moved into a namespace",
            next="update the kernel and iproute2 of this host, or use `kind: libvirt` or `none`",
        )


def refuse_switchdev(name: str, host: HostFacts, address: str, instead: str) -> None:
    """Refuse a card whose VFs a switch of the host serves; `instead` is what such a card is for.

    It takes no VLAN of a VF then (mlx5_eswitch_set_vport_vlan: EOPNOTSUPP, but 0 without effect),
    or no address (ice_set_vf_mac), and a VF reaches nothing but its representor.
    """
    try:
        pf = host[Eswitch].pfs.get(address)
    except CannotTellError:
        return
    if pf is None or not isinstance(pf.mode, Known) or pf.mode.value != "switchdev":
        return
    raise InputError(
        "spec.switchdev_mode",
        where=f"{name} {address}",
        found=f"its eswitch is in switchdev mode ({pf.mode.source})",
        so="the card would set no address or VLAN of a VF, and a VF would reach only its "
        "representor",
        next="with no VF in use, set it back: devlink dev eswitch set "
        f"pci/{address} mode legacy; or use `{instead}`",
    )


def port_channels(name: str, host: HostFacts, address: str) -> Iterator[RequestedStep]:
    """Give the step to a channel for every CPU, where such a port has fewer; before its VFs.

    Where the numbers cannot be read there is none: nothing is planned on a guess.
    """
    if port_of(host, name, address).driver not in RESETTING_DRIVERS:
        return
    netdev = netdev_of(host, name, address)
    queues, cpus = host[Queues].of(netdev), host[Cpus].online
    now, most = queues.combined_channels, queues.combined_channels_max
    if isinstance(now, Known) and isinstance(most, Known) and isinstance(cpus, Known):
        wanted = min(most.value, len(cpus.value))
        if now.value < wanted:
            yield RequestedStep(Channels(netdev=netdev, combined=wanted))
