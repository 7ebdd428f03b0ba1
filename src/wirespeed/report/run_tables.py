"""Tables about a run, or about two: summary, setup, settings, comparison."""

from wirespeed.report import format as fmt
from wirespeed.report.grid import Grid, Notes, columns, text
from wirespeed.report.page import Comparison, Run, Spread

FACT_COLUMNS = columns("What", "Value", wraps=("What", "Value"))


def setup_grids(run: Run) -> tuple[Grid, ...]:
    """Machine, each DUT, tester, settings: what it takes to get the figures again."""
    setup = run.setup
    method = {
        "Line": f"{setup.link_bps / 1e9:g} Gb/s"
        if setup.link_bps is not None
        else "no line: the wire is virtual",
        "Trials while searching": fmt.seconds(setup.trial_seconds),
        "Confirming trial": fmt.seconds(setup.confirm_seconds),
        "The same run by the full method": f"about {fmt.seconds(setup.full_method_seconds)}",
        "Started": setup.started_at,
        "wirespeed": setup.wirespeed,
    }
    return (
        _facts("Machine", tuple(setup.machine.items())),
        *(_facts(f"DUT: {dut.name}", dut.facts) for dut in run.duts),
        _facts("Tester", tuple(setup.tester.items())),
        _facts("Settings", (*setup.settings.items(), *method.items())),
    )


def _facts(title: str, facts: tuple[tuple[str, str], ...]) -> Grid:
    return Grid(
        title=title,
        caption="",
        columns=FACT_COLUMNS,
        rows=tuple(text(label, value) for label, value in facts)
        or (text("—", "the record says nothing of it"),),
    )


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
