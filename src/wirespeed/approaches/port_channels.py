"""Channels of a port whose driver sets them anew when its VFs come and go. Pure."""

from collections.abc import Iterator

from wirespeed.approaches.host_ports import netdev_of, port_of
from wirespeed.approaches.wanted import Wanted
from wirespeed.facts.cpu import Cpus
from wirespeed.facts.queues import Queues
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import Known
from wirespeed.steps.channels import Channels

RESETTING_DRIVERS = ("igb",)
"""Drivers that give a port as many channels as there are CPUs, up to what it then can, whenever
its number of VFs is changed (igb_init_queue_configuration(), by way of igb_sriov_reinit()). What
was set before is lost, so it is a step of ours, and undo brings it back."""


def port_channels(name: str, host: HostFacts, address: str) -> Iterator[Wanted]:
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
            yield Wanted(Channels(netdev=netdev, combined=wanted))
