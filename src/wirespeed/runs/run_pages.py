"""The pages of a run folder of the bench: made of its records and of what the doctor said."""

from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from wirespeed.host.files import is_file, make_folder, read_text, write_result
from wirespeed.measure.bench.run_folder import merged, read_records
from wirespeed.model.finding import Diagnosis, Unanswered
from wirespeed.model.json_value import read_record
from wirespeed.report.beside_published import with_published
from wirespeed.report.build import build_page
from wirespeed.report.csv_table import render_csv
from wirespeed.report.document_html import render_html
from wirespeed.report.document_markdown import render_markdown
from wirespeed.report.page_document import page_document
from wirespeed.report.published_report import PublishedTest

FINDINGS = "findings.json"
"""In a run folder: what the doctor said of the machine before the run."""


ANSWER: TypeAdapter[Diagnosis | Unanswered] = TypeAdapter(Diagnosis | Unanswered)


def write_reports(
    folder: Path, out: Path | None = None, beside: PublishedTest | None = None
) -> None:
    """Write page, Markdown and CSV of the run in `folder` to `out`, or beside it.

    With `beside`, page and Markdown hold that test's figures too.
    """
    page = build_page(merged(read_records(folder)), read_answer(folder))
    document = page_document(page)
    if beside is not None:
        document = with_published(document, page.runs[0], beside)
    where = out or folder
    make_folder(where)
    write_result(where / "report.html", render_html(document))
    write_result(where / "report.md", render_markdown(document))
    write_result(where / "results.csv", render_csv(page))


def read_answer(folder: Path) -> Diagnosis | Unanswered | None:
    """Give what the doctor said when the run began; None for a run that did not ask it."""
    path = folder / FINDINGS
    if not is_file(path):
        return None
    try:
        return read_record(ANSWER, read_text(path))
    except ValidationError as error:
        # The trials are what a report is about: they must not be held up by this.
        found = f"{path}: {error.errors()[0]['msg']}"
        return Unanswered(host="here", what="findings.not_readable", found=found)
