"""Two runs side by side: the ratios with what they can be trusted for, and what else differed."""

from wirespeed.report import format as fmt
from wirespeed.report.grid import Grid, Notes, columns, text
from wirespeed.report.page import Comparison, Spread


def comparison_grids(comparison: Comparison) -> tuple[Grid, ...]:
    """Show the ratios with their caveat, then what else differed."""
    notes, rows = Notes(), []
    for row in comparison.rows:
        ratio = notes.cell(row.ratio, lambda r: f"{r:.3f}")
        rows.append(
            (
                *text(row.dut, row.frame_label, row.method),
                notes.cell(row.a, _pps),
                notes.cell(row.a, _searches),
                notes.cell(row.b, _pps),
                notes.cell(row.b, _searches),
                ratio,
                notes.cell(row.resolution, lambda r: f"± {fmt.significant(r * 100, 2)} %"),
            )
        )
    grids = [
        Grid(
            title="Ratio",
            caption="Throughput in Mpps, and B / A. A ratio that differs from 1 by less than "
            "these searches can tell shows no difference; one search per run says nothing of how "
            "the figure varies from run to run.",
            columns=columns(
                "DUT",
                "Frame, B",
                "Method",
                "A, Mpps",
                "A: searches",
                "B, Mpps",
                "B: searches",
                "B / A",
                "Searches can tell",
                words=("DUT", "Method"),
            ),
            rows=tuple(rows),
            notes=notes.all,
        )
    ]
    if comparison.differences:
        grids.append(
            Grid(
                title="Conditions",
                caption="What else differed between the runs.",
                columns=columns("What", "A", "B", wraps=("What", "A", "B")),
                rows=tuple(text(*difference) for difference in comparison.differences),
            )
        )
    return tuple(grids)


def _pps(figure: Spread) -> str:
    return fmt.mpps(figure.median_pps)


def _searches(figure: Spread) -> str:
    if figure.searches == 1:
        return "1"
    return (
        f"{figure.proven} of {figure.searches}, "
        f"{fmt.mpps(figure.lowest_pps)} to {fmt.mpps(figure.highest_pps)}"
    )
