"""How a throughput was found: the bracket of the search, its tolerance, its cost."""

from wirespeed.model.trial import Outcome
from wirespeed.report import format as fmt
from wirespeed.report.grid import Cell, Grid, Notes, columns
from wirespeed.report.page import DutSection, Missing
from wirespeed.report.tables.rows import known, labelled

NONE_PASSED = Missing(reason="no load that was tried passed")
NONE_FAILED = Missing(reason="no load that was tried failed", shown="none failed")


def search(dut: DutSection) -> Grid:
    """Tabulate the search: its bracket, its tolerance, its cost."""
    notes, rows = Notes(), []
    for frame, r in labelled(dut):
        o = r.outcome
        rows.append(
            (
                frame,
                Cell(text=o.method),
                _ended(o, notes),
                notes.cell(known(o.found_load_pps, NONE_PASSED), fmt.mpps),
                notes.cell(known(o.upper_load_pps, NONE_FAILED), fmt.mpps),
                notes.cell(r.tolerance, lambda t: f"{fmt.significant(t * 100, 2)} %"),
                Cell(text=f"{fmt.significant(o.goal_width * 100, 2)} %"),
                Cell(text=fmt.count(o.trials)),
                Cell(text=fmt.count(o.invalid_trials)),
                Cell(text=fmt.seconds(o.seconds)),
            )
        )
    return Grid(
        title="How it was found",
        caption="Tolerance: how far the lowest load that failed lies above the "
        "throughput, as a part of it.",
        columns=columns(
            "Frame, B",
            "Method",
            "Ended by",
            "Search found, Mpps",
            "Lowest that failed, Mpps",
            "Tolerance",
            "Goal",
            "Trials",
            "Invalid trials",
            "Took",
            words=("Method", "Ended by"),
        ),
        rows=tuple(rows),
        notes=notes.all,
    )


def _ended(outcome: Outcome, notes: Notes) -> Cell:
    """Show the verdict, and below the table all that the search had to say."""
    note = notes.number("; ".join(outcome.notes)) if outcome.notes else None
    return Cell(text=outcome.verdict, note=note)
