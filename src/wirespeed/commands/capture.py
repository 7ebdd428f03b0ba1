"""`wirespeed capture`: what a host says of itself, as a file."""

from pathlib import Path

import click

from wirespeed.doctor.collector import collector_script
from wirespeed.host.files import write_text
from wirespeed.host.local import LocalRunner


@click.command()
@click.option("--script", "bare", is_flag=True, help="Print the collector, to carry it to a host.")
@click.option("--out", type=click.Path(path_type=Path), help="File to write; else it is printed.")
def capture(bare: bool, out: Path | None) -> None:
    """Read this host and write what was read to a file."""
    if bare:
        click.echo(collector_script(), nl=False)
        return
    text = LocalRunner().run(["sh", "-c", collector_script()]).output
    if out is None:
        click.echo(text, nl=False)
    else:
        write_text(out, text)
