"""A workload's trials for a terminal of 80 columns. Pure."""

import shlex
from collections.abc import Iterable, Iterator, Sequence

from wirespeed.measure.workload.pair import Pair, figures, spread
from wirespeed.model.shown import shown
from wirespeed.model.workload_trial import Labelled, Workload, WorkloadTrial
from wirespeed.report import format as fmt
from wirespeed.report import workload_answer as say
from wirespeed.report.text_lines import clip, columns_of, pad, wrapped
from wirespeed.report.workload_rows import beside, watched_failures

COLUMNS = 80
_LABEL = 16
_FIGURE = 12
_WHAT = 30


def trial_line(workload: Workload, trial: WorkloadTrial) -> str:
    """Say what one trial came to, as it is there."""
    head = f"{workload.label} {trial.number}: "
    lasted = f" in {fmt.seconds(trial.seconds)}"
    if trial.figure is None:
        return clip(f"{head}failed{lasted}: {shown(trial.failed)}", COLUMNS)
    return clip(f"{head}{say.figure(trial.figure)} {workload.unit}{lasted}", COLUMNS)


def label_lines(labels: Sequence[Labelled]) -> Iterator[str]:
    """Give the figures of each label, why trials failed, and what the hosts did."""
    for one in labels:
        workload = one.workload
        command = shown(shlex.join(workload.argv))
        yield from wrapped(command, COLUMNS, f"{pad(workload.label, _LABEL)} ", " " * (_LABEL + 1))
    yield ""
    yield from _columns("", ("median", "min", "max", "n"))
    for one in labels:
        values = spread(figures(one))
        cells: tuple[str, ...] = ("-",) * 3
        if values is not None:
            cells = tuple(say.figure(value) for value in (values.median, values.least, values.most))
        yield from _columns(one.workload.label, (*cells, str(values.n if values else 0)))
    yield f"in {labels[0].workload.unit}, of trials that count"
    for one in labels:
        for trial in one.trials:
            if trial.figure is None:
                yield ""
                yield trial_line(one.workload, trial)
                yield from (f"  | {clip(line, COLUMNS - 4)}" for line in trial.said)
    yield from _beside(labels)


def pair_lines(pair: Pair) -> Iterator[str]:
    """Give both labels and the answer."""
    yield from label_lines((pair.before, pair.after))
    yield ""
    for head, text in (
        ("difference", f"{say.difference(pair)}; {say.direction(pair)}"),
        ("spread", say.spread_sentence(pair)),
        ("answer", say.answer(pair)),
    ):
        yield from wrapped(text, COLUMNS, pad(head, 12), " " * 12)
    for note in say.notes(pair):
        yield from wrapped(note, COLUMNS, pad("note", 12), " " * 12)


def _beside(labels: Sequence[Labelled]) -> Iterator[str]:
    rows = beside(labels)
    host = ""
    for row in rows:
        if row.host != host:
            host = row.host
            yield ""
            yield from _beside_line(f"beside it, {shown(host, 60)}", [
                one.workload.label for one in labels
            ])  # fmt: skip
        yield from _beside_line(f"  {shown(row.what, 40)}", row.values)
    for failure in watched_failures(labels):
        yield from wrapped(f"not read to its end: {failure}", COLUMNS, "", "  ")


def _beside_line(what: str, values: Iterable[str]) -> Iterator[str]:
    cells = "".join(_right(value, 18) for value in values)
    if columns_of(what) > _WHAT:
        yield clip(what, COLUMNS)
        what = ""
    yield f"{pad(what, _WHAT)}{cells}".rstrip()


def _columns(label: str, cells: Sequence[str]) -> Iterator[str]:
    *wide, number = cells
    yield f"{pad(label, _LABEL)}{''.join(_right(c, _FIGURE) for c in wide)}{_right(number, 5)}"


def _right(text: str, columns: int) -> str:
    clipped = clip(text, columns - 1)
    return " " * (columns - columns_of(clipped)) + clipped
