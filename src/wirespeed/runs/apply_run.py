"""A run of a spec from where it stands to its end, stage by stage."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from wirespeed.apply.control_posix import PosixControl
from wirespeed.apply.executor import Ending
from wirespeed.apply.gate import Admitted, Consents
from wirespeed.apply.interrupted import interrupted
from wirespeed.apply.run import Run
from wirespeed.apply.stages import refuse_endless
from wirespeed.apply.until import until_number
from wirespeed.model.error import HostError, InputError, MeasurementError
from wirespeed.model.fact import HostFacts
from wirespeed.model.journal import Begun, tried_s
from wirespeed.model.plan import Plan
from wirespeed.model.spec.spec import Spec
from wirespeed.report.plan_text import plan_lines
from wirespeed.runs import tryout
from wirespeed.runs.change_hosts import admit_of_spec, admit_rest, change_hosts, refuse_applied
from wirespeed.runs.keep_run import keep, refuse_gone
from wirespeed.runs.lost_runs import refuse_lost
from wirespeed.runs.plan_hosts import facts_now, plan_hosts
from wirespeed.runs.run_hosts import (
    REBOOT_DUE,
    rebooted_since,
    refuse_missing_hosts,
    still_to_reboot,
    undo_plan,
)
from wirespeed.terminal import confirm, echo, is_terminal


@dataclass(frozen=True, slots=True)
class How:
    """What the user asked for."""

    spec: Path
    until: str | None
    yes: bool
    reboot: bool
    within_s: int
    consents: Consents
    try_s: int = 0


class Applying:
    """A run from its present state to its end, stage by stage."""

    def __init__(self, spec: Spec, run: Run, controls: dict[str, PosixControl], how: How) -> None:
        self._spec, self._run, self._controls, self._how = spec, run, controls, how

    def go(self) -> int:
        """Give the exit code."""
        run = self._run
        ending: Ending | Literal["declined"]
        tryout.refuse_begun_without(run, self._how.try_s)
        if run.outcome == "unconfirmed" and run.plan is not None:
            refuse_gone(run, run.plan, self._controls, str(self._how.spec))
            return self._keep(run.plan)
        if run.outcome == "unfinished" and run.plan is not None:
            ending = self._go_on(run.plan)
        elif run.outcome == "staged":
            ending = "staged"
        else:
            if run.plan is None:
                refuse_lost(run.folder, self._spec, self._controls)
            made, facts = plan_hosts(self._spec, self._controls, run.plan)
            if all(step.no_op for step in made.steps):
                echo("\n".join(plan_lines(made)))
                return 0
            if run.outcome not in ("new", "undone"):
                echo("\n".join(plan_lines(made)))
            refuse_applied(
                run,
                f"see the differences with `wirespeed drift {self._how.spec}`; then run "
                f"`wirespeed undo {self._how.spec}` and apply again",
                since=", and the hosts have changed since",
            )
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
            echo(
                f"stopped where --until says: `wirespeed apply {name}` continues, `wirespeed undo "
                f"{name}` undoes it"
            )
            if seconds := tried_s(run.entries):
                echo(
                    f"each host undoes it {seconds} s after its last step, unless the run continues"
                )
        if run.outcome == "unconfirmed" and run.plan is not None:
            return self._keep(run.plan)
        return 1 if ending == "declined" else 0

    def _keep(self, plan: Plan) -> int:
        """Ask whether what was done is kept; where nobody can be asked, say how it is."""
        name, seconds = str(self._how.spec), self._how.try_s or tried_s(self._run.entries)
        if self._how.yes or not is_terminal():
            echo(
                f"applied, not confirmed: each host undoes it {seconds} s after its last step. To "
                f"keep it: wirespeed confirm {name}"
            )
            return 0
        if confirm(f"Keep this? Each host undoes it within {seconds} s unless you say yes."):
            keep(self._run, plan, self._controls, name)
            return 0
        undo_plan(self._run, plan, self._controls, name)
        return 1

    def _begin(self, made: Plan, facts: dict[str, HostFacts]) -> Ending | Literal["declined"]:
        """Show a stage, ask, and do it; `made` is its plan alone."""
        done = self._run.plan
        former = done.steps if done and self._run.outcome == "staged" else ()
        echo("\n".join(plan_lines(made, first=len(former) + 1)))
        plan = made.model_copy(update={"steps": (*former, *made.steps)})
        admitted = admit_of_spec(made, facts, self._spec, self._how.consents, plan)
        until_number(plan, self._how.until)
        if not self._how.yes and not confirm("Do this?"):
            return "declined"
        if not former:
            self._run.begin_anew()
        return self._apply_all(admitted)

    def _go_on(self, plan: Plan) -> Ending | Literal["declined"]:
        """Show what a run that did not come to its end has still to do, ask, and do it."""
        run = self._run
        refuse_missing_hosts(run.folder, plan, self._controls)
        until_number(plan, self._how.until)
        try:
            since = rebooted_since(run.entries, self._controls)
            consents = self._how.consents
            facts = facts_now(self._spec, self._controls)
            admitted = admit_rest(run, plan, facts, self._spec, consents, since)
        except (HostError, InputError, MeasurementError) as error:
            raise interrupted(error, run.entries, str(self._how.spec)) or error from None
        if not self._how.yes and not confirm("Continue?"):
            return "declined"
        return self._apply_all(admitted)

    def _apply_all(self, admitted: Admitted) -> Ending:
        return change_hosts(
            self._run,
            admitted,
            self._controls,
            self._how.within_s,
            spec=self._spec,
            until=until_number(admitted.plan, self._how.until),
            name=str(self._how.spec),
            try_s=self._how.try_s or tried_s(self._run.entries if self._goes_on() else ()),
        )

    def _goes_on(self) -> bool:
        return self._run.outcome in ("unfinished", "staged")

    def _next_stage(self) -> Ending | Literal["declined"]:
        stage = sum(isinstance(entry, Begun) for entry in self._run.entries) + 1
        made, facts = plan_hosts(self._spec, self._controls, self._run.plan, stage=stage)
        refuse_endless(self._run.plan, made)
        return self._begin(made, facts)

    def _is_rebooted(self) -> bool:
        """Tell whether all hosts of the last stage are, after doing so where that is asked for."""
        due = still_to_reboot(self._run.entries, self._controls)
        if not due:
            return True
        names = ", ".join(due)
        ways = [self._controls[host].interruption for host in due]
        echo("".join(f"{way}\n" for way in dict.fromkeys(ways) if way), nl=False)
        if not self._how.reboot:
            echo(
                f"a stage is done, but not in force until you reboot {names}\nthen: wirespeed "
                f"apply {self._how.spec}; or let wirespeed reboot: --reboot"
            )
            return False
        if not self._how.yes and not confirm(f"Reboot {names}?"):
            return False
        for host in due:
            echo(f"  rebooting     {host}")
            self._controls[host].reboot(due[host])
            echo(f"  rebooted      {host}: its boot id has changed")
        return True
