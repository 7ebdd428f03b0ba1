"""Latency percentiles of the confirming trials."""

from wirespeed.model.trial import Latency
from wirespeed.report import format as fmt
from wirespeed.report.grid import Cell, Grid, Notes, columns, text
from wirespeed.report.page import DutSection, Missing
from wirespeed.report.tables.rows import labelled

LATENCY_COLUMNS = (
    ("Least", "latency_ns_min"),
    ("p50", "latency_ns_p50"),
    ("p90", "latency_ns_p90"),
    ("p99", "latency_ns_p99"),
    ("p99.9", "latency_ns_p999"),
    ("Most", "latency_ns_max"),
)

OF_RUNS = (
    " A windowed trial is made of several runs of the tester: each percentile is that of the run "
    "where it is highest, and those of all frames together are not above it."
)


def latency_ns(latency: Latency, field: str) -> int:
    """One percentile by its field's name."""
    return int(getattr(latency, field))


def latency(dut: DutSection) -> Grid:
    """Tabulate the percentiles of each confirming trial."""
    notes, rows = Notes(), []
    for frame, r in labelled(dut):
        lat = r.latency
        if isinstance(lat, Missing):
            blank = Cell(text="—", tone="missing")
            cells = (notes.cell(lat, str), *[blank] * (len(LATENCY_COLUMNS) + 1))
        else:
            cells = text(
                *(fmt.microseconds(latency_ns(lat, field)) for _, field in LATENCY_COLUMNS),
                fmt.count(lat.frames),
                lat.source,
            )
        rows.append((frame, *cells))
    return Grid(
        title="Latency at throughput, µs",
        caption="From the stamp in the frame to its judge, over the sound frames of the "
        "confirming trial that have a stamp. Stamps by software count the tester's own queues."
        + (OF_RUNS if any(r.outcome.windows is not None for r in dut.results) else ""),
        columns=columns(
            "Frame, B", *(h for h, _ in LATENCY_COLUMNS), "Frames", "Stamps", words=("Stamps",)
        ),
        rows=tuple(rows),
        notes=notes.all,
    )
