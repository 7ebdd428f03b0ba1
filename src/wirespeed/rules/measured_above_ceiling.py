"""A measured figure that no element of the path could have carried."""

from collections.abc import Iterator

from wirespeed.ceilings.ethernet import WIRES
from wirespeed.model.ceiling import Direction
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import CannotTellError
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule
from wirespeed.rules.measured_far_below_ceiling import measured_evidence


def _is_wire(element: str) -> bool:
    """Only what no setting and no second connection can get around contradicts a measurement."""
    return element in (*WIRES, "encapsulation") or element.startswith("pcie ")


def _check(exam: PortExam) -> Iterator[Finding]:
    measured = exam.question.measured_bps
    if measured is None:
        raise DoesNotApplyError("no measured figure was given: give it with --measured")
    wires = exam.ledger.model_copy(
        update={"ceilings": tuple(c for c in exam.ledger.ceilings if _is_wire(c.element))}
    )
    bounds = [b for d in Direction if (b := wires.most(d)) is not None]
    if not bounds:
        raise CannotTellError(
            f"no ceiling of this path is known: {'; '.join(exam.ledger.unknown) or 'no element'}",
            f"ethtool {exam.port.name}",
        )
    # Nobody said which direction it was measured in: the one that carries more is what it exceeds.
    # Nor how long the frames were: no goodput exceeds what a path takes on the wire.
    bound = max(bounds, key=lambda b: b.load_bps_l1.high)
    most = bound.load_bps_l1.high
    if measured <= most:
        return
    yield exam.finding(
        Severity.FAULT,
        (
            measured_evidence(exam.question),
            Evidence(
                found=f"{bound.element} carries at most {most / 1e9:.1f} Gb/s, headers included: "
                + ", ".join(f"{i.name} {i.shown}" for i in bound.inputs if not i.assumed),
                source=bound.inputs[0].source,
            ),
        ),
        so="the figure and the path contradict each other: not all measured traffic went through "
        "this port, or it measures something else" + _as_bits(measured, most) + _doubts(exam),
        remedies=(
            Remedy(
                text="check which port the traffic left by (`ip route get PEER`, the port's "
                "counters before and after), and whether the figure adds up both directions "
                "or several ports, is in bytes instead of bits, was measured with larger "
                "frames, or came from a cache instead of the network",
                by_hand=ByHand.FIND_FIRST,
            ),
        ),
        unpriced="either the measurement or the reading of the path is wrong",
    )


def _as_bits(measured: float, most: float) -> str:
    """Say where an eighth of the figure is what the path carries."""
    fits = most / 2 <= measured / 8 <= most
    return (
        "; an eighth of it is what the path carries: the figure was probably in bytes"
        if fits
        else ""
    )


def _doubts(exam: PortExam) -> str:
    run = exam.question.measured_by
    return "".join(f"; {doubt}" for doubt in run.doubts) if run is not None else ""


RULE = PortRule(
    slug="measured.above_ceiling",
    title="Measured rate above the path's ceiling",
    why="No traffic is faster than the narrowest element of its path. A figure above what the "
    "headers alone would leave indicates a wrong measurement: traffic through another port "
    "or within one host, both directions added up, or a wrong unit.",
    source="the ceilings' own formulas: wirespeed ceiling --explain; Neugebauer et al., SIGCOMM "
    "2018: https://doi.org/10.1145/3230543.3230560",
    check=_check,
)
