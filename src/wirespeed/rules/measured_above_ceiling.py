"""A measured figure that no element of the path could have carried."""

from collections.abc import Iterator

from wirespeed.ceilings.ethernet import WIRES
from wirespeed.model.ceiling import Ceiling, Direction, Ledger
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.rule import DoesNotApplyError, FigureExam, FigureRule
from wirespeed.rules.measured_far_below_ceiling import measured_evidence, speed_not_known


def _is_wire(element: str) -> bool:
    """Only what no setting and no second connection can get around contradicts a measurement."""
    return element in (*WIRES, "encapsulation") or element.startswith("pcie ")


def _check(exam: FigureExam) -> Iterator[Finding]:
    bounds = []
    for path in exam.paths:
        bound = _most(path)
        if bound is None:
            raise _why_none(path)
        bounds.append(bound)
    # By which of several ports it went nobody said, and it may have been all of them.
    most = sum(bound.load_bps_l1.high for bound in bounds)
    if exam.measured_bps <= most:
        return
    yield exam.finding(
        Severity.FAULT,
        (measured_evidence(exam.question), *map(_carried, bounds)),
        so="the figure and the path contradict each other: not all measured traffic went through "
        f"{'this port' if len(bounds) == 1 else 'these ports'}, or it measures something else"
        + _in_other_units(exam.measured_bps, most, is_typed=exam.question.measured_by is None)
        + _doubts(exam),
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


def _why_none(path: Ledger) -> Exception:
    """Say why a path has no wire: it may be a virtual one, whose figure is only reported."""
    if path.reported(Direction.TRANSMIT) is not None:
        return DoesNotApplyError("what the adapter reports bounds nothing")
    return speed_not_known(path)


def _most(path: Ledger) -> Ceiling | None:
    """Give what no traffic on the wires of a path exceeds, in the direction that carries more.

    Nobody said which direction was measured, nor how long the frames were: no goodput exceeds what
    a path takes on the wire.
    """
    wires = path.model_copy(
        update={"ceilings": tuple(c for c in path.ceilings if _is_wire(c.element))}
    )
    bounds = [bound for way in Direction if (bound := wires.most(way)) is not None]
    return max(bounds, key=lambda bound: bound.load_bps_l1.high, default=None)


def _carried(bound: Ceiling) -> Evidence:
    return Evidence(
        found=f"{bound.element} carries at most {bound.load_bps_l1.high / 1e9:.1f} Gb/s, headers "
        "included: " + ", ".join(f"{i.name} {i.shown}" for i in bound.inputs if not i.assumed),
        source=bound.inputs[0].source,
    )


def _in_other_units(measured_bps: float, most_bps: float, *, is_typed: bool) -> str:
    """Say where the figure is one of the path in another unit."""
    if most_bps / 2 <= measured_bps / 8 <= most_bps:
        return "; an eighth of it is what the path carries: the figure was probably in bytes"
    if is_typed and measured_bps / 1000 <= most_bps < measured_bps / 10:
        return (
            f"; --measured takes Gb/s: were it in Mb/s, it would be {measured_bps / 1e12:.4g} Gb/s"
        )
    return ""


def _doubts(exam: FigureExam) -> str:
    run = exam.question.measured_by
    return "".join(f"; {doubt}" for doubt in run.doubts) if run is not None else ""


RULE = FigureRule(
    slug="measured.above_ceiling",
    title="Measured rate above the path's ceiling",
    why="No traffic is faster than the narrowest element of its path. A figure above what the "
    "headers alone would leave indicates a wrong measurement: traffic through another port "
    "or within one host, both directions added up, or a wrong unit.",
    source="the ceilings' own formulas: wirespeed ceiling --explain; Neugebauer et al., SIGCOMM "
    "2018: https://doi.org/10.1145/3230543.3230560",
    check=_check,
)
