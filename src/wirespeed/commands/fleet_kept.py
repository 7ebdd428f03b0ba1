"""`wirespeed fleet history`, `diff`, `record`, `gate`, `parquet`: what a database has kept."""

from pathlib import Path

import click

from wirespeed.commands.described import Described
from wirespeed.commands.quantities import FiniteRange
from wirespeed.host.clock import utc_now
from wirespeed.host.files import make_folder
from wirespeed.model.error import InputError
from wirespeed.model.shown import shown
from wirespeed.report.text_lines import clip
from wirespeed.terminal import echo

database_option = click.option(
    "--database",
    metavar="URL",
    envvar="WIRESPEED_DATABASE",
    help="sqlite:///FILE or postgresql://USER@HOST/NAME; WIRESPEED_DATABASE.  "
    "[default: ~/.local/state/wirespeed/fleet.sqlite]",
)
READS = "the database"
NOTHING = "nothing, except to upgrade an older database schema"


@click.command(cls=Described, reads=READS, changes=NOTHING, codes={0: "listed", 2: "bad input"})
@click.argument("host", required=False)
@database_option
def history(host: str | None, database: str | None) -> int:
    """List the kept runs, or the state of HOST in each of them."""
    from wirespeed.runs.store.database import opened
    from wirespeed.runs.store.keep import host_history, kept_runs

    with opened(database) as connection:
        if host is None:
            for run in kept_runs(connection):
                said = f"{run.hosts} hosts, {run.well} well, {run.causes} causes"
                echo(clip(f"{run.id:>5}  {run.at[:19]}  {said:<34}  {shown(run.source)}", 80))
            return 0
        for run, was in host_history(connection, host):
            rules = ", ".join(sorted(was.rules)) or was.what
            echo(clip(f"{run.id:>5}  {run.at[:19]}  {was.state:<13}  {shown(rules)}", 80))
    return 0


@click.command(
    cls=Described,
    reads=READS,
    changes=NOTHING,
    codes={0: "nothing changed", 1: "something changed", 2: "bad input"},
)
@click.argument("before", type=int, required=False)
@click.argument("after", type=int, required=False)
@click.option("--verbose", is_flag=True, help="Show every change and every host.")
@database_option
def diff(before: int | None, after: int | None, verbose: bool, database: str | None) -> int:
    """Show what changed between two runs, by default the last two.

    Hosts, their states, findings and settings are compared; changes that affect most hosts come
    first.
    """
    from wirespeed.fleet.changes import changes
    from wirespeed.report.fleet_kept_text import change_lines
    from wirespeed.runs.store.database import opened
    from wirespeed.runs.store.keep import kept_runs, then

    with opened(database) as connection:
        numbers = [run.id for run in kept_runs(connection)]
        if before is None and len(numbers) < 2:
            raise InputError(
                "fleet.no_run",
                where="fleet diff",
                found=f"a comparison needs two kept runs; there are {len(numbers)}",
                next="run `wirespeed fleet doctor` again",
            )
        last = numbers[-1] if numbers else 0
        first = numbers[-2] if before is None else before
        one, other = then(connection, first), then(connection, last if after is None else after)
    rows = changes(one, other)
    echo(f"{one.at[:19]} -> {other.at[:19]}, hosts of each change:")
    echo("\n".join(change_lines(rows, verbose=verbose)))
    return int(bool(rows))


@click.command(
    cls=Described, reads="nothing", changes="the database", codes={0: "kept", 2: "bad input"}
)
@click.argument("name")
@click.argument("values", nargs=-1, required=True, type=float, metavar="VALUE...")
@click.option("--unit", default="", help="Unit of the values: Gb/s, us, Mpps.")
@click.option("--host", default="", help="Host on which they were measured.")
@database_option
def record(name: str, values: tuple[float, ...], unit: str, host: str, database: str | None) -> int:
    """Record measured values of a figure for `fleet gate`."""
    from wirespeed.runs.store.database import opened
    from wirespeed.runs.store.keep import keep_figures

    if bad := [value for value in values if value != value or abs(value) == float("inf")]:
        raise InputError(
            "options.invalid",
            where="VALUE",
            found=f"{bad[0]} is not a finite number",
            next="give numbers, such as 98.1 98.3",
        )
    with opened(database) as connection:
        keep_figures(connection, utc_now(), name, host, unit, values)
    echo(f"kept {len(values)} of {shown(name, 60)}")
    return 0


@click.command(
    cls=Described,
    reads=READS,
    changes=NOTHING,
    codes={0: "not worse", 1: "worse", 2: "bad input, or too few values to tell"},
)
@click.argument("name")
@click.option("--host", default="", help="Host on which it was measured.")
@click.option("--lower-is-better", is_flag=True, help="Lower values are better, as of latencies.")
@click.option(
    "--alpha",
    default=0.01,
    show_default=True,
    type=FiniteRange(0, 0.5, min_open=True),
    help="Largest p-value at which a figure counts as worse.",
)
@click.option(
    "--new",
    type=click.IntRange(1),
    help="Number of newest values to compare with all before.  [default: those recorded last]",
)
@database_option
def gate(
    name: str,
    host: str,
    lower_is_better: bool,
    alpha: float,
    new: int | None,
    database: str | None,
) -> int:
    """Tell whether the newest values of a figure are worse.

    A rank test; prints n, p and the point of the largest change. CI can use the exit code.
    """
    from wirespeed.fleet.gate import judge_series
    from wirespeed.report.fleet_kept_text import gate_lines
    from wirespeed.runs.store.database import opened
    from wirespeed.runs.store.keep import figure_series

    with opened(database) as connection:
        values, unit = figure_series(connection, name, host)
    if not values:
        raise InputError(
            "figure.unknown",
            where=name,
            found="no value of this figure is kept",
            next=f"wirespeed fleet record {name} VALUE...",
        )
    judged = judge_series(values, lower_is_better=lower_is_better, alpha=alpha, new=new)
    echo("\n".join(gate_lines(name, unit, judged, alpha)))
    return {"not worse": 0, "worse": 1, "cannot tell": 2}[judged.verdict]


@click.command(
    cls=Described,
    reads=READS,
    changes="the files in FOLDER",
    codes={0: "written", 2: "bad input"},
)
@click.argument("folder", type=click.Path(path_type=Path))
@database_option
def parquet(folder: Path, database: str | None) -> int:
    """Write every table of the database to FOLDER, as NAME.parquet."""
    from wirespeed.runs.store.database import opened
    from wirespeed.runs.store.parquet import write_tables

    make_folder(folder)
    with opened(database) as connection:
        for path, rows in write_tables(connection, folder):
            echo(f"{path}: {rows} rows")
    return 0


COMMANDS = (history, diff, record, gate, parquet)
