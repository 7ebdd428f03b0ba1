"""A plan of one host's steps: guarded, and done with a journal where that is asked for."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from wirespeed.apply.control_posix import PosixControl
from wirespeed.apply.firmware_guard import refuse_firmware, refuse_no_way_back
from wirespeed.apply.guard import refuse_cutoff, with_cutoffs
from wirespeed.apply.lockdown_guard import refuse_locked_down
from wirespeed.apply.owner_guard import ports_named, refuse_owned
from wirespeed.apply.run import open_run
from wirespeed.apply.run_place import other_run_folder
from wirespeed.model.error import InputError
from wirespeed.model.fact import HostFacts
from wirespeed.model.plan import Plan
from wirespeed.model.spec.spec import Spec
from wirespeed.runs.hosts_of_spec import here_of
from wirespeed.runs.run_hosts import apply_plan
from wirespeed.terminal import confirm, echo


@dataclass(frozen=True, slots=True)
class Allowed:
    """What the user asks for, and allows."""

    folder: Path | None = None
    """Of the run; None: the one that is known for `of`."""
    is_applied: bool = False
    yes: bool = False
    allow_cutoff: bool = False
    allow_firmware: bool = False
    allow_no_undo: bool = False
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
    refuse_owned(name, plan.steps, facts, ports_named(plan.steps, name, facts))
    plan = _guarded(plan, allowed, {name: facts}, here_of(spec))
    if not allowed.yes and not confirm("Do this?"):
        return 1
    where = allowed.folder or other_run_folder(name, of)
    with open_run(where, breaks=allowed.breaks_lock, of=of) as run:
        if run.outcome not in ("new", "undone"):
            raise InputError(
                "run.applied_before",
                where=str(where),
                found=f"its run is {run.outcome}",
                so="its journal has the hosts' original state, which a new run would lose",
                next=f"run `wirespeed undo {where}`, or give another --run",
            )
        run.begin_anew()
        apply_plan(run, plan, controls, spec=spec)
    one_way = [step for step in plan.steps if not step.no_op and not step.undo]
    if len(one_way) < sum(not step.no_op for step in plan.steps):
        echo(f"`wirespeed undo {where}` undoes it")
    for step in one_way:
        echo(f"cannot be undone: {step.kind} {step.subject}")
    return 0


def _guarded(plan: Plan, allowed: Allowed, facts: dict[str, HostFacts], here: set[str]) -> Plan:
    refuse_locked_down(plan, facts)
    if not allowed.allow_firmware:
        refuse_firmware(plan)
    if not allowed.allow_no_undo:
        refuse_no_way_back(plan)
    if allowed.allow_cutoff:
        return with_cutoffs(plan, facts, here)
    refuse_cutoff(plan, facts)
    return plan
