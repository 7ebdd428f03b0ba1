"""`wirespeed report`: trials.jsonl to a page, again and again."""

from pathlib import Path

import click

from wirespeed.commands.described import Described
from wirespeed.host.files import make_folder, make_result_folder, write_result
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
    changes="report.html, report.md and results.csv in its folder, or in --out",
    codes={0: "written", 2: "bad input"},
)
@click.argument("folder", metavar="FOLDER|SPEC", type=click.Path(path_type=Path))
@click.option(
    "--against", type=click.Path(path_type=Path), help="Folder of a second run, shown side by side."
)
@click.option(
    "--beside",
    metavar="published:1..6",
    help="A test of the report of DPDK 19.08: its figures are laid beside the run's.",
)
@click.option("--out", type=click.Path(path_type=Path), help="Folder for the pages.")
def report(folder: Path, against: Path | None, beside: str | None, out: Path | None) -> int:
    """Make the pages of a run again from its files, or show two runs side by side.

    FOLDER is a run folder of `wirespeed measure`. Of SPEC, or of the folder of its run, the page of
    the last prove or compare is made again. --beside is for results of RFC 2544: those of
    `wirespeed measure`, and of a proof that has them.
    """
    test = _published(beside, against)
    source = source_of(folder)
    if out is None and source.pages != source.folder:
        make_result_folder(source.pages)
    folder, out = source.folder, out or source.pages
    if is_proof(folder) and against is None:
        write_proof_reports(folder, out, test)
        echo(f"report: {(out or folder) / 'report.html'}")
        return 0
    if is_comparison(folder) and against is None:
        if test is not None:
            raise no_bench(folder)
        write_comparison_reports(folder, out)
        echo(f"report: {(out or folder) / 'report.html'}")
        return 0
    records = merged(_existing(folder))
    if against is None:
        write_reports(folder, out or folder, test)
        echo(f"report: {(out or folder) / 'report.html'}")
        return 0
    page = page_document(build_comparison(records, merged(_existing(against))))
    where = out or folder
    make_folder(where)
    write_result(where / "comparison.html", render_html(page))
    write_result(where / "comparison.md", render_markdown(page))
    echo(f"report: {where / 'comparison.html'}")
    return 0


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
