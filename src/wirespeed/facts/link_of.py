"""The link that a rule about links is asked of."""

from collections.abc import Iterable

from wirespeed.facts.link import Link, Links
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import Known, known
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


def best_bps(host: HostFacts, ports: Iterable[Port]) -> Known[int] | None:
    """Give the speed of the fastest of these links; where none has a link, what they support.

    None: neither is known.
    """
    links = [link for p in ports if (link := host[Links].by_netdev.get(p.netdev or ""))]
    rates_bps = [bps for link in links if isinstance(bps := link.link_bps, Known)]
    modes = [m for link in links if isinstance(m := link.supported_bps, Known) and m.value]
    rates_bps = rates_bps or [Known(m.value[-1], m.source) for m in modes]
    return max(rates_bps, key=lambda bps: bps.value, default=None)
