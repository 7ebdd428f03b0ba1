"""`wirespeed export`: the doctor's answer about this host as OpenMetrics, for Prometheus."""

from pathlib import Path

import click

from wirespeed.commands.described import Described
from wirespeed.host.files import write_result
from wirespeed.host.reach_destination import HERE
from wirespeed.model.error import HostError
from wirespeed.model.finding import Unanswered
from wirespeed.model.question import Purpose, Question
from wirespeed.terminal import echo


@click.command(
    cls=Described,
    reads="the host, as doctor does",
    changes="nothing; the file that --textfile names",
    codes={0: "exported, whatever was found", 2: "bad input, or a host that could not be read"},
)
@click.argument("host", default=HERE)
@click.option(
    "--for",
    "purpose",
    type=click.Choice([p.value for p in Purpose]),
    help="Purpose of the ports.",
)
@click.option(
    "--textfile",
    type=click.Path(path_type=Path),
    help="File for node_exporter's textfile collector, replaced as a whole: NAME.prom.",
)
def export(host: str, purpose: str | None, textfile: Path | None) -> int:
    """Export a host's ceilings and findings as OpenMetrics, at most 60 series a port.

    Without --textfile they are printed. HOST is what doctor takes; run it by a timer or by cron.
    """
    # Only here: what judges hosts takes longer to load than a help.
    from wirespeed.report.export_text import metrics_text
    from wirespeed.runs.examine import examine

    question = Question(purpose=Purpose(purpose) if purpose else None)
    ((answer, _),) = examine([host], question)
    if isinstance(answer, Unanswered):
        raise HostError(answer.what, where=host, found=answer.found, next=answer.next)
    text = metrics_text(answer)
    if textfile is None:
        echo(text, nl=False)
    else:
        write_result(textfile, text)
    return 0
