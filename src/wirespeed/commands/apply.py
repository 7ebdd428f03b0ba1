"""`wirespeed apply`: carry a plan out, each step read back, and all of it put back on failure."""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path

import click

from wirespeed.apply.executor import Executor
from wirespeed.apply.guard import refuse_cutoff, with_cutoffs
from wirespeed.apply.guard_timer_hands import CONFIRM_WITHIN_S, guarded
from wirespeed.apply.hands_shell import ShellHands
from wirespeed.apply.run import Run, open_run
from wirespeed.commands.hosts_of_spec import hands_of, here_of, planned, read_spec
from wirespeed.host.clock import utc_now
from wirespeed.model.error import InputError
from wirespeed.model.journal import Entry, Result, Undone
from wirespeed.model.plan import Plan
from wirespeed.report.plan_text import plan_lines


@click.command()
@click.argument("spec", type=click.Path(path_type=Path))
@click.option(
    "--run",
    "folder",
    type=click.Path(path_type=Path),
    help="Folder of the journal.  [default: SPEC with .run]",
)
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option(
    "--allow-cutoff",
    is_flag=True,
    help="Also change the port that a host is reached by; the host undoes that itself unless we "
    "can come back.",
)
@click.option(
    "--confirm-within",
    "within_s",
    metavar="SECONDS",
    type=click.IntRange(10, 3600),
    default=CONFIRM_WITHIN_S,
    show_default=True,
    help="How long a host waits for that.",
)
def apply(spec: Path, folder: Path | None, yes: bool, allow_cutoff: bool, within_s: int) -> int:
    """Carry a spec out on its hosts. `wirespeed undo` takes all of it back.

    Every step is written to a journal before it is done, and is done only when a fresh reading of
    the host says so. If one fails, all are put back. An apply that was killed is finished by the
    next one.

    Exit codes: 0 applied, 1 refused or put back, 2 bad input, 3 a host was left changed.
    """  # fmt: skip
    wanted = read_spec(spec)
    with open_run(folder or run_folder(spec)) as run, hands_of(wanted) as hands:
        if run.outcome == "unfinished" and run.plan is not None:
            click.echo(f"{run.folder}: a run that did not come to its end is finished", err=True)
            carry_out(run, run.plan, hands, within_s)
            return 0
        made, facts = planned(wanted, hands)
        click.echo("\n".join(plan_lines(made)))
        if all(step.no_op for step in made.steps):
            return 0
        if run.outcome not in ("new", "undone"):
            raise InputError(
                "run.applied_before",
                where=str(run.folder),
                found=f"its run is {run.outcome}, and the hosts are not as it left them",
                so="what stood there before is in its journal, and would be lost",
                next=f"wirespeed undo {spec}, then apply again",
            )
        if allow_cutoff:
            made = with_cutoffs(made, facts, here_of(wanted))
        else:
            refuse_cutoff(made, facts)
        if not yes and not click.confirm("Do this?"):
            return 1
        run.begin_anew()
        carry_out(run, made, hands, within_s)
    return 0


def run_folder(spec: Path) -> Path:
    """Give the folder of a spec's run: beside it, with `.run`."""
    return spec.with_name(f"{spec.name}.run")


def carry_out(
    run: Run,
    plan: Plan,
    hands: Mapping[str, ShellHands],
    within_s: int = CONFIRM_WITHIN_S,
) -> None:
    """Apply a plan, telling of each step."""
    with taken(run, hands):
        timed = guarded(plan, hands, within_s)
        Executor(plan, timed, telling(run, plan), utc_now, run.entries).apply()


def taken(run: Run, hands: Mapping[str, ShellHands]) -> ExitStack:
    """Take every host for the run, and give them back at the end."""
    planned = {step.host for step in run.plan.steps} if run.plan else set()
    if missing := sorted(planned - set(hands)):
        raise InputError(
            "run.of_another_spec",
            where=str(run.folder),
            found=f"its plan is about {', '.join(missing)}, which the spec does not name",
            so="there is no way to reach them",
            next="give the spec that it was made from",
        )
    name = str(run.folder.resolve())
    stack = ExitStack()
    try:
        for hand in hands.values():
            hand.take(name)
            stack.callback(hand.give_back, name)
    except BaseException:
        stack.close()
        raise
    return stack


def telling(run: Run, plan: Plan) -> Callable[[Entry], None]:
    """Write an entry, then say what it means."""

    def write(entry: Entry) -> None:
        run.write(entry)
        if isinstance(entry, Result | Undone):
            planned_step = plan.steps[entry.number]
            what = f"{planned_step.step['step']} {planned_step.subject} on {planned_step.host}"
            if isinstance(entry, Result):
                click.echo(f"  {entry.verdict.value:<13} {what}")
            elif isinstance(entry, Undone):
                put_back = "put back" if entry.verdict == "verified" else entry.verdict.value
                click.echo(f"  {put_back:<13} {what}")

    return write
