"""The link that a rule about links is asked of."""

from wirespeed.facts.link import Link, Links
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import known
from wirespeed.model.port import Port, PortKind
from wirespeed.model.rule import DoesNotApplyError


def link_of(host: HostFacts, port: Port) -> Link:
    """Give the link of a port. Raises DoesNotApplyError where none can be looked at."""
    if port.netdev is None:
        raise DoesNotApplyError(f"it has no netdev: the driver is {port.driver or 'none'}")
    if port.kind in (PortKind.VIRTIO, PortKind.HYPERV):
        raise DoesNotApplyError("a virtual card has no link of its own")
    return host[Links].by_netdev[port.netdev]


def link_that_is_up(host: HostFacts, port: Port) -> Link:
    """Give the link of a port. Raises DoesNotApplyError likewise, and where it is down."""
    link = link_of(host, port)
    if not known(link.is_up, f"whether {port.name} has a carrier"):
        raise DoesNotApplyError("the link is down")
    return link
