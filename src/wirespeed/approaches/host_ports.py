"""The ports that a spec names, as their host knows them. Pure."""

from collections.abc import Iterator

from wirespeed.approaches.traits import RequestedStep
from wirespeed.facts.iommu import NO_IOMMU, VFIO_OPTION, Iommu
from wirespeed.facts.kernel import CommandLine, Kernel, is_yes, parse_command_line
from wirespeed.facts.netstack import NetStack
from wirespeed.facts.ports import Ports
from wirespeed.model.error import InputError
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import Absent, CannotTellError, Known, known, value_or_none
from wirespeed.model.port import Port
from wirespeed.steps.mtu import Mtu

BESIDE_KERNEL = ("mlx5_core", "mlx4_core", "mana")
"""Kernel drivers that DPDK's own works beside, by verbs, and not without (DPDK's guides of mlx5,
mlx4 and mana)."""
LOWERED = ("vlan", "macvlan", "macvtap")
"""Netdevs whose MTU the kernel lowers with that of the netdev that they lie on, and does not raise
with it (vlan_device_event, net/8021q/vlan.c; macvlan_device_event, drivers/net/macvlan.c)."""


def port_of(host: HostFacts, name: str, address: str) -> Port:
    """Find a port by its PCI address. Raises InputError `spec.port_unknown`."""
    for port in host[Ports].ports:
        if port.pci_address == address:
            return port
    has = ", ".join(p.pci_address for p in host[Ports].ports if p.pci_address)
    raise InputError(
        "spec.port_unknown",
        where=f"{name} {address}",
        found=f"no network card has that PCI address; there are {has or 'none'}",
        next="name one of these under `ports`",
    )


def netdev_of(host: HostFacts, name: str, address: str) -> str:
    """Give the netdev of a port. Raises InputError `spec.port_unknown`, `port_without_netdev`."""
    port = port_of(host, name, address)
    if port.netdev is None:
        raise InputError(
            "spec.port_without_netdev",
            where=f"{name} {address}",
            found=f"its driver is {port.driver or 'none'}, and it has no netdev",
            so="the kernel cannot configure it",
            next="bind it to its kernel driver again",
        )
    return port.netdev


def whole_port_of(host: HostFacts, name: str, address: str) -> Port:
    """Find a port that vfio-pci may have.

    Raises InputError `spec.port_driver`, and as `port_of`.
    """
    port = port_of(host, name, address)
    if port.driver in BESIDE_KERNEL:
        raise InputError(
            "spec.port_driver",
            where=f"{name} {address}",
            found=f"its driver is {port.driver}, and the spec's is vfio-pci",
            so="DPDK drives this card beside its kernel driver only: bound to vfio-pci, the "
            "program would have no port",
            next="set `driver: kernel` in the spec; with --dut-on, --dut-driver kernel",
        )
    return port


def require_iommu(name: str, host: HostFacts, *, parameters: tuple[str, ...] = ()) -> None:
    """Raise InputError `spec.no_iommu` where vfio-pci would accept no device.

    Its probe fails with EINVAL for a device that is in no group (vfio_group_find_or_alloc,
    drivers/vfio/group.c), unless vfio goes without. `parameters` are those that the plan boots the
    host with: one that enables either, and that the running kernel does not have, is waited for.
    """
    try:
        iommu = host[Iommu]
    except CannotTellError:
        return
    if not (isinstance(iommu.groups, Known) and iommu.groups.value == 0):
        return
    if value_or_none(iommu.vfio_goes_without):
        return
    line = host[Kernel].command_line
    running = line.value if isinstance(line, Known) else CommandLine(())
    is_loaded = not isinstance(iommu.vfio_goes_without, Absent)
    if is_yes(running.last(VFIO_OPTION) or "") and not is_loaded:
        return
    planned = parse_command_line(" ".join(parameters))
    for one in ("intel_iommu", VFIO_OPTION):
        wanted = planned.last(one)
        if is_yes(wanted or "") and wanted != running.last(one):
            return
    raise InputError(
        "spec.no_iommu",
        where=name,
        found=f"no IOMMU is in use (ls /sys/kernel/iommu_groups), and {NO_IOMMU} is not Y",
        so="vfio-pci accepts no device, and DPDK would have no port",
        next=f"run `wirespeed doctor {name} --for guests` to see how the IOMMU is enabled. On a "
        "virtual machine without one: modprobe vfio enable_unsafe_noiommu_mode=1 (if vfio is "
        f"loaded: echo Y | tee {NO_IOMMU}); the card can then write to all memory",
    )


def mtu_steps(
    host: HostFacts, netdev: str, mtu: int, *, is_made: bool = False
) -> Iterator[RequestedStep]:
    """Give the MTU of a netdev, and before it that of the netdevs on it which it would lower.

    Undo raises them after the lower one, which the kernel would not. Raises CannotTellError.
    """
    stack = host[NetStack]
    for link in stack.directly_above(netdev):
        if value_or_none(link.kind) in LOWERED:
            above = known(link.mtu, f"MTU of {link.netdev}")
            if above > mtu:
                yield from mtu_steps(host, link.netdev, mtu)
    yield RequestedStep(Mtu(netdev=netdev, mtu=mtu), is_made)
