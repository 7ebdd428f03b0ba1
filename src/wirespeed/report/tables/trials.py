"""Every trial of one search."""

from wirespeed.model.trial import Trial
from wirespeed.report import format as fmt
from wirespeed.report.grid import Cell, Grid, columns, text


def trials_grid(title: str, trials: tuple[Trial, ...]) -> Grid:
    """Every trial in the order of the run, the invalid ones with their reasons."""
    rows = []
    for t in trials:
        sums = {
            name: sum(int(getattr(s, name)) for s in t.streams)
            for name in ("reordered_frames", "duplicated_frames", "corrupted_frames")
        }
        rows.append(
            (
                *text(
                    str(t.number),
                    t.purpose,
                    fmt.mpps(t.intended_load_pps),
                    fmt.mpps(t.offered_load_pps),
                    fmt.mpps(t.forwarding_rate_pps),
                    fmt.seconds(t.measured_seconds),
                    fmt.count(t.offered_frames),
                    fmt.count(t.missing_frames),
                    fmt.ratio(t.loss_ratio) if t.offered_frames else "nothing sent",
                    *(fmt.count(n) for n in sums.values()),
                    fmt.microseconds(t.tester.gap_ns_max),
                ),
                Cell(
                    text="valid" if t.valid else f"invalid: {'; '.join(t.invalid_reasons)}",
                    tone="plain" if t.valid else "alarm",
                ),
            )
        )
    return Grid(
        title=title,
        caption="",
        columns=columns(
            "Trial",
            "Purpose",
            "Intended, Mpps",
            "Offered, Mpps",
            "Forwarded, Mpps",
            "Seconds",
            "Frames sent",
            "Missing",
            "Loss ratio",
            "Reordered",
            "Duplicated",
            "Corrupted",
            "Tester's longest gap, µs",
            "Verdict on the tester",
            words=("Purpose",),
            wraps=("Verdict on the tester",),
        ),
        rows=tuple(rows),
        look="quiet",
    )
