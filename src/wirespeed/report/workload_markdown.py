"""A workload's trials as Markdown. Pure."""

import shlex
from collections.abc import Iterator, Sequence

from wirespeed.measure.workload.folder import Labelled
from wirespeed.measure.workload.pair import Pair, figures, spread
from wirespeed.model.shown import shown
from wirespeed.report import workload_answer as say
from wirespeed.report.document_markdown import escape
from wirespeed.report.workload_rows import beside, watched_failures


def workload_markdown(labels: Sequence[Labelled], pair: Pair | None) -> str:
    """Give all labels with their trials, and the answer where two are compared."""
    lines = ["# A workload, measured", ""]
    if pair is not None:
        lines += _answer(pair)
    lines += _summary(labels)
    lines += _beside(labels)
    for one in labels:
        lines += _trials(one)
    return "\n".join(lines) + "\n"


def _answer(pair: Pair) -> Iterator[str]:
    before, after = pair.before.workload.label, pair.after.workload.label
    yield f"**{escape(before)} against {escape(after)}: {escape(say.answer(pair))}**"
    yield ""
    yield f"- Difference: {escape(say.difference(pair))}; {say.direction(pair)}."
    yield f"- Spread: {escape(say.spread_sentence(pair))}."
    for note in say.notes(pair):
        yield f"- {escape(note)}"
    yield ""


def _summary(labels: Sequence[Labelled]) -> Iterator[str]:
    yield f"| {escape(labels[0].workload.unit)} | median | min | max | n | failed |"
    yield "|---|---:|---:|---:|---:|---:|"
    for one in labels:
        values = spread(figures(one))
        cells = ["", "", ""]
        if values is not None:
            cells = [say.figure(v) for v in (values.median, values.least, values.most)]
        n = values.n if values else 0
        failed = len(one.trials) - n
        yield f"| {escape(one.workload.label)} | {' | '.join(cells)} | {n} | {failed} |"
    yield ""


def _beside(labels: Sequence[Labelled]) -> Iterator[str]:
    rows = beside(labels)
    if rows:
        yield "Beside it, the median of the trials:"
        yield ""
        yield f"| host | | {' | '.join(escape(one.workload.label) for one in labels)} |"
        yield f"|---|---|{'---:|' * len(labels)}"
        for row in rows:
            yield f"| {escape(row.host)} | {escape(row.what)} | {' | '.join(row.values)} |"
        yield ""
    failures = watched_failures(labels)
    yield from (f"- Not read to its end: {escape(failure)}" for failure in failures)
    if failures:
        yield ""


def _trials(one: Labelled) -> Iterator[str]:
    workload = one.workload
    yield f"## {escape(workload.label)}"
    yield ""
    yield f"    {shown(shlex.join(workload.argv))}"
    yield ""
    yield f"Begun {workload.started_at}, wirespeed {workload.wirespeed}."
    yield ""
    yield f"| trial | {escape(workload.unit)} | seconds | what it said |"
    yield "|---:|---:|---:|---|"
    for trial in one.trials:
        figure = "failed" if trial.figure is None else say.figure(trial.figure)
        said = trial.line
        if trial.figure is None:
            said = ": ".join(filter(None, (trial.failed, " / ".join(trial.said))))
        yield f"| {trial.number} | {figure} | {trial.seconds:.2f} | {escape(said)} |"
    yield ""
