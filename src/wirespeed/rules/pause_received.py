"""The peer's pause frames hold back what this port sends."""

from collections.abc import Iterator

from wirespeed.ceilings.share import PAUSED_FORMULA, pause_unpriced, time_paused
from wirespeed.facts.counters import Counters, Place
from wirespeed.facts.counters_pause import Paused, paused, without_pause
from wirespeed.facts.link import Links
from wirespeed.model.ceiling import Direction
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Known
from wirespeed.model.rule import PortExam, PortRule
from wirespeed.model.symptom import Symptom


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
        so="the peer pauses this port: at times the port may not send"
        if found.is_now
        else "the peer paused this port: at times the port could not send",
        remedies=(
            Remedy(
                text="find and fix the slow device: a switch pauses senders when the port that "
                "they send to, or a receiver behind it, does not keep up",
                by_hand=ByHand.FAR_END,
            ),
            without_pause(
                exam.port.netdev or "",
                found,
                "rx",
                "or ignore the peer's pause frames; the peer then drops what it cannot take. Do "
                "not do this if RoCE or another protocol needs a lossless link",
                "or ignore priority pause frames (PFC); the peer then drops what it cannot take. "
                "Do not do this if RoCE or another protocol needs a lossless link",
            ),
        ),
        changes=time_paused(exam.ledger, Direction.TRANSMIT, found.share, found.evidence[0].source),
        unpriced=pause_unpriced(found.share, is_now=found.is_now),
    )


def _ignored(exam: PortExam, found: Paused, obeyed: Known[bool]) -> Finding:
    """What a port is told by the counter that it does not act upon."""
    return exam.finding(
        Severity.NOTE,
        (*found.evidence, Evidence.of(obeyed, "this port does not obey pause frames")),
        so="this port goes on when the peer asks it to pause, so the peer may drop frames",
        unpriced="the peer counts what it drops: see its counters",
    )


RULE = PortRule(
    slug="pause.received",
    title="Pause frames received from the peer",
    why="A pause frame stops all traffic that the port sends, not only traffic to the slow "
    "receiver, for up to 65,535 times 512 bit times. Throughput falls without any loss, and "
    "one slow host can slow down all senders on the same switch.",
    source="IEEE 802.3 annex 31B; "
    "https://docs.kernel.org/networking/device_drivers/ethernet/mellanox/mlx5/counters.html",
    price=PAUSED_FORMULA,
    explains=(Symptom.TRANSMIT_DROPS, Symptom.LOW_FIGURE),
    check=_check,
)
