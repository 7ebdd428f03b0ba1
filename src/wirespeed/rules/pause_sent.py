"""This port's pause frames hold back the peer: it cannot take what comes in."""

from collections.abc import Iterator

from wirespeed.ceilings.share import PAUSED_FORMULA, time_paused
from wirespeed.facts.counters import Counters, Place
from wirespeed.facts.counters_pause import paused, without_pause
from wirespeed.model.ceiling import Direction
from wirespeed.model.finding import ByHand, Finding, Remedy
from wirespeed.model.rule import PortExam, PortRule


def _check(exam: PortExam) -> Iterator[Finding]:
    found = paused(exam.host[Counters], exam.port, Place.PAUSE_SENT, Place.PAUSE_SENT_US)
    if found is None:
        return
    yield exam.finding(
        found.severity,
        found.evidence,
        so="this host does not take frames as fast as they come, and makes the peer wait",
        remedies=(
            Remedy(
                text="look for what is slow on the way in: PCIe, receive rings, the cores that "
                "serve the queues. Each has its own finding where it can be seen",
                by_hand=ByHand.FIND_FIRST,
            ),
            without_pause(
                exam.port.netdev or "",
                found,
                "tx",
                "or stop sending pause frames: the peer is no longer held back, and what this "
                "host cannot take is dropped here",
                "or send none by priority (PFC): the peer is no longer held back, and what this "
                "host cannot take is dropped here",
            ),
        ),
        changes=time_paused(exam.ledger, Direction.RECEIVE, found.share, found.evidence[0].source),
        unpriced="the share of the time in which the peer may not send is the cost, where the "
        "card counts it",
    )


RULE = PortRule(
    slug="pause.sent",
    title="Pause frames sent by the card",
    why="The card sends pause frames when its receive buffer fills. Nothing is lost here, so no "
    "counter of drops moves, but the switch queues, or drops, or pauses its own senders: a host "
    "that receives too slowly becomes the fabric's congestion.",
    source="IEEE 802.3 annex 31B; "
    "https://docs.kernel.org/networking/device_drivers/ethernet/mellanox/mlx5/counters.html",
    price=PAUSED_FORMULA,
    check=_check,
)
