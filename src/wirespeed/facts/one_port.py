"""Functions of PCI that are one physical port: a card in two slots, or cut into partitions."""

import re

from wirespeed.facts.netstack import Link, NetStack
from wirespeed.facts.ports import Ports
from wirespeed.facts.rdma import Rdma
from wirespeed.facts.virtualization import Virtualization
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import CannotTellError, Known, Observed
from wirespeed.model.port import Port, PortKind

UPLINK = re.compile(r"p\d{1,2}(s\d{1,2})?")


def one_port(host: HostFacts, port: Port) -> tuple[Port, ...]:
    """Give all functions that are the same physical port, in the host's order; one is itself alone.

    The kernel says it by `phys_port_id`; or by the same `phys_port_name` on one card, which is
    known by `phys_switch_id` or by the system image GUID of its RDMA devices. What the host does
    not tell makes no two functions one: Documentation/ABI/testing/sysfs-class-net. Names do not in
    a guest: before Linux 5.16 mlx5 counts ports by the number of the PCI function, and there both
    ports of a card are often function 0, and so `p0` (mlx5_get_dev_index).
    """
    observed = host[NetStack].links
    links = observed.value if isinstance(observed, Known) else {}
    own = links.get(port.netdev or "")
    if own is None or port.kind is not PortKind.PHYSICAL:
        return (port,)
    return tuple(
        other
        for other in host[Ports].ports
        if other == port
        or (
            other.kind is PortKind.PHYSICAL
            and other.pci_address != port.pci_address
            and (link := links.get(other.netdev or "")) is not None
            and _is_same(host, (port, own), (other, link))
        )
    )


def _is_same(host: HostFacts, one: tuple[Port, Link], other: tuple[Port, Link]) -> bool:
    (port, link), (other_port, other_link) = one, other
    ids = [_word(each.phys_port_id) for each in (link, other_link)]
    if None not in ids:
        return ids[0] == ids[1]
    is_guest = host[Virtualization].is_guest
    if isinstance(is_guest, Known) and is_guest.value:
        return False
    names = [_word(each.phys_port_name) for each in (link, other_link)]
    if names[0] is None or names[0] != names[1] or not UPLINK.fullmatch(names[0]):
        return False
    switches = [_word(each.switch_id) for each in (link, other_link)]
    if None not in switches:
        return switches[0] == switches[1]
    cards = [_system_image(host, each) for each in (port, other_port)]
    return cards[0] is not None and cards[0] == cards[1]


def _word(observed: Observed[str]) -> str | None:
    return observed.value if isinstance(observed, Known) else None


def _system_image(host: HostFacts, port: Port) -> str | None:
    try:
        devices = host[Rdma].of(port)
    except CannotTellError:
        return None
    images = {d.system_image.value.strip() for d in devices if isinstance(d.system_image, Known)}
    return images.pop() if len(images) == 1 else None
