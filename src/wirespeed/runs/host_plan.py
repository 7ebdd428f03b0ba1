"""A plan of one host's steps: guarded, and done with a journal where that is asked for."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from wirespeed.apply.control_posix import PosixControl
from wirespeed.apply.gate import Change, Consents, admit
from wirespeed.apply.run import open_run
from wirespeed.apply.run_place import other_run_folder
from wirespeed.model.fact import HostFacts
from wirespeed.model.plan import Plan
from wirespeed.model.spec.spec import Spec
from wirespeed.runs.change_hosts import change_hosts, refuse_applied
from wirespeed.runs.hosts_of_spec import here_of
from wirespeed.terminal import confirm, echo


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowed(Consents):
    """What the user asks for, and allows."""

    folder: Path | None = None
    """Of the run; None: the one that is known for `of`."""
    is_applied: bool = False
    yes: bool = False
    breaks_lock: bool = False


def do_plan(
    plan: Plan,
    of: str,
    spec: Spec,
    facts: HostFacts,
    controls: Mapping[str, PosixControl],
    allowed: Allowed,
) -> int:
    """Do a plan of the one host of `spec`, which was shown; give the exit code.

    `of` is what the journal says that its run is of. Raises InputError `run.applied_before`,
    `cutoff.*`, `plan.*`; HostError.
    """
    if not plan.steps or not allowed.is_applied:
        return 1 if plan.steps else 0
    (name,) = spec.hosts
    admitted = admit(Change(plan, {name: facts}, allowed, here=here_of(spec)))
    if not allowed.yes and not confirm("Do this?"):
        return 1
    where = allowed.folder or other_run_folder(name, of)
    with open_run(where, breaks=allowed.breaks_lock, of=of) as run:
        refuse_applied(run, f"run `wirespeed undo {where}`, or give another --run")
        run.begin_anew()
        change_hosts(run, admitted, controls, spec=spec)
    one_way = [step for step in plan.steps if not step.no_op and not step.undo]
    if len(one_way) < sum(not step.no_op for step in plan.steps):
        echo(f"`wirespeed undo {where}` undoes it")
    for step in one_way:
        echo(f"cannot be undone: {step.kind} {step.subject}")
    return 0
