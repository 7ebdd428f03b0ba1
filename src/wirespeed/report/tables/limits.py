"""What limited each result, with the counters that say so."""

from wirespeed.report import format as fmt
from wirespeed.report.grid import Grid, columns, text
from wirespeed.report.page import DutSection
from wirespeed.report.tables.rows import labelled


def limits(dut: DutSection) -> Grid:
    """Tabulate what limited each result, with its evidence."""
    rows = []
    for frame, r in labelled(dut):
        o = r.outcome
        evidence = list(o.limit.evidence)
        if o.loss_floor is not None:
            evidence.append(f"loss floor {fmt.ratio(o.loss_floor)}: no load removed it")
        rows.append((frame, *text(o.limit.by, "; ".join(evidence) or "—")))
    return Grid(
        title="What limited it",
        caption="What kept the throughput from being higher, and the counters that say so.",
        columns=columns(
            "Frame, B", "Limited by", "Evidence", words=("Limited by",), wraps=("Evidence",)
        ),
        rows=tuple(rows),
    )
