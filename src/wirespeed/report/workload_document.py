"""What the report of a workload says: the answer, each label's figures, then every trial. Pure."""

import shlex
from collections.abc import Iterator, Sequence

from wirespeed.measure.workload.pair import Pair, figures, spread
from wirespeed.model.workload_trial import Labelled, WorkloadTrial
from wirespeed.report import workload_answer as say
from wirespeed.report.document import Block, Code, Document, Items, Section, Text
from wirespeed.report.grid import Cell, Grid, columns, text
from wirespeed.report.workload_rows import beside, watched_failures


def workload_document(labels: Sequence[Labelled], pair: Pair | None) -> Document:
    """Give all labels with their trials, and the answer where two are compared."""
    sections = (
        Section("figures", "Figures", (_figures(labels),)),
        Section("beside", "What the hosts did", tuple(_beside(labels))),
        *(
            Section(f"label-{number}", one.workload.label, tuple(_trials(one)))
            for number, one in enumerate(labels, 1)
        ),
    )
    return Document(
        title="A workload, measured",
        verdict=_verdict(pair) if pair is not None else None,
        lead=(_reasons(pair),) if pair is not None else (),
        sections=tuple(section for section in sections if section.blocks),
        footer="Every figure follows from workload.jsonl.",
    )


def _verdict(pair: Pair) -> Text:
    before, after = pair.before.workload.label, pair.after.workload.label
    return Text(f"{before} against {after}: {say.answer(pair)}")


def _reasons(pair: Pair) -> Items:
    return Items(
        (
            Text(f"Difference: {say.difference(pair)}; {say.direction(pair)}."),
            Text(f"Spread: {say.spread_sentence(pair)}."),
            *map(Text, say.notes(pair)),
        )
    )


def _figures(labels: Sequence[Labelled]) -> Grid:
    rows = []
    for one in labels:
        values = spread(figures(one))
        cells = ("", "", "")
        if values is not None:
            cells = (say.figure(values.median), say.figure(values.least), say.figure(values.most))
        n = values.n if values else 0
        rows.append(text(one.workload.label, *cells, str(n), str(len(one.trials) - n)))
    unit = labels[0].workload.unit
    return Grid(
        title="Figures",
        caption="",
        columns=columns(unit, "median", "min", "max", "n", "failed", words=[unit]),
        rows=tuple(rows),
        look="quiet",
    )


def _beside(labels: Sequence[Labelled]) -> Iterator[Block]:
    names = [one.workload.label for one in labels]
    if rows := beside(labels):
        yield Grid(
            title="Median of the trials",
            caption="",
            columns=columns("host", "what", *names, words=["host", "what"]),
            rows=tuple(text(row.host, row.what, *row.values) for row in rows),
        )
    if failures := watched_failures(labels):
        yield Items(tuple(Text(f"Not read to its end: {failure}") for failure in failures))


def _trials(one: Labelled) -> Iterator[Block]:
    workload = one.workload
    yield Code((shlex.join(workload.argv),))
    yield Text(f"Begun {workload.started_at}, wirespeed {workload.wirespeed}.", "meta")
    yield Grid(
        title=workload.label,
        caption="",
        columns=columns("trial", workload.unit, "seconds", "output", wraps=["output"]),
        rows=tuple(map(_row, one.trials)),
        look="quiet",
    )


def _row(trial: WorkloadTrial) -> tuple[Cell, ...]:
    number, seconds = text(str(trial.number), f"{trial.seconds:.2f}")
    if trial.figure is not None:
        return (number, Cell(text=say.figure(trial.figure)), seconds, Cell(text=trial.line))
    said = ": ".join(filter(None, (trial.failed, " / ".join(trial.said))))
    return (number, Cell(text="failed", tone="alarm"), seconds, Cell(text=said))
