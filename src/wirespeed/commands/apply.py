"""`wirespeed apply`: carry a plan out, each step read back, and all of it put back on failure."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import click

from wirespeed.apply.executor import Ending
from wirespeed.apply.firmware_guard import refuse_firmware, refuse_no_way_back
from wirespeed.apply.guard import refuse_cutoff, with_cutoffs
from wirespeed.apply.guard_timer_hands import CONFIRM_WITHIN_S
from wirespeed.apply.hands_shell import ShellHands
from wirespeed.apply.interrupted import interrupted
from wirespeed.apply.run import Run, open_run
from wirespeed.apply.stages import refuse_endless
from wirespeed.apply.until import until_number
from wirespeed.commands.hosts_of_spec import hands_of, here_of, read_spec
from wirespeed.commands.plan_hosts import plan_hosts
from wirespeed.commands.run_hosts import REBOOT_DUE, carry_out, run_folder, still_to_reboot
from wirespeed.model.error import HostError, InputError, MeasurementError
from wirespeed.model.fact import HostFacts
from wirespeed.model.journal import Begun
from wirespeed.model.plan import Plan
from wirespeed.model.spec import Spec
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
    "--until", metavar="STEP", help="Stop after this step: its number, or `KIND SUBJECT`."
)
@click.option("--reboot", is_flag=True, help="Reboot a host where its stage ends, and go on.")
@click.option(
    "--allow-cutoff",
    is_flag=True,
    help="Also change the port that a host is reached by; the host undoes that itself unless we "
    "can come back.",
)
@click.option("--allow-firmware", is_flag=True, help="Also write a card's firmware.")
@click.option("--allow-no-undo", is_flag=True, help="Also what of it no undo takes back.")
@click.option(
    "--confirm-within",
    "within_s",
    metavar="SECONDS",
    type=click.IntRange(10, 3600),
    default=CONFIRM_WITHIN_S,
    show_default=True,
    help="How long a host waits for that.",
)
def apply(
    spec: Path,
    folder: Path | None,
    yes: bool,
    until: str | None,
    reboot: bool,
    allow_cutoff: bool,
    allow_firmware: bool,
    allow_no_undo: bool,
    within_s: int,
) -> int:
    """Carry a spec out on its hosts. `wirespeed undo` takes all of it back.

    Every step is written to a journal before it is done, and is done only when a fresh reading of
    the host says so. If one fails, all are put back. An apply that was killed, or stopped by
    --until, is finished by the next one. Where a host has to be rebooted, so is one that waits for
    that.

    Exit codes: 0 applied, or stopped where --until says; 1 refused or put back; 2 bad input;
    3 a host was left changed; 4 a stage is done, and a host is to be rebooted.
    """  # fmt: skip
    wanted = read_spec(spec)
    how = How(spec, until, yes, reboot, allow_cutoff, within_s, allow_firmware, allow_no_undo)
    with open_run(folder or run_folder(spec)) as run, hands_of(wanted) as hands:
        return Applying(wanted, run, hands, how).go()


@dataclass(frozen=True, slots=True)
class How:
    """What the user asked for."""

    spec: Path
    until: str | None
    yes: bool
    reboot: bool
    allow_cutoff: bool
    within_s: int
    allow_firmware: bool = False
    allow_no_undo: bool = False


class Applying:
    """A run from where it stands to its end, stage by stage."""

    def __init__(self, spec: Spec, run: Run, hands: dict[str, ShellHands], how: How) -> None:
        self._spec, self._run, self._hands, self._how = spec, run, hands, how

    def go(self) -> int:
        """Give the exit code."""
        run = self._run
        ending: Ending | Literal["declined"]
        if run.outcome == "unfinished" and run.plan is not None:
            click.echo(f"{run.folder}: a run that did not come to its end is finished", err=True)
            ending = self._carry_out(run.plan)
        elif run.outcome == "staged":
            ending = "staged"
        else:
            made, facts = plan_hosts(self._spec, self._hands, run.plan)
            if all(step.no_op for step in made.steps):
                click.echo("\n".join(plan_lines(made)))
                return 0
            self._refuse_second_run(made)
            ending = self._begin(made, facts)
        while ending == "staged":
            try:
                if not self._is_rebooted():
                    return REBOOT_DUE
                ending = self._next_stage()
            except (HostError, InputError, MeasurementError) as error:
                raise interrupted(error, run.entries, str(self._how.spec)) or error from None
        if ending == "stopped":
            name = self._how.spec
            click.echo(
                f"stopped where --until says: `wirespeed apply {name}` goes on, "
                f"`wirespeed undo {name}` takes back"
            )
        return 1 if ending == "declined" else 0

    def _refuse_second_run(self, made: Plan) -> None:
        if self._run.outcome in ("new", "undone"):
            return
        click.echo("\n".join(plan_lines(made)))
        raise InputError(
            "run.applied_before",
            where=str(self._run.folder),
            found=f"its run is {self._run.outcome}, and the hosts are not as it left them",
            so="what stood there before is in its journal, and would be lost",
            next=f"`wirespeed drift {self._how.spec}` says what differs; "
            f"`wirespeed undo {self._how.spec}`, then apply again",
        )

    def _begin(self, made: Plan, facts: dict[str, HostFacts]) -> Ending | Literal["declined"]:
        """Show a stage, ask, and do it; `made` is its plan alone."""
        done = self._run.plan
        former = done.steps if done and self._run.outcome == "staged" else ()
        click.echo("\n".join(plan_lines(made, first=len(former) + 1)))
        made = self._guarded(made, facts)
        plan = made.model_copy(update={"steps": (*former, *made.steps)})
        until_number(plan, self._how.until)
        if not self._how.yes and not click.confirm("Do this?"):
            return "declined"
        if not former:
            self._run.begin_anew()
        return self._carry_out(plan)

    def _carry_out(self, plan: Plan) -> Ending:
        return carry_out(
            self._run,
            plan,
            self._hands,
            self._how.within_s,
            spec=self._spec,
            until=until_number(plan, self._how.until),
            name=str(self._how.spec),
        )

    def _guarded(self, made: Plan, facts: dict[str, HostFacts]) -> Plan:
        if not self._how.allow_firmware:
            refuse_firmware(made)
        if not self._how.allow_no_undo:
            refuse_no_way_back(made)
        if self._how.allow_cutoff:
            return with_cutoffs(made, facts, here_of(self._spec))
        refuse_cutoff(made, facts)
        return made

    def _next_stage(self) -> Ending | Literal["declined"]:
        stage = sum(isinstance(entry, Begun) for entry in self._run.entries) + 1
        made, facts = plan_hosts(self._spec, self._hands, self._run.plan, stage=stage)
        refuse_endless(self._run.plan, made)
        return self._begin(made, facts)

    def _is_rebooted(self) -> bool:
        """Tell whether all hosts of the last stage are, after doing so where that is asked for."""
        due = still_to_reboot(self._run.entries, self._hands)
        if not due:
            return True
        names = ", ".join(due)
        ways = [self._hands[host].interruption for host in due]
        click.echo("".join(f"{way}\n" for way in dict.fromkeys(ways) if way), nl=False)
        if not self._how.reboot:
            click.echo(
                f"a stage is done, and not in force: {names} is still to be rebooted\n"
                f"then: wirespeed apply {self._how.spec}; or now, all of it: --reboot"
            )
            return False
        if not self._how.yes and not click.confirm(f"Reboot {names}?"):
            return False
        for host in due:
            click.echo(f"  rebooting     {host}")
            self._hands[host].reboot(due[host])
            click.echo(f"  rebooted      {host}: its boot id is another one")
        return True
