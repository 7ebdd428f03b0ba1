"""`wirespeed report`: trials.jsonl to a page, again and again."""

from pathlib import Path

import click

from wirespeed.commands.described import Described
from wirespeed.host.files import make_folder, make_result_folder, write_result
from wirespeed.host.print_page import find_browser, print_page
from wirespeed.measure.bench.run_folder import TRIALS, merged, read_records
from wirespeed.model.error import InputError
from wirespeed.model.trial import Record
from wirespeed.report.compare import build_comparison
from wirespeed.report.document_html import render_html
from wirespeed.report.document_markdown import render_markdown
from wirespeed.report.page_document import page_document
from wirespeed.report.published_report import PublishedTest, published_test
from wirespeed.runs.compare_report import is_comparison, write_comparison_reports
from wirespeed.runs.prove_folder import is_proof, no_bench, write_proof_reports
from wirespeed.runs.report_source import source_of
from wirespeed.runs.run_pages import write_reports
from wirespeed.terminal import echo


@click.command(
    cls=Described,
    reads="the files of the run",
    changes="report.html, report.md and results.csv in its folder, or in --out; --pdf's file",
    codes={0: "written", 2: "bad input, or a page that was written but not printed as PDF"},
)
@click.argument("folder", metavar="FOLDER|SPEC", type=click.Path(path_type=Path))
@click.option(
    "--against", type=click.Path(path_type=Path), help="Folder of a second run, shown side by side."
)
@click.option(
    "--beside",
    metavar="published:1..6",
    help="Test of the DPDK 19.08 report whose figures are shown next to the run's.",
)
@click.option(
    "--pdf",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="PDF file to print the page to, with Chromium.",
)
@click.option("--out", type=click.Path(path_type=Path), help="Folder for the pages.")
def report(
    folder: Path, against: Path | None, beside: str | None, pdf: Path | None, out: Path | None
) -> int:
    """Make the pages of a run again from its files, or show two runs side by side.

    FOLDER is a run folder of `wirespeed measure`. With SPEC, or the folder of its run, the page of
    the last prove or compare is made again. --beside needs RFC 2544 results: those of `wirespeed
    measure`, or of a proof that has them.
    """
    test = _published(beside, against)
    browser = None if pdf is None else find_browser()
    page = _written(folder, against, test, out)
    echo(f"report: {page}")
    if browser is not None and pdf is not None:
        print_page(browser, page, pdf)
        echo(f"pdf: {pdf}")
    return 0


def _written(
    folder: Path, against: Path | None, test: PublishedTest | None, out: Path | None
) -> Path:
    """Write the pages, and give the one to be read."""
    source = source_of(folder)
    if out is None and source.pages != source.folder:
        make_result_folder(source.pages)
    folder, out = source.folder, out or source.pages
    if is_proof(folder) and against is None:
        write_proof_reports(folder, out, test)
        return out / "report.html"
    if is_comparison(folder) and against is None:
        if test is not None:
            raise no_bench(folder)
        write_comparison_reports(folder, out)
        return out / "report.html"
    records = merged(_existing(folder))
    if against is None:
        write_reports(folder, out, test)
        return out / "report.html"
    page = page_document(build_comparison(records, merged(_existing(against))))
    make_folder(out)
    write_result(out / "comparison.html", render_html(page))
    write_result(out / "comparison.md", render_markdown(page))
    return out / "comparison.html"


def _published(beside: str | None, against: Path | None) -> PublishedTest | None:
    """Find the test that `--beside` names."""
    if beside is None:
        return None
    if against is not None:
        raise click.UsageError("--beside is for the page of one run: leave --against out")
    return published_test(beside)


def _existing(folder: Path) -> list[Record]:
    records = read_records(folder)
    if not records:
        raise InputError(
            "run.missing",
            where=str(folder),
            found=f"no {TRIALS}",
            next="name a run folder of `wirespeed measure`",
        )
    return records
