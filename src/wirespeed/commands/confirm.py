"""`wirespeed confirm`: keep what `apply --try` did."""

from collections.abc import Mapping
from pathlib import Path

import click

from wirespeed.apply.hands_shell import ShellHands
from wirespeed.apply.run import Run, open_run
from wirespeed.apply.run_place import run_folder
from wirespeed.commands.break_lock import break_lock
from wirespeed.host.clock import utc_now
from wirespeed.model.error import InputError
from wirespeed.model.journal import Begun, Ended, tried_s
from wirespeed.model.plan import Plan
from wirespeed.runs import tryout
from wirespeed.runs.hosts_of_spec import hands_of
from wirespeed.runs.run_hosts import Taken, put_back, rebooted, spec_of_run, taken
from wirespeed.terminal import echo


@click.command()
@click.argument("spec", metavar="SPEC|RUN", type=click.Path(path_type=Path))
@click.option("--run", "folder", type=click.Path(path_type=Path), help="Folder of the journal.")
@break_lock
def confirm(spec: Path, folder: Path | None, breaks_lock: bool) -> int:
    """Keep what `wirespeed apply --try` did: no host takes it back from here on.

    Every host is asked by a new connection. Where one has taken the run back already, so are the
    others.

    Exit codes: 0 kept; 1 too late, all of it was taken back; 2 bad input; 3 a host was left
    changed.
    """  # fmt: skip
    with open_run(folder or run_folder(spec), must_exist=True, breaks=breaks_lock) as run:
        if run.plan is None or run.outcome != "unconfirmed":
            raise InputError(
                "try.nothing_waits",
                where=str(run.folder),
                found=f"its run is {run.outcome}",
                so="nothing waits to be confirmed",
                next=f"wirespeed status {spec}",
            )
        with hands_of(spec_of_run(spec, run.spec)) as hands:
            keep(run, run.plan, hands, str(spec))
    return 0


def refuse_gone(run: Run, plan: Plan, hands: Mapping[str, ShellHands], name: str) -> None:
    """Take a run back on every host where one has done so by itself: raises `try.went_back`.

    Else each host's timer counts afresh.
    """
    with taken(run, hands) as held:
        gone = tryout.gone_back(run, plan, hands)
        if not gone:
            return
        put_back(run, plan, hands, name, held)
    raise tryout.went_back(gone, tried_s(run.entries), name)


def keep(run: Run, plan: Plan, hands: Mapping[str, ShellHands], name: str) -> None:
    """Confirm a run on all its hosts. Raises ApplyError `try.went_back` where it is too late."""
    with taken(run, hands) as held:
        gone = tryout.gone_back(run, plan, hands) or tryout.end(run, plan, hands)
        if not gone:
            run.write(Ended(at=utc_now(), outcome="applied"))
            echo("kept: no host takes it back")
            _tell_rebooted(run, held, name)
            return
        put_back(run, plan, hands, name, held)
    raise tryout.went_back(gone, tried_s(run.entries), name)


def _tell_rebooted(run: Run, held: Taken, name: str) -> None:
    begun = [entry for entry in run.entries if isinstance(entry, Begun)]
    if since := rebooted(begun[-1].boot_ids if begun else {}, held.boot_ids):
        echo(
            f"{', '.join(sorted(since))}: rebooted since, so that what a boot forgets is gone: "
            f"wirespeed drift {name}",
            err=True,
        )
