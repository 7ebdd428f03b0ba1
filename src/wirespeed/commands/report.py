"""`wirespeed report`: trials.jsonl to a page, again and again."""

from pathlib import Path

import click

from wirespeed.host.files import make_folder, write_text
from wirespeed.measure.run_folder import TRIALS, merged, read_records
from wirespeed.model.error import InputError
from wirespeed.model.trial import Record
from wirespeed.report.build import build_page
from wirespeed.report.compare import build_comparison
from wirespeed.report.csv_table import render_csv
from wirespeed.report.html import render_html
from wirespeed.report.markdown import render_markdown


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--against", type=click.Path(path_type=Path), help="A second run, side by side.")
@click.option("--out", type=click.Path(path_type=Path), help="Folder to write to.")
def report(folder: Path, against: Path | None, out: Path | None) -> int:
    """Make the report of a run again from its trials.jsonl, or lay two side by side."""
    records = merged(_existing(folder))
    if against is None:
        write_reports(folder, out or folder)
        click.echo(f"report: {(out or folder) / 'report.html'}")
        return 0
    page = build_comparison(records, merged(_existing(against)))
    where = out or folder
    make_folder(where)
    write_text(where / "comparison.html", render_html(page))
    write_text(where / "comparison.md", render_markdown(page))
    click.echo(f"report: {where / 'comparison.html'}")
    return 0


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


def write_reports(folder: Path, out: Path | None = None) -> None:
    """Write page, Markdown and CSV of the run in `folder` to `out`, or beside it."""
    page = build_page(merged(read_records(folder)))
    where = out or folder
    make_folder(where)
    write_text(where / "report.html", render_html(page))
    write_text(where / "report.md", render_markdown(page))
    write_text(where / "results.csv", render_csv(page))
