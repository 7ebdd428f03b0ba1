"""A file of JSON lines of one type, read again: the trials of a run, or of a workload."""

from pathlib import Path
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from wirespeed.host.files import is_file
from wirespeed.host.jsonl import read_lines
from wirespeed.model.error import InputError

Record = TypeVar("Record")


def read_record_lines(path: Path, adapter: TypeAdapter[Record]) -> list[Record]:
    """Give all records; empty if there is no such file.

    Raises InputError `run.not_readable` for a line that is no record.
    """
    if not is_file(path):
        return []
    records = []
    for number, line in enumerate(read_lines(path), 1):
        try:
            records.append(adapter.validate_json(line))
        except ValidationError as error:
            raise InputError(
                "run.not_readable",
                where=f"{path}, line {number}",
                found=error.errors()[0]["msg"],
                so="the run cannot be read without guessing",
                next="use the release that wrote it, or remove the line",
            ) from None
    return records
