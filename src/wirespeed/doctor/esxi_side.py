"""An ESXi host in an answer: whether it is one, and the ceilings of its uplinks."""

from collections.abc import Iterator

from wirespeed.ceilings.ethernet import ethernet_ceiling
from wirespeed.facts.esxi_ports import SOURCE, EsxiPorts
from wirespeed.facts.vsphere import is_esxi
from wirespeed.model.ceiling import Direction, Ledger
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import Known
from wirespeed.model.question import Question

MEGA = 1_000_000


def esxi_ledgers(host: HostFacts, question: Question) -> Iterator[Ledger]:
    """Give what the wire of each uplink that is up carries; its slot is not read on ESXi."""
    ports = host[EsxiPorts].ports if is_esxi(host.capture) else None
    if not isinstance(ports, Known):
        return
    for port in ports.value.values():
        if isinstance(port.link_mb, Known) and port.link_mb.value > 0:
            yield Ledger(
                port=port.name,
                frame_bytes=question.frame_bytes,
                ceilings=tuple(
                    ethernet_ceiling(
                        port.link_mb.value * MEGA, question.frame_bytes, direction, SOURCE
                    )
                    for direction in Direction
                ),
                unknown=("pcie: not read on ESXi",),
                bidirectional=question.bidirectional,
            )
