"""A measured figure far below all that the path carries."""

from collections.abc import Iterator

from wirespeed.ceilings.ethernet import WIRES
from wirespeed.ceilings.tcp import filled_link_bps
from wirespeed.facts.clouds import instance_of
from wirespeed.model.ceiling import Ceiling, Direction, Ledger, Quantity
from wirespeed.model.finding import ByHand, Change, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import CannotTellError
from wirespeed.model.question import MeasuredBy, Purpose, Question
from wirespeed.model.rule import DoesNotApplyError, FigureExam, FigureRule
from wirespeed.model.symptom import Symptom

WIRE_ELEMENTS = (*WIRES, "virtual switch")
TOOL_LIMITS = "and the tool itself may be the limit"
FAR_SHARE = 0.8
"""Of the ceiling's low end. Headers of TCP at an MTU of 1500 take 6 % of the wire, and a model of
PCIe may be some percent off; a fifth is neither."""


def _check(exam: FigureExam) -> Iterator[Finding]:
    paths = [path for path in exam.paths if _may_carry(path, exam.measured_bps)] or exam.paths
    leasts = [_least(path) for path in paths]
    unknown = [path for path, least in zip(paths, leasts, strict=True) if least is None]
    if unknown:
        raise speed_not_known(unknown[0])
    by_path = [(path, least) for path, least in zip(paths, leasts, strict=True) if least]
    path, least = min(by_path, key=lambda one: one[1].load_bps_l1.low)
    low = least.load_bps_l1.low
    if exam.measured_bps >= FAR_SHARE * low:
        _tell_which(exam, path, [one for one in by_path if one[0] is not path])
        return
    share = exam.measured_bps / low
    is_reported = least.kind is Quantity.NOMINAL
    # What a cloud grants bounds its instance before any wire does, and nobody reads it there.
    is_uncertain = is_reported or instance_of(exam.host) is not None
    carries = "reports" if is_reported else "carries at least"
    among = "" if len(paths) == 1 else f" of {', '.join(one.port for one in paths)}"
    what = "" if is_reported else f", the lowest ceiling{among},"
    yield exam.finding(
        Severity.RISK if is_uncertain else Severity.FAULT,
        (
            _with_filled_link(measured_evidence(exam.question), exam),
            Evidence(
                found=f"{least.element}{what} {carries} {low / 1e9:.1f} Gb/s",
                source=least.inputs[0].source,
            ),
        ),
        where=path.port,
        so=f"the measured figure is {100 * share:.0f} % of what "
        + (
            "the adapter reports, which bounds nothing: what carries its frames below is not seen "
            "from here"
            if is_reported
            else "the path carries"
        )
        + _in_a_cloud(exam)
        + _by_the_tool(exam.question.measured_by)
        # What a tool printed has a unit; a figure that a person gave may be of bytes.
        + (
            ""
            if exam.question.measured_by
            else _as_bytes(exam.measured_bps, low, least.load_bps_l1.high)
        ),
        remedies=tuple(_where_to_look(exam, is_reported=is_reported)),
        changes=() if is_uncertain else tuple(_shortfall(path, share)),
        unpriced="what bounds the path beyond this guest is not seen from here"
        if is_uncertain
        else "",
    )


def speed_not_known(path: Ledger) -> CannotTellError:
    """Say why a figure can be held against nothing: of the wire alone, where that is said."""
    of_wire = [reason for reason in path.unknown if reason.startswith(WIRE_ELEMENTS)]
    what = "; ".join(of_wire or path.unknown) or "no element"
    return CannotTellError(f"the speed of the link is not known: {what}", f"ethtool {path.port}")


def _may_carry(path: Ledger, measured_bps: float) -> bool:
    """Tell whether the figure can have gone by it: no link carries more than its speed."""
    wires = [bound for bound in path.ceilings if bound.element in WIRES]
    return not wires or measured_bps <= max(bound.load_bps_l1.high for bound in wires)


def _least(path: Ledger) -> Ceiling | None:
    """Give what the path carries at least, in the direction that carries less.

    The direction was not named: what is far below the lower of both is far below in either. None
    where its speed is not known: the slot alone says nothing, as the link may be slower.
    """
    wires = [bound for bound in path.ceilings if bound.element in WIRES]
    ways = [path.bound(way) if wires else path.reported(way) for way in Direction]
    return min((w for w in ways if w is not None), key=lambda w: w.load_bps_l1.low, default=None)


