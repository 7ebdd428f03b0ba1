"""Loads at a loss ratio above zero, kept apart from throughput."""

from wirespeed.report import format as fmt
from wirespeed.report.grid import Grid, columns, text
from wirespeed.report.page import DutSection
from wirespeed.report.tables.rows import labelled


def partial_drop(dut: DutSection) -> Grid | None:
    """Tabulate the loads at a loss ratio above zero; None where no search asked."""
    rows = [
        (frame, *text(fmt.mpps(o.pdr_load_pps), fmt.ratio(o.pdr_loss_ratio)))
        for frame, r in labelled(dut)
        if (o := r.outcome).pdr_load_pps is not None and o.pdr_loss_ratio is not None
    ]
    if not rows:
        return None
    return Grid(
        title="Partial drop",
        caption="The highest load that lost no more than this part of its frames. "
        "This is not throughput.",
        columns=columns("Frame, B", "PDR load, Mpps", "At a loss ratio of"),
        rows=tuple(rows),
    )
