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
                found=f"{bound.element} carries at most {most / 1e9:.1f} Gb/s, headers and all: "
                + ", ".join(f"{i.name} {i.shown}" for i in bound.inputs if not i.assumed),
                source=bound.inputs[0].source,
            ),
        ),
        so="the figure and the path contradict each other: what was measured did not all go "
        "through this port, or is not what it is called" + _as_bits(measured, most) + _doubts(exam),
        remedies=(
            Remedy(
                text="see which port the traffic left by (`ip route get PEER`, the port's own "
                "counters before and after), whether both directions or several ports were added "
                "up, whether it was bytes and not bits, larger frames, or a cache and no network",
                by_hand=ByHand.FIND_FIRST,
            ),
        ),
        unpriced="the measurement is wrong, or what was read of the path",
    )


def _as_bits(measured: float, most: float) -> str:
    """Say where an eighth of the figure is what the path carries."""
    fits = most / 2 <= measured / 8 <= most
    return "; an eighth of it is what the path carries: bytes were taken for bits" if fits else ""


def _doubts(exam: PortExam) -> str:
    run = exam.question.measured_by
    return "".join(f"; {doubt}" for doubt in run.doubts) if run is not None else ""


RULE = PortRule(
    slug="measured.above_ceiling",
    title="Measured rate above the path's ceiling",
    why="Nothing can be faster than the narrowest element that it went through. A figure above "
    "the most that the headers alone would leave is a sign of a wrong measurement: traffic by "
    "another port or within one host, directions that were added up, a wrong unit.",
    source="the ceilings' own formulas: wirespeed ceiling --explain; Neugebauer et al., SIGCOMM "
    "2018: https://doi.org/10.1145/3230543.3230560",
    check=_check,
)