def _tell_which(exam: FigureExam, path: Ledger, others: list[tuple[Ledger, Ceiling]]) -> None:
    """Raise DoesNotApplyError where one port explains the figure, and it is far below another's."""
    for other, least in others:
        share = exam.measured_bps / least.load_bps_l1.low
        if share < FAR_SHARE:
            raise DoesNotApplyError(
                f"it is what {path.port} carries, and {100 * share:.0f} % of what {other.port} "
                "does: which of them it went through is not known: name it with --port",
                unused="--measured-by" if exam.question.measured_by else "--measured",
            )


def measured_evidence(question: Question) -> Evidence:
    """Say what was measured, and by which tool under which conditions, where that is known."""
    run, measured = question.measured_by, question.measured_bps or 0.0
    by = "" if run is None else f" by {run.tool}" + "".join(f", {c}" for c in run.conditions)
    return Evidence(
        found=f"{measured / 1e9:.6g} Gb/s of goodput were measured{by}", source="as you gave it"
    )


def _in_a_cloud(exam: FigureExam) -> str:
    """Say that the link is not what bounds an instance."""
    instance = instance_of(exam.host)
    if instance is None:
        return ""
    return f"; what {instance.cloud.name} grants this instance is not shown to it, and may be less"


def _by_the_tool(run: MeasuredBy | None) -> str:
    limits = () if run is None else (*run.limits, *run.doubts)
    return f", {TOOL_LIMITS}: {'; '.join(limits)}" if limits else ""


def _as_bytes(measured: float, least: float, most: float) -> str:
    """Say where the figure would be the path's own if it were of bytes."""
    fits = FAR_SHARE * least <= 8 * measured <= most
    return (
        "; read as bytes a second it would be what the path carries: check its unit" if fits else ""
    )


def _with_filled_link(measured: Evidence, exam: FigureExam) -> Evidence:
    """Say beside the figure where it is what a slower link carries."""
    link_bps = filled_link_bps(exam.measured_bps)
    if link_bps is None:
        return measured
    said = f"{measured.found}: what TCP gets of a link of {link_bps / 1e9:g} Gb/s"
    return measured.model_copy(update={"found": said})


def _shortfall(path: Ledger, share: float) -> Iterator[Change]:
    for direction in Direction:
        bound = path.bound(direction)
        if bound is not None:
            yield Change(after=bound, now=_scaled(bound, share))


def _scaled(bound: Ceiling, share: float) -> Ceiling:
    band = bound.load_pps.model_copy(update={"low": bound.load_pps.low * share})
    return bound.model_copy(update={"load_pps": band})


def _where_to_look(exam: FigureExam, *, is_reported: bool) -> Iterator[Remedy]:
    link_bps = filled_link_bps(exam.measured_bps)
    instance = instance_of(exam.host)
    if link_bps is not None:
        yield Remedy(
            text=f"find the port of {link_bps / 1e9:g} Gb/s on the way: ask the peer and each "
            "switch between for the speed of its ports, and look whether the traffic leaves by "
            "the port that is meant (Linux: `ip route get PEER`; Windows: `Find-NetRoute "
            "-RemoteIPAddress PEER`)",
            by_hand=ByHand.FAR_END,
        )
    if is_reported and instance is None:
        yield Remedy(
            text="run the doctor on the host that this guest runs on: its uplink, its virtual "
            "switch and its limits of a port's rate bound the adapter",
            by_hand=ByHand.FAR_END,
        )
    if instance is not None:
        yield Remedy(
            text=f"look up what {instance.cloud.name} grants an instance of "
            f"{f'size {instance.size}' if instance.size else 'its size'}: {instance.cloud.sizes}",
            by_hand=ByHand.WORKLOAD,
        )
    if exam.question.purpose is not Purpose.DPDK:
        yield Remedy(
            text="check the tool: one stream, or streams that share one thread (iperf3 before "
            "3.16), are limited by one core; see whether a thread runs at 100 % (Linux: "
            "`top -H`; Windows: `Get-Counter '\\Thread(iperf3*)\\% Processor Time'`; ESXi: "
            "`esxtop`), and measure with several processes",
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


RULE = FigureRule(
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
