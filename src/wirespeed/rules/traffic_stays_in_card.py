"""Frames of a function that never reach the cable: the card switches them within."""

from collections.abc import Iterator

from wirespeed.facts.counters import Counters, Delta, Place
from wirespeed.facts.one_port import one_port
from wirespeed.facts.ports import Ports
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Absent, known
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule
from wirespeed.model.symptom import Symptom

LEAST_SHARE = 0.05
"""The two counters are not read at one moment: a smaller difference may be of that."""
LEAST_FRAMES = 1000
HALF = 0.5
WAYS = (
    (Place.FUNCTION_SENT, Place.SENT, "sent"),
    (Place.FUNCTION_RECEIVED, Place.RECEIVED, "received"),
)


def _check(exam: PortExam) -> Iterator[Finding]:
    counters, netdev = exam.host[Counters], exam.port.netdev
    if isinstance(counters.delta(netdev, Place.FUNCTION_SENT), Absent):
        raise DoesNotApplyError("the card does not count functions separately from the port")
    kept = []
    for own_place, phy_place, word in WAYS:
        observed = counters.delta(netdev, own_place)
        own = known(observed, f"frames {word} by the function")
        phy = known(counters.delta(netdev, phy_place), f"frames {word} by the physical port")
        within = own.count - phy.count
        if own.count >= LEAST_FRAMES and within >= LEAST_SHARE * own.count:
            kept.append((within / own.count, word, own, phy, observed.source))
    if not kept:
        return
    share = max(found[0] for found in kept)
    others = [port.name for port in one_port(exam.host, exam.port) if port != exam.port]
    yield exam.finding(
        _severity(exam, share),
        tuple(_evidence(word, own, phy, source) for _, word, own, phy, source in kept),
        so=f"at least {100 * share:.0f} % of what the function {max(kept)[1]} did not cross the "
        f"cable: the card switched it internally, to {_where(exam, others)}. A rate measured "
        "this way does not apply to link, cable or switch",
        remedies=(
            Remedy(
                text="to measure the link, use two hosts or two physical ports, and check that "
                "`tx_packets_phy` and `rx_packets_phy` grow by the same number",
                by_hand=ByHand.FAR_END,
            ),
        ),
        unpriced="it costs nothing: PCI Express limits traffic inside the card, not the link",
    )


def _severity(exam: PortExam, share: float) -> Severity:
    """Guests that talk to each other are ordinary; a test that never leaves the card is none."""
    if exam.question.measured_bps is not None:
        return Severity.RISK
    return Severity.RISK if share >= HALF and not exam.host[Ports].host_vfs else Severity.NOTE


def _evidence(word: str, own: Delta, phy: Delta, source: str) -> Evidence:
    return Evidence(
        found=f"{own.count} frames {word} by the function, {phy.count} by the physical port",
        source=source,
    )


def _where(exam: PortExam, others: list[str]) -> str:
    if others:
        return f"another function of the same physical port, such as {', '.join(others)}"
    if exam.host[Ports].host_vfs:
        return "VFs of the same card, or to itself"
    return "another function of the card, or to itself"


RULE = PortRule(
    slug="traffic.stays_in_card",
    title="Traffic does not leave the card",
    why="A card with a switch of its own (mlx5's eswitch) sends frames from one of its functions "
    "to another without using the cable. The counters of the function (`vport`) grow, those "
    "of the physical port (`_phy`) do not. The physical port also counts what VFs send and "
    "receive, so the difference is the minimum that stays inside the card.",
    source="https://docs.kernel.org/networking/device_drivers/ethernet/mellanox/mlx5/counters.html "
    "(vPort and physical port counters); https://github.com/NVIDIA/daqiri/pull/108 "
    "(`tx_packets_phy` flat while both ends were one physical port)",
    explains=(Symptom.LOW_FIGURE,),
    check=_check,
)
