"""A run on disk: `trials.jsonl`, one record a line, enough to make every report again."""

from pathlib import Path

from wirespeed.host.record_lines import read_record_lines
from wirespeed.model.error import InputError
from wirespeed.model.trial import Outcome, Record, Setup, Started, Trial, record_adapter

TRIALS = "trials.jsonl"


def read_records(folder: Path) -> list[Record]:
    """Give all records of the run in `folder`; empty if there is no such file.

    Raises InputError `run.not_readable` for a line that is no record.
    """
    return read_record_lines(folder / TRIALS, record_adapter)


def resumable(out: Path, settings: dict[str, str], *, resume: bool) -> list[Record]:
    """Give the records that a run in `out` goes on from; none if nothing is measured there yet.

    Raises InputError `run.exists` without `resume`, `run.differs` if it was begun with other
    settings, and as `read_records`.
    """
    records = read_records(out)
    if not any(isinstance(record, Trial | Outcome) for record in records):
        return []
    if not resume:
        raise InputError(
            "run.exists",
            where=str(out),
            found=f"{TRIALS} of an earlier run",
            so="its trials would be mixed with those of this run",
            next="continue it with --resume, or give another --out",
        )
    setups = [record for record in records if isinstance(record, Setup)]
    if setups and setups[0].settings != settings:
        was = setups[0].settings
        differs = [
            f"{k}: {was.get(k)} then, {v} now" for k, v in settings.items() if was.get(k) != v
        ]
        raise InputError(
            "run.differs",
            where=str(out),
            found="; ".join(differs) or "other settings",
            so="its trials do not belong to this plan",
            next="give the options that it was started with, or another --out",
        )
    return records


def merged(records: list[Record]) -> list[Record]:
    """Put what is known of each DUT and of the tester since it was started into the setup."""
    duts = {r.dut: r.details for r in records if isinstance(r, Started)}
    tester = {label: v for r in records if isinstance(r, Started) for label, v in r.tester.items()}
    return [
        r.model_copy(update={"duts": {**r.duts, **duts}, "tester": {**r.tester, **tester}})
        if isinstance(r, Setup)
        else r
        for r in records
        if not isinstance(r, Started)
    ]
