"""Every table of one DUT, in reading order."""

from wirespeed.report.grid import Grid
from wirespeed.report.page import DutSection
from wirespeed.report.tables.latency import latency
from wirespeed.report.tables.ledger import ledger
from wirespeed.report.tables.limits import limits
from wirespeed.report.tables.partial_drop import partial_drop
from wirespeed.report.tables.repeats import repeats
from wirespeed.report.tables.search import search
from wirespeed.report.tables.throughput import throughput


def answer_grids(dut: DutSection) -> tuple[Grid, ...]:
    """Tell what was found, what limited it and its latency; empty tables are left out."""
    if not dut.results:
        return ()
    made = (throughput(dut), limits(dut), repeats(dut), partial_drop(dut), latency(dut))
    return tuple(grid for grid in made if grid is not None)


def account_grids(dut: DutSection) -> tuple[Grid, ...]:
    """Tell what the answer rests on: the ledger and the search."""
    return (ledger(dut), search(dut)) if dut.results else ()
