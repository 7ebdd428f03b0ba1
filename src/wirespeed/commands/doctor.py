"""`wirespeed doctor`: what holds a card below line rate, and what each fault costs."""

from pathlib import Path

import click

from wirespeed.doctor.collector import collector_script
from wirespeed.doctor.diagnose import diagnose
from wirespeed.host.local import LocalRunner
from wirespeed.model.capture import parse_capture
from wirespeed.model.fact import HostFacts
from wirespeed.model.question import Purpose, Question


@click.command()
@click.argument("file", required=False, type=click.Path(path_type=Path, exists=True))
@click.option("--for", "purpose", type=click.Choice(list(Purpose)), help="What the ports are for.")
def doctor(file: Path | None, purpose: str | None) -> int:
    """Find what holds a card below line rate, and what each fault costs."""
    if file is None:
        text, name = LocalRunner().run(["sh", "-c", collector_script()]).output, "here"
    else:
        text, name = file.read_text(errors="replace"), str(file)
    question = Question(purpose=None if purpose is None else Purpose(purpose))
    diagnosis = diagnose(HostFacts(name, parse_capture(text, name)), question)
    click.echo(diagnosis.model_dump_json(indent=1))
    return 1 if diagnosis.findings else 0
