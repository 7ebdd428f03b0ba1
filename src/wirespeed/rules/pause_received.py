"""The peer's pause frames hold back what this port sends."""

from collections.abc import Iterator

from wirespeed.ceilings.share import PAUSED_FORMULA, time_paused
from wirespeed.facts.counters import Counters, Place
from wirespeed.facts.counters_pause import Paused, paused, without_pause
from wirespeed.facts.link import Links
from wirespeed.model.ceiling import Direction
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Known
from wirespeed.model.rule import PortExam, PortRule


def _check(exam: PortExam) -> Iterator[Finding]:
    found = paused(exam.host[Counters], exam.port, Place.PAUSE_RECEIVED, Place.PAUSE_RECEIVED_US)
    if found is None:
        return
    obeyed = exam.host[Links].by_netdev[exam.port.netdev or ""].pause.receive
    if isinstance(obeyed, Known) and not obeyed.value and not found.by_priority:
        yield _ignored(exam, found, obeyed)
        return
    yield exam.finding(
        found.severity,
        found.evidence,
        so="the peer makes this port wait: at times it may not send",
        remedies=(
            Remedy(
                text="find the slow device: the switch pauses its senders when the port that they "
                "send to, or a receiver behind it, does not keep up. Fix that one",
                by_hand=ByHand.FAR_END,
            ),
            without_pause(
                exam.port.netdev or "",
                found,
                "rx",
                "or ignore the peer's pause frames; it then drops what it cannot take. Not where "
                "RoCE or another protocol needs a link without loss",
                "or obey none of them by priority (PFC); the port then drops what it cannot take. "
                "Not where RoCE or another protocol needs a link without loss",
            ),
        ),
        changes=time_paused(exam.ledger, Direction.TRANSMIT, found.share, found.evidence[0].source),
        unpriced="the share of the time in which it may not send is the cost, where the card "
        "counts it",
    )


def _ignored(exam: PortExam, found: Paused, obeyed: Known[bool]) -> Finding:
    """What a port is told by the counter that it does not act upon."""
    return exam.finding(
        Severity.NOTE,
        (*found.evidence, Evidence.of(obeyed, "this port does not obey pause frames")),
        so="the peer cannot take all that is sent to it, and drops in place of being waited for",
        unpriced="it is the peer that loses: see the counters there",
    )


RULE = PortRule(
    slug="pause.received",
    title="Pause frames received from the peer",
    why="A pause frame stops everything that the port sends, not only what goes to the slow "
    "receiver, for up to 65,535 times 512 bit times. Throughput falls without a single loss, and "
    "one slow host can hold back all that send through the same switch.",
    source="IEEE 802.3 annex 31B; "
    "https://docs.kernel.org/networking/device_drivers/ethernet/mellanox/mlx5/counters.html",
    price=PAUSED_FORMULA,
    check=_check,
)
