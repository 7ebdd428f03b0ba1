"""The ports that a spec names, as their host knows them. Pure."""

from wirespeed.facts.ports import Ports
from wirespeed.model.error import InputError
from wirespeed.model.fact import HostFacts
from wirespeed.model.port import Port


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
