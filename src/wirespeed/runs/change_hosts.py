"""What passed the gate is done; what a run left undone is shown before it passes it once more."""

from collections.abc import Callable, Collection, Mapping

from wirespeed.apply.control import HostControl
from wirespeed.apply.executor import Ending
from wirespeed.apply.gate import Admitted, Change, Consents, admit
from wirespeed.apply.guard_timer_control import CONFIRM_WITHIN_S
from wirespeed.apply.rest import rest_notes, rest_of
from wirespeed.apply.run import Run
from wirespeed.model.error import InputError
from wirespeed.model.fact import HostFacts
from wirespeed.model.plan import Plan
from wirespeed.model.spec.spec import Spec
from wirespeed.report.plan_text import plan_lines
from wirespeed.runs.hosts_of_spec import here_of
from wirespeed.runs.run_hosts import apply_plan
from wirespeed.terminal import echo


def admit_of_spec(
    plan: Plan,
    facts: Mapping[str, HostFacts],
    spec: Spec,
    consents: Consents | None = None,
    whole: Plan | None = None,
) -> Admitted:
    """Let a plan of a spec's hosts pass the gate. Raises InputError `plan.*`."""
    return admit(change_of_spec(plan, facts, spec, consents), whole)


def change_of_spec(
    plan: Plan, facts: Mapping[str, HostFacts], spec: Spec, consents: Consents | None = None
) -> Change:
    """Give a change of a spec's hosts, which is about its ports."""
    ports = {name: host.ports for name, host in spec.hosts.items()}
    return Change(plan, facts, consents or Consents(), ports, here_of(spec))


def admit_rest(
    run: Run,
    plan: Plan,
    facts: Mapping[str, HostFacts],
    spec: Spec,
    consents: Consents | None = None,
    rebooted: Collection[str] = (),
) -> Admitted:
    """Show what a run that did not come to its end has still to do, and let that pass the gate.

    `facts` are of now, not of when the plan was made. Raises InputError `plan.*`.
    """
    rest = rest_of(plan, run.entries, rebooted)
    echo(f"{run.folder}: an earlier run did not finish; these steps are left:\n")
    echo("\n".join([*plan_lines(rest), *rest_notes(plan, run.entries)]))
    return admit_of_spec(rest, facts, spec, consents, plan)


def change_hosts(
    run: Run,
    admitted: Admitted,
    controls: Mapping[str, HostControl],
    within_s: int = CONFIRM_WITHIN_S,
    *,
    spec: Spec | None = None,
    until: int | None = None,
    name: str = "",
    try_s: int = 0,
    then: Callable[[], None] = lambda: None,
) -> Ending:
    """Apply what was admitted: see `apply_plan`."""
    return apply_plan(
        run,
        admitted.plan,
        controls,
        within_s,
        spec=spec,
        until=until,
        name=name,
        try_s=try_s,
        then=then,
    )


def refuse_applied(
    run: Run, next_step: str, of: str = "the hosts' original state", since: str = ""
) -> None:
    """Raise InputError `run.applied_before` where a run is not over: a new one would lose it."""
    if run.outcome not in ("new", "undone"):
        raise InputError(
            "run.applied_before",
            where=str(run.folder),
            found=f"its run is {run.outcome}{since}",
            so=f"its journal has {of}, which a new run would lose",
            next=next_step,
        )
