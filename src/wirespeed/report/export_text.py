"""The doctor's answer about a host as OpenMetrics, for Prometheus. Pure.

At most `MOST` series a port. Names are as Prometheus' own rules ask for: base units, the unit last.
A figure that could not be computed has no series: it is not 0.
"""

from collections.abc import Iterator, Sequence

from wirespeed.ceilings.ethernet import WIRES
from wirespeed.model.ceiling import Direction, Ledger
from wirespeed.model.finding import Diagnosis, Severity
from wirespeed.model.shown import shown
from wirespeed.model.units import load_bps_l1

MOST = 60
RULES = 40
"""Findings of one port that have a series of their own; of more, the worst."""
BITS = 8
"""Of a byte: Prometheus' base unit."""
PREFIX = "wirespeed"
COMPLETE = f"{PREFIX}_reading_complete"
COMPLETE_HELP = "1 where the reading of the host was not cut off."
Row = tuple[str, dict[str, str], float]


def metrics_text(answer: Diagnosis) -> str:
    """Give the whole exposition, `# EOF` included."""
    lines: list[str] = []
    for name, help_text, rows in families(answer):
        lines += [f"# TYPE {name} gauge", f"# HELP {name} {help_text}"]
        lines += [_line(*row) for row in rows]
    return "\n".join([*lines, "# EOF", ""])


def unread() -> Iterator[tuple[str, str, Sequence[Row]]]:
    """Give the series of a host that could not be read."""
    yield COMPLETE, COMPLETE_HELP, [(COMPLETE, {}, 0.0)]


def families(answer: Diagnosis) -> Iterator[tuple[str, str, Sequence[Row]]]:
    """Give the name, the help and the series of each metric."""
    yield COMPLETE, COMPLETE_HELP, [(COMPLETE, {}, float(answer.is_complete))]
    bound = f"{PREFIX}_port_ceiling_bytes_per_second"
    yield (
        bound,
        "The most that the path carries, on the wire, and what bounds it.",
        [
            (
                bound,
                {"port": ledger.port, "direction": direction.value, "bound_by": found.element},
                float(load_bps_l1(found.load_pps.low, ledger.frame_bytes)) / BITS,
            )
            for ledger in answer.ledgers
            for direction in Direction
            if (found := ledger.bound(direction)) is not None
        ],
    )
    share = f"{PREFIX}_port_ceiling_ratio"
    yield (
        share,
        "That of the line rate: 1 where nothing on the path is below it.",
        [
            (share, {"port": ledger.port, "direction": direction.value}, ratio)
            for ledger in answer.ledgers
            for direction in Direction
            if (ratio := _of_line_rate(ledger, direction)) is not None
        ],
    )
    places = {ledger.port for ledger in answer.ledgers}
    counted = f"{PREFIX}_findings"
    yield counted, "Findings by severity; the port is empty for the host as a whole.", [
        (
            counted,
            {"port": place, "severity": severity.value},
            float(sum(f.severity is severity and _port(f.where, places) == place
                      for f in answer.findings)),
        )
        for place in ["", *sorted(places)]
        for severity in Severity
    ]  # fmt: skip
    finding = f"{PREFIX}_finding"
    yield finding, "1 for each rule that found something above a note.", _findings(answer, places)


def _of_line_rate(ledger: Ledger, direction: Direction) -> float | None:
    """Give the share of the line rate that the path carries; None if that is not known."""
    bound = ledger.bound(direction)
    for one in ledger.ceilings:
        is_read = one.element in WIRES and not any(given.assumed for given in one.inputs)
        if bound is not None and is_read and one.direction is direction:
            return bound.load_pps.low / one.load_pps.low
    return None


def _findings(answer: Diagnosis, places: set[str]) -> list[Row]:
    name = f"{PREFIX}_finding"
    seen: dict[tuple[str, str], Row] = {}
    counts: dict[str, int] = {}
    for one in answer.findings:
        place = _port(one.where, places)
        if one.severity is Severity.NOTE or (place, one.rule) in seen:
            continue
        counts[place] = counts.get(place, 0) + 1
        if counts[place] <= RULES:
            labels = {"port": place, "rule": one.rule, "severity": one.severity.value}
            seen[place, one.rule] = (name, labels, 1.0)
    return list(seen.values())


def _port(where: str, places: set[str]) -> str:
    return where if where in places else ""


def _line(name: str, labels: dict[str, str], value: float) -> str:
    inside = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels.items())
    return f"{name}{{{inside}}} {value:.10g}" if inside else f"{name} {value:.10g}"


def _escaped(text: str) -> str:
    return shown(text, 120).replace("\\", "\\\\").replace('"', '\\"')
