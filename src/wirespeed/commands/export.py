"""`wirespeed export`: the doctor's answer about this host as OpenMetrics, for Prometheus."""

from pathlib import Path

import click

from wirespeed.commands.described import Described
from wirespeed.commands.quantities import AddressPort
from wirespeed.commands.shared_options import purpose_option
from wirespeed.host.closing import until_stopped
from wirespeed.host.files import write_result
from wirespeed.host.reach_destination import HERE
from wirespeed.model.error import InputError
from wirespeed.model.question import Purpose, Question
from wirespeed.terminal import echo


@click.command(
    cls=Described,
    reads="the host, as doctor does",
    changes="nothing; the file that --textfile names",
    codes={
        0: "exported, whatever was found; with --listen, stopped by SIGTERM",
        2: "bad input, or a host that could not be read",
    },
)
@click.argument("host", default=HERE)
@purpose_option
@click.option(
    "--listen",
    type=AddressPort(),
    help="Address and port to serve over HTTP, read at most once a minute: 127.0.0.1:9477.",
)
@click.option(
    "--textfile",
    type=click.Path(path_type=Path),
    help="File for node_exporter's textfile collector, replaced as a whole: NAME.prom.",
)
def export(
    host: str, purpose: str | None, listen: tuple[str, int] | None, textfile: Path | None
) -> int:
    """Export a host's ceilings and findings as OpenMetrics, at most 60 series per port.

    HOST is as for doctor. The series are printed; with --textfile written to a file, for a systemd
    timer or cron; with --listen served until wirespeed is stopped, to 16 clients at a time that
    have 10 s each.
    """
    # Only here: what judges hosts takes longer to load than a help.
    from wirespeed.report.export_text import metrics_text
    from wirespeed.runs.export_run import diagnosed, serve

    question = Question(purpose=Purpose(purpose) if purpose else None)
    if listen is not None:
        if textfile is not None:
            raise InputError(
                "options.invalid",
                where="--listen",
                found="--textfile is given too",
                next="give one of them",
            )
        with until_stopped():
            serve(host, question, *listen)
        return 0
    text = metrics_text(diagnosed(host, question))
    if textfile is None:
        echo(text, nl=False)
    else:
        write_result(textfile, text)
    return 0
