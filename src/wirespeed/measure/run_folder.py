"""A run on disk: `trials.jsonl`, one record a line, enough to make every report again."""

from pathlib import Path

from pydantic import ValidationError

from wirespeed.host.files import is_file
from wirespeed.host.jsonl import read_lines
from wirespeed.model.error import InputError
from wirespeed.model.trial import Record, Setup, Started, record_adapter

TRIALS = "trials.jsonl"


def read_records(folder: Path) -> list[Record]:
    """Give all records of the run in `folder`; empty if there is no such file.

    Raises InputError `run.not_readable` for a line that is no record.
    """
    path = folder / TRIALS
    if not is_file(path):
        return []
    records = []
    for number, line in enumerate(read_lines(path), 1):
        try:
            records.append(record_adapter.validate_json(line))
        except ValidationError as error:
            raise InputError(
                "run.not_readable",
                where=f"{path}, line {number}",
                found=error.errors()[0]["msg"],
                so="the run cannot be read without guessing",
                next="use the release that wrote it, or remove the line",
            ) from None
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
