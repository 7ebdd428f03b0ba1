"""Where every frame went."""

from wirespeed.model.trial import Outcome
from wirespeed.report import format as fmt
from wirespeed.report.grid import Cell, Column, Grid, Notes, columns, text
from wirespeed.report.page import DutSection, Missing
from wirespeed.report.tables.rows import labelled


def ledger(dut: DutSection) -> Grid:
    """Tabulate one column per place where frames were lost; the counters go into the notes."""
    places = dict.fromkeys(f.place for r in dut.results for f in r.outcome.ledger.lost)
    notes, rows = Notes(), []
    for frame, r in labelled(dut):
        o, ledger = r.outcome, r.outcome.ledger
        at: dict[str, list[Cell]] = {}
        for fate in ledger.lost:
            note = notes.number(f"{fate.place}: {fate.counter}")
            at.setdefault(fate.place, []).append(Cell(text=fmt.count(fate.frames), note=note))
        unread = Missing(reason="the ledger of this frame size does not list this place")
        rows.append(
            (
                frame,
                Cell(text=str(o.ledger_trial), note=_beside(o, notes)),
                *text(
                    fmt.count(ledger.offered_frames),
                    fmt.count(ledger.received_frames),
                ),
                *(_sum_cell(at[p]) if p in at else notes.cell(unread, str) for p in places),
                Cell(text=fmt.count(ledger.unexplained_frames)),
            )
        )
    return Grid(
        title="Where every frame went",
        caption="Sent = received + lost at a named place + unexplained, "
        "in the trial that set the upper bound (or the confirming one where none failed).",
        columns=(
            *columns("Frame, B", "Trial", "Sent", "= Received"),
            *(Column(heading=f"+ {p}") for p in places),
            Column(heading="+ Unexplained"),
        ),
        rows=tuple(rows),
        notes=notes.all,
    )


def _beside(outcome: Outcome, notes: Notes) -> int | None:
    """Note what the DUT's driver counted of losses, by queue and cause; None where nothing rose."""
    told = [
        f"port {of.port}: " + ", ".join(f"{n} {fmt.count(c)}" for n, c in of.of_loss.items())
        for of in outcome.ledger.dut_statistics
        if of.of_loss
    ]
    if not told:
        return None
    return notes.number(f"Trial {outcome.ledger_trial}, DUT's driver counted at " + "; ".join(told))


def _sum_cell(cells: list[Cell]) -> Cell:
    """Keep both figures of a place that two counters tell of, so that the row can be added up."""
    if len(cells) == 1:
        return cells[0]
    return Cell(text=" + ".join(c.text for c in cells), note=cells[-1].note)
