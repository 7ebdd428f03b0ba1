"""A file of JSON lines of one type, read again: the trials of a run, or of a workload."""

import math
from pathlib import Path
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from wirespeed.host.files import is_file
from wirespeed.host.jsonl import read_lines
from wirespeed.model.error import InputError
from wirespeed.model.json_value import read_json

Record = TypeVar("Record")


MOST, LEAST = 1e19, 1e-19
"""Counts are of 64 bits, times in nanoseconds or seconds: what is beyond was never measured."""


def _number(text: str) -> float:
    """Take a number that a run can hold. Raises ValueError."""
    number = float(text)
    if not math.isfinite(number) or abs(number) > MOST or 0 < abs(number) < LEAST:
        raise ValueError(f"{text[:40]} is not a number that can be measured")
    return number


def check_numbers(line: str) -> None:
    """Raise ValueError for a line of JSON with a number that nothing measures, or with none."""
    read_json(line, parse_int=_number, parse_float=_number, parse_constant=_number)


def read_record_lines(path: Path, adapter: TypeAdapter[Record]) -> list[Record]:
    """Give all records; empty if there is no such file.

    Raises InputError `run.not_readable` for a line that is no record.
    """
    if not is_file(path):
        return []
    records = []
    for number, line in enumerate(read_lines(path), 1):
        try:
            record = adapter.validate_json(line)
            check_numbers(line)
            records.append(record)
        except (RecursionError, ValueError) as error:
            found = error.errors()[0]["msg"] if isinstance(error, ValidationError) else str(error)
            raise InputError(
                "run.not_readable",
                where=f"{path}, line {number}",
                found=found,
                so="the run cannot be read without guessing",
                next="use the release that wrote it, or remove the line",
            ) from None
    return records
