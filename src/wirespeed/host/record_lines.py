"""A file of JSON lines of one type, read again: the trials of a run, or of a workload."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from wirespeed.host.files import is_file
from wirespeed.host.jsonl import read_lines
from wirespeed.model.error import InputError
from wirespeed.model.json_value import read_record

Record = TypeVar("Record")


MOST, LEAST, DIGITS = 1e19, 1e-19, 19
"""Counts are of 64 bits, times in nanoseconds or seconds: what is beyond was never measured."""


def _float(text: str) -> float:
    """Take a number that a run can hold. Raises ValueError."""
    number = float(text)
    if not math.isfinite(number) or abs(number) > MOST or 0 < abs(number) < LEAST:
        raise ValueError(f"{text[:40]} is not a number that can be measured")
    return number


def _int(text: str) -> int:
    if len(text) > DIGITS:
        _float(text)
    return int(text)


NUMBERS: dict[str, Callable[[str], float]] = {
    "parse_int": _int, "parse_float": _float, "parse_constant": _float
}  # fmt: skip


def read_record_lines(path: Path, adapter: TypeAdapter[Record]) -> list[Record]:
    """Give all records; empty if there is no such file.

    Raises InputError `run.not_readable` for a line that is no record.
    """
    if not is_file(path):
        return []
    records = []
    for number, line in enumerate(read_lines(path), 1):
        try:
            records.append(read_record(adapter, line, **NUMBERS))
        except ValidationError as error:
            raise InputError(
                "run.not_readable",
                where=f"{path}, line {number}",
                found=error.errors()[0]["msg"],
                so="the run cannot be read without guessing",
                next="use the release that wrote it, or remove the line",
            ) from None
    return records
