"""What a comparison leaves in its folder, and the page that is made of these files alone."""

from pathlib import Path

from pydantic import Field, ValidationError

from wirespeed.host.files import (
    is_file,
    make_folder,
    read_text,
    remove_file,
    write_private_result,
    write_whole,
)
from wirespeed.measure.bench.run_folder import read_records
from wirespeed.model.error import InputError
from wirespeed.model.frozen import Frozen
from wirespeed.model.json_value import read_record
from wirespeed.model.spec.members import AnySpec
from wirespeed.model.trial import Outcome
from wirespeed.report.comparison import Comparison, NotShown, Rfc2544
from wirespeed.report.comparison_document import comparison_document
from wirespeed.report.document_html import render_html
from wirespeed.report.document_markdown import render_markdown
from wirespeed.report.proof_csv import render_proof_csv
from wirespeed.report.proof_page import Proof
from wirespeed.runs.prove_folder import STAGES, is_proof, read_proof

RECORD = "comparison.json"
REPORT = "report.html"
PATHS_FOLDER = "rfc2544"
"""Runs of `wirespeed measure rfc2544`, one for each approach that has a path in software."""


class Failed(Frozen):
    """Why an approach was not shown."""

    what: str
    found: str
    next: str = ""


class ComparisonRecord(Frozen):
    """What the folders of the approaches do not say themselves."""

    spec_name: str
    spec: AnySpec
    approaches: tuple[str, ...]
    """In the order in which they were built."""
    failed: dict[str, Failed] = Field(default_factory=dict)
    paths_why_not: dict[str, str] = Field(default_factory=dict)
    """Why RFC 2544 was not measured through a path, or not with all frames."""


def is_comparison(folder: Path) -> bool:
    """Tell whether `wirespeed compare` wrote to a folder."""
    return is_file(folder / RECORD)


def forget(folder: Path, approaches: tuple[str, ...]) -> None:
    """Remove what an earlier comparison said, so that it is not taken for this one's."""
    for path in (RECORD, *(f"{one}/{name}" for one in approaches for name in (STAGES, REPORT))):
        remove_file(folder / path)


def write_record(folder: Path, record: ComparisonRecord) -> None:
    """Write it down."""
    write_whole(folder / RECORD, record.model_dump_json(indent=1) + "\n")


def write_comparison_reports(folder: Path, out: Path | None = None) -> Comparison:
    """Write page, Markdown and CSV of the comparison in `folder` to `out`, or beside it."""
    comparison = read_comparison(folder)
    where = out or folder
    make_folder(where)
    page = comparison_document(comparison)
    write_private_result(where / REPORT, render_html(page))
    write_private_result(where / "report.md", render_markdown(page))
    write_private_result(where / "results.csv", render_proof_csv(*comparison.proofs))
    return comparison


def read_comparison(folder: Path) -> Comparison:
    """Read all that is there. Raises InputError `run.not_readable`, `file.unreadable`."""
    try:
        record = read_record(ComparisonRecord, read_text(folder / RECORD))
    except ValidationError as error:
        raise InputError(
            "run.not_readable",
            where=str(folder / RECORD),
            found=error.errors()[0]["msg"],
            so="the report cannot be made without guessing",
            next="use the wirespeed release that wrote it",
        ) from None
    return Comparison(
        record.spec_name,
        tuple(_one(folder, record, approach) for approach in record.approaches),
        record.spec,
        Rfc2544(
            tuple(
                one
                for approach in record.approaches
                for one in read_records(folder / PATHS_FOLDER / approach)
                if isinstance(one, Outcome)
            ),
            record.paths_why_not,
        ),
    )


def _one(folder: Path, record: ComparisonRecord, approach: str) -> Proof | NotShown:
    where = folder / approach
    failed = record.failed.get(approach)
    if failed is None and is_proof(where):
        return read_proof(where)
    failed = failed or Failed(what="run.not_come_to", found="it was stopped before this approach")
    has_page = is_proof(where)
    return NotShown(approach, failed.what, failed.found, failed.next, has_page=has_page)
