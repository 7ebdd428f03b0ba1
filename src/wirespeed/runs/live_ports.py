"""Ports of `--port` that the kernel has as well: never the way to this host, and put back after."""

from collections.abc import Sequence
from contextlib import ExitStack

from wirespeed.apply.guard import carriers
from wirespeed.facts.ports import PCI_ADDRESS, Ports
from wirespeed.host.kept_links import KeptLinks
from wirespeed.model.error import InputError
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import CannotTellError

NETDEV = "iface="
"""Of a vdev that opens a netdev: net_af_packet, net_af_xdp."""


def netdevs_of(ports: Sequence[str], facts: HostFacts) -> tuple[str, ...]:
    """Give the netdevs that the kernel has of them, which a tester on them changes."""
    named = {port.partition(",")[0] for port in ports}
    cards = [p.netdev for p in facts[Ports].ports if p.pci_address in named and p.netdev]
    words = [word for port in ports if port.startswith("net_af_") for word in port.split(",")]
    return (*cards, *(word.removeprefix(NETDEV) for word in words if word.startswith(NETDEV)))


def may_be_live(ports: Sequence[str]) -> bool:
    """Tell whether one of them could be the kernel's as well: only then facts are asked for."""
    return any(PCI_ADDRESS.match(port) or port.startswith("net_af_") for port in ports)


def refuse_carriers(netdevs: Sequence[str], facts: HostFacts) -> None:
    """Raise InputError `port.cuts_off` for what carries the session or the default route.

    Raises `port.cutoff_unknown` if that cannot be determined.
    """
    if not netdevs:
        return
    try:
        found = carriers(facts)
    except CannotTellError as error:
        raise InputError(
            "port.cutoff_unknown",
            where=", ".join(netdevs),
            found=f"the port that carries your session could not be determined: {error.reason}",
            so="DPDK takes the port's frames, and you may lose the host; nothing was started",
            next=f"run `{error.would_tell}` on the host to find it",
        ) from None
    for netdev in netdevs:
        if netdev in found:
            raise InputError(
                "port.cuts_off",
                where=netdev,
                found=f"it carries {found[netdev]}",
                so="DPDK takes its frames, and you may lose the host; nothing was started",
                next="measure with another port, or connect to the host through another one",
            )


def keep_links(stack: ExitStack, netdevs: Sequence[str]) -> None:
    """Restore MTU and promiscuous mode when `stack` is closed, or wirespeed is killed."""
    if netdevs:
        stack.enter_context(KeptLinks(netdevs))
