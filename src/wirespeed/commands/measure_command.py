"""`wirespeed measure command`: whether it helped the thing that you care about."""

import re
from pathlib import Path

import click

from wirespeed import __version__
from wirespeed.commands.described import Described
from wirespeed.commands.quantities import FiniteRange
from wirespeed.host.clock import utc_now
from wirespeed.host.reach_destination import HERE
from wirespeed.measure.workload.figure import figure_pattern
from wirespeed.measure.workload.folder import (
    WORKLOADS,
)
from wirespeed.model.error import InputError
from wirespeed.model.shown import shown
from wirespeed.model.workload_trial import Workload
from wirespeed.runs.workload import PAGE, measure_workload, report_workload

LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")


@click.command(
    name="command",
    cls=Described,
    context_settings={"allow_interspersed_args": False},
    reads="the state of each --on host, before and after the trials",
    changes="the folder --out; else only what COMMAND changes",
    codes={
        0: "measured, or better by more than the spread",
        1: "a trial failed, or an improvement is not shown",
        2: "bad input",
    },
)
@click.option("-n", "trials", type=click.IntRange(1, 1000), default=5, show_default=True,
              help="Number of trials, one after the other.")  # fmt: skip
@click.option("--figure", metavar="PATTERN",
              help="Regular expression with one group, which is the figure; the last match counts."
              )  # fmt: skip
@click.option("--unit", help="Unit of the figure: tok/s, s, Gb/s.")
@click.option(
    "--higher-is-better/--lower-is-better",
    default=None,
    help="Whether a higher or a lower figure is better.",
)
@click.option("--on", "hosts", multiple=True, default=(HERE,), show_default=True,
              help="Host to watch: here, ssh://HOST, winssh://HOST. May be repeated.")  # fmt: skip
@click.option("--limit-seconds", type=FiniteRange(min=0.1), default=3600.0, show_default=True,
              help="Seconds after which a trial is killed and counts as failed.")  # fmt: skip
@click.option(
    "--label",
    default="before",
    show_default=True,
    help="Label of these trials, such as before or after.",
)
@click.option("--out", type=click.Path(path_type=Path), required=True,
              help=f"Folder: {WORKLOADS} and {PAGE}.")  # fmt: skip
@click.option("--compare", "other", type=click.Path(path_type=Path),
              help="Folder of the trials before the change, if it is not --out.")  # fmt: skip
@click.option("--resume", is_flag=True, help="Continue this label, up to -n trials.")
@click.option("--json", "as_json", is_flag=True, help="Print every record as a JSON line.")
@click.argument("argv", nargs=-1, type=click.UNPROCESSED, metavar="[-- COMMAND…]")
def command(
    *,
    trials: int,
    figure: str | None,
    unit: str | None,
    higher_is_better: bool | None,
    hosts: tuple[str, ...],
    limit_seconds: float,
    label: str,
    out: Path,
    other: Path | None,
    resume: bool,
    as_json: bool,
    argv: tuple[str, ...],
) -> int:
    """Run your own command n times, and see whether a change made it better.

    COMMAND is run without a shell. Its figure is what --figure matches in its output. With a second
    --label in the same folder, or with --compare, the results of both are compared. Without
    COMMAND, the results in the folder are printed again.
    """
    if argv:
        if figure is None or unit is None or higher_is_better is None:
            raise _missing(figure, unit)
        workload = Workload(
            label=_checked_label(label),
            argv=argv,
            figure=figure_pattern(figure).pattern,
            unit=shown(unit, 20),
            higher_is_better=higher_is_better,
            limit_seconds=limit_seconds,
            hosts=tuple(dict.fromkeys(hosts)),
            started_at=utc_now(),
            wirespeed=__version__,
        )
        measure_workload(workload, trials, out, resume=resume, as_json=as_json)
    return report_workload(out, other, as_json=as_json)


def _checked_label(label: str) -> str:
    if LABEL.fullmatch(label):
        return label
    raise InputError(
        "options.invalid",
        where="--label",
        found=f"{shown(label, 60)!r} is not a label",
        next="use letters, digits, dots and dashes: before, after, mtu-9000",
    )


def _missing(figure: str | None, unit: str | None) -> InputError:
    given = {"--figure": figure, "--unit": unit}
    names = [name for name, value in given.items() if value is None]
    return InputError(
        "options.missing",
        where=", ".join(names) or "--higher-is-better or --lower-is-better",
        found="the options do not say which figure the command prints",
        next="--figure 'throughput: ([0-9.]+) tok/s' --unit tok/s --higher-is-better",
    )
