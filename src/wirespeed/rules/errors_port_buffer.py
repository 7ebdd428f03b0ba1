"""Frames that the card dropped in its own buffer."""

from collections.abc import Iterator

from wirespeed.facts.counters import Counters, Place
from wirespeed.facts.counters_loss import loss_at
from wirespeed.facts.ethtool import ethtool_command
from wirespeed.facts.link import Links
from wirespeed.model.finding import ByHand, Danger, Finding, Remedy
from wirespeed.model.observed import Known
from wirespeed.model.rule import PortExam, PortRule
from wirespeed.model.step_call import StepCall


def _check(exam: PortExam) -> Iterator[Finding]:
    loss = loss_at(exam.host[Counters], exam.port, Place.PORT_BUFFER, Place.RECEIVED)
    if loss is None:
        return
    yield exam.finding(
        loss.severity,
        loss.evidence,
        so=f"frames {loss.are} lost on their way in, before any queue of the host sees them",
        remedies=(
            Remedy(
                text="find what is too slow behind the buffer: a PCIe link that is narrow or "
                "slow, a queue without descriptors, memory of another NUMA node; the findings "
                "about those have their own remedies",
                by_hand=ByHand.FIND_FIRST,
            ),
            *_let_the_peer_wait(exam),
        ),
        unpriced=loss.unpriced,
    )


def _let_the_peer_wait(exam: PortExam) -> Iterator[Remedy]:
    netdev = exam.port.netdev or ""
    sends_pause = exam.host[Links].by_netdev[netdev].pause.transmit
    if isinstance(sends_pause, Known) and not sends_pause.value:
        yield Remedy(
            text="or let the card hold the peer back instead of dropping: nothing is lost "
            "then, and everybody who sends to this port waits",
            commands=(ethtool_command("-A", netdev, "tx", "on"),),
            danger=Danger.DROPS_LINK,
            steps=(StepCall.of("pause", netdev=netdev, tx=True),),
        )


RULE = PortRule(
    slug="errors.port_buffer",
    title="Frames dropped in the card's buffer",
    why="A card holds what arrives for some microseconds in a buffer of its own. It fills when "
    "what is behind it takes frames more slowly than the wire brings them: PCIe, memory, or, on "
    "cards that wait for one, a queue without a descriptor. No setting of the protocol stack "
    "fixes that.",
    source="https://docs.kernel.org/networking/device_drivers/ethernet/mellanox/mlx5/counters.html"
    "; https://docs.kernel.org/networking/statistics.html",
    check=_check,
)
