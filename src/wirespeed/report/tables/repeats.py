"""How far repeated searches varied."""

from wirespeed.model.trial import Outcome
from wirespeed.report import format as fmt
from wirespeed.report.grid import Grid, Notes, columns, text
from wirespeed.report.headline import spread
from wirespeed.report.page import DutSection, Missing, Spread
from wirespeed.report.tables.rows import key


def repeats(dut: DutSection) -> Grid | None:
    """Tabulate how far repeated searches varied; None where none was repeated."""
    groups: dict[tuple[str, str], list[Outcome]] = {}
    for r in dut.results:
        groups.setdefault(key(r.outcome), []).append(r.outcome)
    if all(len(group) == 1 for group in groups.values()):
        return None
    notes, rows = Notes(), []
    for (label, method), group in groups.items():
        figure = spread(group)
        low, mid, high = (
            (figure, figure, figure)
            if isinstance(figure, Missing)
            else (figure.lowest_pps, figure.median_pps, figure.highest_pps)
        )
        proven = figure.proven if isinstance(figure, Spread) else 0
        rows.append(
            (
                *text(label, method, f"{proven} of {len(group)}"),
                notes.cell(mid, fmt.mpps),
                notes.cell(low, fmt.mpps),
                notes.cell(high, fmt.mpps),
            )
        )
    return Grid(
        title="Spread",
        caption="Throughput of the searches that were repeated, in Mpps.",
        columns=columns(
            "Frame, B", "Method", "Proven", "Median", "Lowest", "Highest", words=("Method",)
        ),
        rows=tuple(rows),
        notes=notes.all,
    )
