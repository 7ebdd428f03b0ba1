"""`wirespeed measure command`: whether it helped the thing that you care about."""

import re
from collections.abc import Sequence
from contextlib import ExitStack, closing
from pathlib import Path

import click

from wirespeed import __version__
from wirespeed.host.clock import utc_now
from wirespeed.host.files import make_folder, write_result
from wirespeed.host.jsonl import ResultWriter
from wirespeed.host.local import LocalRunner
from wirespeed.host.reach_destination import HERE, Here, Remote, WindowsHost, parse_destination
from wirespeed.measure.workload.figure import figure_pattern
from wirespeed.measure.workload.folder import (
    WORKLOADS,
    Labelled,
    by_label,
    read_workloads,
    trials_done,
)
from wirespeed.measure.workload.pair import Pair, Verdict, compare
from wirespeed.measure.workload.run import run_trials
from wirespeed.measure.workload.watch import ByPowerShell, Host
from wirespeed.model.error import InputError
from wirespeed.model.shown import shown
from wirespeed.model.workload_trial import Workload, WorkloadTrial
from wirespeed.report.workload_json import pair_json
from wirespeed.report.workload_markdown import workload_markdown
from wirespeed.report.workload_text import label_lines, pair_lines, trial_line
from wirespeed.terminal import echo

REPORT = "workload.md"
LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")


@click.command(name="command", context_settings={"allow_interspersed_args": False})
@click.option("-n", "trials", type=click.IntRange(1, 1000), default=5, show_default=True,
              help="Trials, one after the other.")  # fmt: skip
@click.option("--figure", metavar="PATTERN",
              help="Regular expression whose one group is the figure; the last match counts."
              )  # fmt: skip
@click.option("--unit", help="Of the figure: tok/s, s, Gb/s.")
@click.option("--higher-is-better/--lower-is-better", default=None, help="Which way is good.")
@click.option("--on", "hosts", multiple=True, default=(HERE,), show_default=True,
              help="Host to watch: here, ssh://HOST, winssh://HOST. May be repeated.")  # fmt: skip
@click.option("--limit-seconds", type=click.FloatRange(min=0.1), default=3600.0, show_default=True,
              help="A trial that takes longer is ended, and failed.")  # fmt: skip
@click.option("--label", default="before", show_default=True, help="Such as before, after.")
@click.option("--out", type=click.Path(path_type=Path), required=True,
              help=f"Folder: {WORKLOADS} and {REPORT}.")  # fmt: skip
@click.option("--compare", "other", type=click.Path(path_type=Path),
              help="Folder of the trials before the change, if that is another one.")  # fmt: skip
@click.option("--resume", is_flag=True, help="Go on with this label, up to -n trials.")
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
    """Run a command of yours n times, and see whether a change helped it.

    COMMAND is run as it is, by no shell. Its figure is what --figure finds in its output. With a
    second --label in the same folder, or --compare, both are laid side by side. Without COMMAND,
    what is in the folder is printed again.

    Exit codes: 0 measured, or better by more than the spread; 1 a trial failed, or it is not
    shown to be better; 2 bad input.
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
        _measure(workload, trials, out, resume=resume, as_json=as_json)
    return _report(out, other, as_json=as_json)


def _measure(workload: Workload, trials: int, out: Path, *, resume: bool, as_json: bool) -> None:
    with ExitStack() as stack:
        hosts = {name: _reach(name, stack) for name in workload.hosts}
        make_folder(out)
        # Opened before it is read: nobody else can add to it in between.
        writer = stack.enter_context(closing(ResultWriter(out / WORKLOADS)))
        done = trials_done(read_workloads(out), workload, resume=resume)
        writer.append(workload.model_dump_json())

        def record(trial: WorkloadTrial) -> None:
            line = trial.model_dump_json()
            writer.append(line)
            echo(line if as_json else trial_line(workload, trial))

        run_trials(workload, range(done + 1, trials + 1), LocalRunner(), hosts, record)


def _report(out: Path, other: Path | None, *, as_json: bool) -> int:
    labels = _labels(out)
    pair = _pair(labels, other)
    shown_labels = labels if pair is None else (pair.before, *_without(labels, pair.before))
    write_result(out / REPORT, workload_markdown(shown_labels, pair))
    if as_json and pair is not None:
        echo(pair_json(pair))
    if not as_json:
        echo()
        echo("\n".join(label_lines(labels) if pair is None else pair_lines(pair)))
        echo(f"\nreport: {out / REPORT}")
    if pair is None:
        return int(any(trial.figure is None for one in labels for trial in one.trials))
    return 0 if pair.verdict is Verdict.BETTER else 1


def _labels(folder: Path) -> tuple[Labelled, ...]:
    labels = tuple(one for one in by_label(read_workloads(folder)) if one.trials)
    if not labels:
        raise InputError(
            "run.missing",
            where=str(folder),
            found=f"no trial in a {WORKLOADS}",
            next="wirespeed measure command --out FOLDER … -- COMMAND",
        )
    return labels


def _pair(labels: Sequence[Labelled], other: Path | None) -> Pair | None:
    """Lay the last label beside the last of the other folder, or the first of its own."""
    if other is None:
        return compare(labels[0], labels[-1]) if len(labels) > 1 else None
    before, after = _labels(other)[-1], labels[-1]
    for field in ("unit", "higher_is_better"):
        was, now = getattr(before.workload, field), getattr(after.workload, field)
        if was != now:
            raise InputError(
                "run.differs",
                where=str(other),
                found=f"{field} is {was!r} there, {now!r} here",
                so="their figures cannot be compared",
            )
    return compare(before, after)


def _without(labels: Sequence[Labelled], one: Labelled) -> tuple[Labelled, ...]:
    return tuple(label for label in labels if label is not one)


def _reach(name: str, stack: ExitStack) -> Host:
    place = parse_destination(name)
    if isinstance(place, Here):
        return LocalRunner()
    if isinstance(place, Remote):
        from wirespeed.host.ssh_session import SshSession  # asyncio is not for those who stay here

        return stack.enter_context(SshSession(place))
    if isinstance(place, WindowsHost):
        from wirespeed.host.reach_windows import windows_session

        there = windows_session(place)
        stack.callback(there.close)
        return ByPowerShell(there)
    raise InputError(
        "options.invalid",
        where="--on",
        found=f"{shown(name, 80)} is no host that can be watched",
        next="here, ssh://USER@HOST, winssh://USER@HOST or winrm://USER@HOST",
    )


def _checked_label(label: str) -> str:
    if LABEL.fullmatch(label):
        return label
    raise InputError(
        "options.invalid",
        where="--label",
        found=f"{shown(label, 60)!r} is no label",
        next="letters, digits, dots and dashes: before, after, mtu-9000",
    )


def _missing(figure: str | None, unit: str | None) -> InputError:
    given = {"--figure": figure, "--unit": unit}
    names = [name for name, value in given.items() if value is None]
    return InputError(
        "options.missing",
        where=", ".join(names) or "--higher-is-better or --lower-is-better",
        found="a command, and not what its figure is",
        next="--figure 'throughput: ([0-9.]+) tok/s' --unit tok/s --higher-is-better",
    )
