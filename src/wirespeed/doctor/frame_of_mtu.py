"""Full frames of the MTU that the ports have, where nobody said how long frames are. Pure."""

from collections.abc import Sequence

from wirespeed.ceilings.ethernet import FRAME_OF_PAYLOAD_BYTES
from wirespeed.facts.link import Links
from wirespeed.facts.netstack import NetStack
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import Known
from wirespeed.model.port import Port
from wirespeed.model.question import Question

MOST_MTU_BYTES = 10_000
"""Beyond what cards and switches carry, 65520 of IPoIB in connected mode among them."""


def with_frame_of_mtu(host: HostFacts, question: Question, ports: Sequence[Port]) -> Question:
    """Give the question for frames of the MTU of all ports that have a link.

    It stays as it is where a size was named, the MTU could not be read, or ports differ.
    """
    links = host[NetStack].links if question.frame_of_mtu else None
    if not isinstance(links, Known):
        return question
    mtus = [
        links.value[port.netdev].mtu
        for port in ports
        if port.netdev in links.value and _has_link(host, port)
    ]
    sizes = {mtu.value if isinstance(mtu, Known) else None for mtu in mtus}
    size = sizes.pop() if len(sizes) == 1 else None
    if size is None or not 0 < size <= MOST_MTU_BYTES:
        return question
    return question.model_copy(update={"frame_bytes": size + FRAME_OF_PAYLOAD_BYTES})


def _has_link(host: HostFacts, port: Port) -> bool:
    link = host[Links].by_netdev.get(port.netdev or "")
    return link is not None and link.is_up == Known(True, link.is_up.source)
