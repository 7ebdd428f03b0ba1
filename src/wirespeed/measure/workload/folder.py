"""A folder of workloads: `workload.jsonl`, one record a line, of one label or several."""

from collections.abc import Sequence
from pathlib import Path

from wirespeed.host.record_lines import read_record_lines
from wirespeed.model.error import InputError
from wirespeed.model.workload_trial import (
    WORKLOAD_RECORD,
    Labelled,
    Workload,
    WorkloadRecord,
    WorkloadTrial,
)

WORKLOADS = "workload.jsonl"
_SAME = ("unit", "higher_is_better")
"""What two labels must share to be compared."""
_RESUMED = ("argv", "figure", "unit", "higher_is_better", "limit_seconds", "hosts")


def read_workloads(folder: Path) -> list[WorkloadRecord]:
    """Give all records in `folder`; empty if there is no such file.

    Raises InputError `run.not_readable` for a line that is no record.
    """
    return read_record_lines(folder / WORKLOADS, WORKLOAD_RECORD)


def by_label(records: Sequence[WorkloadRecord]) -> tuple[Labelled, ...]:
    """Put trials to their labels, in the order in which the labels began."""
    first: dict[str, Workload] = {}
    for record in records:
        if isinstance(record, Workload):
            first.setdefault(record.label, record)
    trials: dict[str, list[WorkloadTrial]] = {label: [] for label in first}
    for record in records:
        if isinstance(record, WorkloadTrial) and record.label in trials:
            trials[record.label].append(record)
    return tuple(Labelled(workload, tuple(trials[label])) for label, workload in first.items())


def trials_done(records: Sequence[WorkloadRecord], wanted: Workload, *, resume: bool) -> int:
    """Give how many trials of this label are there to go on after.

    Raises InputError `run.exists` without `resume`, `run.differs` where the label is of another
    command, or another label of another unit.
    """
    labels = by_label(records)
    for one in labels:
        _refuse_other(one.workload, wanted, _SAME, "its figures cannot be compared")
    here = next((one for one in labels if one.workload.label == wanted.label), None)
    if here is None:
        return 0
    _refuse_other(here.workload, wanted, _RESUMED, "its trials do not belong together")
    if here.trials and not resume:
        raise InputError(
            "run.exists",
            where=f"label {wanted.label}",
            found=f"{len(here.trials)} trials of that label",
            so="they would be mixed",
            next="continue it with --resume; after a change give another --label; or give "
            "another --out",
        )
    return len(here.trials)


def _refuse_other(was: Workload, now: Workload, fields: Sequence[str], so: str) -> None:
    differs = [
        f"{field} was {getattr(was, field)!r}, is {getattr(now, field)!r}"
        for field in fields
        if getattr(was, field) != getattr(now, field)
    ]
    if differs:
        raise InputError(
            "run.differs",
            where=f"label {was.label}",
            found="; ".join(differs),
            so=so,
            next="give the same options, or another --label or --out",
        )
