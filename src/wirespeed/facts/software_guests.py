"""Guests that reach the network by a virtual switch of this host, by the ports that they have."""

from collections.abc import Iterator

from wirespeed.facts.netstack import NetStack
from wirespeed.facts.ovs import Ovs
from wirespeed.model.fact import HostFacts
from wirespeed.model.finding import Evidence
from wirespeed.model.observed import Known

TAP = "tun"
"""What the kernel calls a tap; only one that is a port of a bridge is a guest's."""
MOST_SHOWN = 3
TAPS_SOURCE = "ip -d link show"
VHOST_SOURCE = "ovs-vsctl --columns=name,type list Interface"


def taps_of_guests(host: HostFacts) -> tuple[str, ...]:
    """Give the taps that are ports of a bridge or of Open vSwitch."""
    links = host[NetStack].links
    if not isinstance(links, Known):
        return ()
    return tuple(
        name
        for name, link in links.value.items()
        if isinstance(link.kind, Known) and link.kind.value == TAP
        if isinstance(link.master, Known)
    )


def vhost_user_ports(host: HostFacts) -> tuple[str, ...]:
    """Give the ports of a userspace bridge of Open vSwitch that guests share memory with."""
    every = host[Ovs].interfaces.values()
    return tuple(one.name for one in every if one.is_vhost_user)


def guests_on_a_switch(host: HostFacts) -> tuple[Evidence, ...]:
    """Say by which ports of a virtual switch guests are connected now; empty: none is seen."""
    return tuple(_said(host))


def _said(host: HostFacts) -> Iterator[Evidence]:
    for names, source in (
        (taps_of_guests(host), TAPS_SOURCE),
        (vhost_user_ports(host), VHOST_SOURCE),
    ):
        if names:
            more = f" and {len(names) - MOST_SHOWN} more" if len(names) > MOST_SHOWN else ""
            shown = ", ".join(names[:MOST_SHOWN]) + more
            yield Evidence(
                found=f"guests are connected to a virtual switch: {shown}", source=source
            )
