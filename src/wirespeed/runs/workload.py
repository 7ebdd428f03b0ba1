"""A command of the user, run n times while hosts are watched; and its figures side by side."""

from collections.abc import Sequence
from contextlib import ExitStack, closing
from pathlib import Path

from wirespeed.host.files import make_folder, write_result
from wirespeed.host.jsonl import ResultWriter
from wirespeed.host.local import LocalRunner
from wirespeed.host.reach_destination import parse_destination
from wirespeed.measure.workload.folder import (
    WORKLOADS,
    by_label,
    read_workloads,
    trials_done,
)
from wirespeed.measure.workload.pair import Pair, Verdict, compare
from wirespeed.measure.workload.run import run_trials
from wirespeed.measure.workload.watch import CounterSource
from wirespeed.model.error import InputError
from wirespeed.model.shown import shown
from wirespeed.model.workload_trial import Labelled, Workload, WorkloadTrial
from wirespeed.report.document_html import render_html
from wirespeed.report.document_markdown import render_markdown
from wirespeed.report.workload_answer import pair_json
from wirespeed.report.workload_document import workload_document
from wirespeed.report.workload_text import label_lines, pair_lines, trial_line
from wirespeed.runs.access import REACHED, counters_at
from wirespeed.terminal import echo

PAGE, MARKDOWN = "workload.html", "workload.md"


def measure_workload(
    workload: Workload, trials: int, out: Path, *, resume: bool, as_json: bool
) -> None:
    """Run what is still missing of `trials`, and write each. Raises InputError `run.*`."""
    with ExitStack() as stack:
        hosts = {name: _reach(name, stack) for name in workload.hosts}
        make_folder(out)
        # Opened before it is read: nobody else can add to it in between.
        writer = stack.enter_context(closing(ResultWriter(out / WORKLOADS)))
        done = trials_done(read_workloads(out), workload, resume=resume)
        writer.append(workload.model_dump_json())

        def record(trial: WorkloadTrial) -> None:
            line = trial.model_dump_json()
            writer.append(line)
            echo(line if as_json else trial_line(workload, trial))

        run_trials(workload, range(done + 1, trials + 1), LocalRunner(), hosts, record)


def report_workload(out: Path, other: Path | None, *, as_json: bool) -> int:
    """Print and write the figures of a folder, beside another's; give the exit code."""
    labels = _labels(out)
    pair = _pair(labels, other)
    shown_labels = labels if pair is None else (pair.before, *_without(labels, pair.before))
    document = workload_document(shown_labels, pair)
    write_result(out / MARKDOWN, render_markdown(document))
    write_result(out / PAGE, render_html(document))
    if as_json and pair is not None:
        echo(pair_json(pair))
    if not as_json:
        echo()
        echo("\n".join(label_lines(labels) if pair is None else pair_lines(pair)))
        echo(f"\nreport: {out / PAGE}")
    if pair is None:
        return int(any(trial.figure is None for one in labels for trial in one.trials))
    return 0 if pair.verdict is Verdict.BETTER else 1


def _labels(folder: Path) -> tuple[Labelled, ...]:
    labels = tuple(one for one in by_label(read_workloads(folder)) if one.trials)
    if not labels:
        raise InputError(
            "run.missing",
            where=str(folder),
            found=f"no trial in {WORKLOADS}",
            next="wirespeed measure command --out FOLDER … -- COMMAND",
        )
    return labels


def _pair(labels: Sequence[Labelled], other: Path | None) -> Pair | None:
    """Lay the last label beside the last of the other folder, or the first of its own."""
    if other is None:
        return compare(labels[0], labels[-1]) if len(labels) > 1 else None
    before, after = _labels(other)[-1], labels[-1]
    for field in ("unit", "higher_is_better"):
        was, now = getattr(before.workload, field), getattr(after.workload, field)
        if was != now:
            raise InputError(
                "run.differs",
                where=str(other),
                found=f"{field} is {was!r} there, {now!r} here",
                so="the figures of the two runs cannot be compared",
                next="measure again with the same unit and direction, or give another --compare",
            )
    return compare(before, after)


def _without(labels: Sequence[Labelled], one: Labelled) -> tuple[Labelled, ...]:
    return tuple(label for label in labels if label is not one)


def _reach(name: str, stack: ExitStack) -> CounterSource:
    source = counters_at(parse_destination(name), stack)
    if source is None:
        raise InputError(
            "options.invalid",
            where="--on",
            found=f"wirespeed cannot watch {shown(name, 80)}",
            next=REACHED,
        )
    return source
