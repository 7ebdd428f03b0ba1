"""What was applied is made to come back at boot, and that is taken away again."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from wirespeed.apply.control_posix import PosixControl
from wirespeed.apply.drift import applied_states, drifted
from wirespeed.apply.gate import refuse_by_hosts
from wirespeed.apply.persist import boot_plan, boot_steps, not_kept, persist_name, persist_steps
from wirespeed.apply.planner import make_plan
from wirespeed.apply.read_states import read_states
from wirespeed.apply.record import Record
from wirespeed.apply.run import Run, is_run, open_run, read_journal
from wirespeed.apply.run_file import read_run_file
from wirespeed.catalog import approaches
from wirespeed.model.error import InputError
from wirespeed.model.journal import Entry, outcome
from wirespeed.model.observed import CannotTellError, Known, Observed
from wirespeed.model.plan import Plan
from wirespeed.model.spec.guests import VIRTUAL_MACHINES
from wirespeed.model.spec.spec import Spec
from wirespeed.model.step import State, Step
from wirespeed.report.plan_text import drift_lines, plan_lines
from wirespeed.runs.change_hosts import (
    admit_of_spec,
    admit_rest,
    change_hosts,
    change_of_spec,
)
from wirespeed.runs.hosts_of_spec import controls_of
from wirespeed.runs.plan_hosts import facts_now
from wirespeed.runs.run_hosts import HowUndone, spec_of_run, undo_plan
from wirespeed.steps.file_content import FileContent
from wirespeed.terminal import confirm, echo

FOLDER = "persist"
"""Its own run, in the folder of the one that it makes last."""


@dataclass(frozen=True, slots=True)
class PersistRequest:
    """What the user asked for."""

    spec: Path
    """Of the spec, or of the folder of its run."""
    folder: Path
    """Of the run that is to last."""
    yes: bool = False
    breaks_lock: bool = False


def persist_run(asked: PersistRequest) -> int:
    """Make a run come back at boot, or finish what was begun of that; give the exit code.

    Raises InputError `run.not_applied`, `persist.*`.
    """
    where = asked.folder
    with _applied(asked) as (run, controls):
        if run.plan is None or run.outcome != "applied":
            raise InputError(
                "run.not_applied",
                where=str(where),
                found=f"its run is {run.outcome}",
                so="there is nothing to make persistent",
                next=f"run `wirespeed apply {asked.spec}` first",
            )
        wanted = spec_of_run(asked.spec, run.spec)
        facts = facts_now(wanted, controls)
        refuse_by_hosts(change_of_spec(boot_plan(_record(run, run.plan)), facts, wanted))
        with open_run(where / FOLDER, breaks=asked.breaks_lock) as lasting:
            if lasting.outcome == "unfinished" and lasting.plan is not None:
                admitted = admit_rest(lasting, lasting.plan, facts, wanted)
                if not asked.yes and not confirm("Continue?"):
                    return 1
                change_hosts(lasting, admitted, controls)
                return 0
            plan = _planned(run, run.plan, wanted, controls, _name_of(where))
            if not _is_new(lasting, plan, asked):
                return 0
            _refuse_drifted(run, run.plan, wanted, controls)
            admitted = admit_of_spec(plan, facts, wanted)
            if not asked.yes and not confirm("Do this?"):
                return 1
            lasting.begin_anew()
            change_hosts(lasting, admitted, controls, spec=run.spec)
            return 0


def forget_run(asked: PersistRequest, how: HowUndone) -> int:
    """Take away what brings a run back at boot; give the exit code."""
    with (
        _applied(asked) as (_, controls),
        open_run(asked.folder / FOLDER, must_exist=True, breaks=asked.breaks_lock) as lasting,
    ):
        return _remove(lasting, controls, asked.spec, how)


@contextmanager
def _applied(asked: PersistRequest) -> Iterator[tuple[Run, dict[str, PosixControl]]]:
    with (
        open_run(asked.folder, must_exist=True) as run,
        controls_of(spec_of_run(asked.spec, run.spec)) as controls,
    ):
        yield run, controls


def is_made_to_last(folder: Path) -> bool:
    """Tell whether what a run did comes back at boot, or some of it."""
    where = folder / FOLDER
    return is_run(where) and outcome(read_journal(where)) not in ("new", "undone")


def _is_new(lasting: Run, plan: Plan, asked: PersistRequest) -> bool:
    """Show the plan; tell whether it has something to do. Raises InputError `persist.stands`."""
    echo("\n".join(plan_lines(plan)))
    if all(step.no_op for step in plan.steps):
        return False
    if lasting.outcome not in ("new", "undone"):
        raise InputError(
            "persist.stands",
            where=str(lasting.folder),
            found=f"its run is {lasting.outcome}, and the hosts have changed since",
            so="its journal has the hosts' original state, which a new run would lose",
            next=f"run `wirespeed persist --remove {asked.spec}`, then run this command again",
        )
    return True


def _remove(lasting: Run, controls: dict[str, PosixControl], spec: Path, how: HowUndone) -> int:
    if lasting.plan is None or lasting.outcome == "undone":
        echo(f"{lasting.folder}: nothing is made to last")
        return 0
    undo_plan(lasting, lasting.plan, controls, str(spec), how)
    return 0


def _planned(
    run: Run, plan: Plan, spec: Spec, controls: dict[str, PosixControl], name: str
) -> Plan:
    record = _record(run, plan)
    rows = []
    host = ""
    try:
        for host, ports in places_of(spec, record.plan).items():
            for what in not_kept(record, host):
                echo(f"{host}: {what} is lost at the next boot, which changes its numbers")
            steps = persist_steps(name, ports, list(boot_steps(record, host)))
            states = controls[host].read(steps) if steps else []
            _refuse_others(host, steps, states)
            rows += [(host, step, state) for step, state in zip(steps, states, strict=True)]
        return make_plan(rows)
    except CannotTellError as error:
        raise InputError(
            "plan.cannot_tell",
            where=host,
            found=error.reason,
            so="wirespeed does not plan on a guess",
            next=error.would_tell,
        ) from None


def places_of(spec: Spec, plan: Plan) -> dict[str, Sequence[str]]:
    """Give every host and virtual machine, with the ports that its boot is to wait for."""
    found: dict[str, Sequence[str]] = {}
    has_none = approaches()[spec.approach].has_cards_elsewhere
    for host, of in spec.hosts.items():
        found[host] = netdevs_of(plan, host) if has_none else of.ports
    for guest, wanted in spec.guests.items():
        if wanted.kind in VIRTUAL_MACHINES:
            # Its VFs, by their slots within it.
            named = [p for p in plan.steps if p.host == guest and p.kind == "netdev_name"]
            found[guest] = [str(p.step["pci_address"]) for p in named]
    return found


def netdevs_of(plan: Plan, host: str) -> list[str]:
    """Give the netdevs that a plan sets up on a host, for its boot to wait for."""
    return [p.subject for p in plan.steps if p.host == host and p.step["step"] == "mtu"]


def _refuse_others(host: str, steps: Sequence[Step], states: Sequence[Observed[State]]) -> None:
    """Leave alone what another run of that name has there, or a person wrote."""
    for step, state in zip(steps, states, strict=True):
        if isinstance(step, FileContent) and isinstance(state, Known):
            content = state.value["content"]
            if content not in (None, step.content):
                raise InputError(
                    "persist.other",
                    where=f"{step.path} on {host}",
                    found="the file exists with other content",
                    so="nothing was changed",
                    next="run `wirespeed persist --remove` with the spec that wrote it, then run "
                    "this command again",
                )


def _refuse_drifted(run: Run, plan: Plan, spec: Spec, controls: Mapping[str, PosixControl]) -> None:
    """Make nothing last that others changed since the run: each boot would overwrite it."""
    record = _record(run, plan)
    again = {step.number - 1 for host in places_of(spec, plan) for step in boot_steps(record, host)}
    left = {n: one for n, one in applied_states(plan, run.entries).items() if n in again}
    found = drifted(plan, left, read_states(plan, list(left), controls))
    if found:
        raise InputError(
            "persist.changed_by_others",
            where=", ".join(dict.fromkeys(one.planned.host for one in found)),
            found="; ".join(drift_lines(found, len(left), run.outcome)),
            so="each boot would overwrite what others set; nothing was changed",
            next="set the host as the run left it, or `wirespeed undo` it and apply a spec with "
            "the new value; `wirespeed drift` shows what differs",
        )


def _name_of(folder: Path) -> str:
    """As the spec that the run is of; of an older release's, the folder is `NAME.yaml.run`."""
    said = read_run_file(folder)
    of = said.of if said and said.of else folder.resolve().name.removesuffix(".run")
    return persist_name(Path(of).stem)


def _record(run: Run, plan: Plan) -> Record:
    return Record(plan, _write_nothing, run.entries)


def _write_nothing(entry: Entry) -> None:
    raise AssertionError(f"the run that is made to last is not written to: {entry}")
