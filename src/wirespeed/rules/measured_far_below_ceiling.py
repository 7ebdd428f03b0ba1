"""A measured figure far below all that the path carries."""

from collections.abc import Iterator

from wirespeed.ceilings.ethernet import WIRES, is_without_link
from wirespeed.model.ceiling import Ceiling, Direction
from wirespeed.model.finding import ByHand, Change, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import CannotTellError
from wirespeed.model.question import MeasuredBy, Purpose, Question
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule
from wirespeed.model.symptom import Symptom

TOOL_LIMITS = "and the tool itself may be the limit"
FAR_SHARE = 0.8
"""Of the ceiling's low end. Headers of TCP at an MTU of 1500 take 6 % of the wire, and a model of
PCIe may be some percent off; a fifth is neither."""


def _check(exam: PortExam) -> Iterator[Finding]:
    measured = exam.question.measured_bps
    if measured is None:
        raise DoesNotApplyError("no measured figure was given: give it with --measured")
    if is_without_link(exam.ledger):
        raise DoesNotApplyError("the port has no link: nothing was measured through it")
    if not _is_asked(exam):
        raise DoesNotApplyError(
            "this host has several ports, and which one was measured is not known: name it with "
            "--port",
            unused="--measured-by" if exam.question.measured_by else "--measured",
        )
    bounds = [b for d in Direction if (b := exam.ledger.bound(d)) is not None]
    if all(bound.element not in WIRES for bound in exam.ledger.ceilings) or not bounds:
        # The slot alone says nothing: the link may be slower than it.
        unknown = "; ".join(exam.ledger.unknown) or "no element"
        raise CannotTellError(
            f"the speed of the link is not known: {unknown}", f"ethtool {exam.port.name}"
        )
    # The direction was not named: what is far below the lower of both is far below in either.
    bound = min(bounds, key=lambda b: b.load_bps_l1.low)
    least = bound.load_bps_l1.low
    if measured >= FAR_SHARE * least:
        return
    share = measured / least
    yield exam.finding(
        Severity.FAULT,
        (
            measured_evidence(exam.question),
            Evidence(
                found=f"{bound.element}, the lowest ceiling, carries at least {least / 1e9:.1f} "
                "Gb/s",
                source=bound.inputs[0].source,
            ),
        ),
        so=f"the measured figure is {100 * share:.0f} % of what the path carries"
        + _by_the_tool(exam.question.measured_by)
        # What a tool printed has a unit; a figure that a person gave may be of bytes.
        + ("" if exam.question.measured_by else _as_bytes(measured, least, bound.load_bps_l1.high)),
        remedies=tuple(_where_to_look(exam)),
        changes=tuple(_shortfall(exam, share)),
    )


def measured_evidence(question: Question) -> Evidence:
    """Say what was measured, and by which tool under which conditions, where that is known."""
    run, measured = question.measured_by, question.measured_bps or 0.0
    by = "" if run is None else f" by {run.tool}" + "".join(f", {c}" for c in run.conditions)
    return Evidence(
        found=f"{measured / 1e9:.6g} Gb/s of goodput were measured{by}", source="as you gave it"
    )


def _by_the_tool(run: MeasuredBy | None) -> str:
    limits = () if run is None else (*run.limits, *run.doubts)
    return f", {TOOL_LIMITS}: {'; '.join(limits)}" if limits else ""


def _as_bytes(measured: float, least: float, most: float) -> str:
    """Say where the figure would be the path's own if it were of bytes."""
    fits = FAR_SHARE * least <= 8 * measured <= most
    return (
        "; read as bytes a second it would be what the path carries: check its unit" if fits else ""
    )


def _is_asked(exam: PortExam) -> bool:
    """Whether this is the port that was measured: it is named, or it is the only one."""
    named = {exam.port.netdev, exam.port.pci_address} & set(exam.question.ports)
    return bool(named) or len(exam.ports) == 1


def _shortfall(exam: PortExam, share: float) -> Iterator[Change]:
    for direction in Direction:
        bound = exam.ledger.bound(direction)
        if bound is not None:
            yield Change(after=bound, now=_scaled(bound, share))


def _scaled(bound: Ceiling, share: float) -> Ceiling:
    band = bound.load_pps.model_copy(update={"low": bound.load_pps.low * share})
    return bound.model_copy(update={"load_pps": band})


def _where_to_look(exam: PortExam) -> Iterator[Remedy]:
    if exam.question.purpose is not Purpose.DPDK:
        yield Remedy(
            text="check the tool: one stream, or streams that share one thread (iperf3 before "
            "3.16), are limited by one core; see whether a thread runs at 100 % (`top -H`), "
            "and measure with several processes",
            by_hand=ByHand.WORKLOAD,
        )
    yield Remedy(
        text="check the far end: run the doctor on the peer and on the switch ports between, as "
        "the slower end limits both",
        by_hand=ByHand.FAR_END,
    )
    yield Remedy(
        text="measure again for 30 s or more and leave out the first seconds: the ceilings do "
        "not include a cold start, TCP's slow start and rising CPU clocks",
        by_hand=ByHand.WORKLOAD,
    )


RULE = PortRule(
    slug="measured.far_below_ceiling",
    title="Measured rate far below the path's ceiling",
    why="The ceilings come from this host's hardware and settings. If a figure is far below the "
    "lowest of them, something else limits it: a single-threaded generator, the peer, a "
    "switch or path between, or a measurement that was too short.",
    source="https://github.com/esnet/iperf/releases/tag/3.16 (one thread for each stream from "
    "3.16 on); the ceilings' own formulas: wirespeed ceiling --explain",
    price="the lowest ceiling of the path x (1 - measured / ceiling)",
    shows=(Symptom.LOW_FIGURE,),
    check=_check,
)
