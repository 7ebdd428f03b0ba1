"""The hosts of a run: taken for it, changed by it, given back; each step is told of."""

from collections.abc import Callable, Container, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

import click

from wirespeed.apply.executor import Ending, Executor
from wirespeed.apply.guard_timer_hands import CONFIRM_WITHIN_S, guarded
from wirespeed.apply.hands import Hands
from wirespeed.apply.hands_boot import Boots
from wirespeed.apply.hands_shell import ShellHands
from wirespeed.apply.interrupted import interrupted
from wirespeed.apply.run import JOURNAL, Run
from wirespeed.commands.hosts_of_spec import read_spec
from wirespeed.host.clock import utc_now
from wirespeed.host.files import is_file
from wirespeed.host.reach_destination import Recorded, parse_destination
from wirespeed.model.error import (
    ApplyError,
    HostError,
    InputError,
    LeftChangedError,
    MeasurementError,
    WirespeedError,
)
from wirespeed.model.journal import Begun, Entry, Result, Staged, Undone
from wirespeed.model.plan import Plan
from wirespeed.model.spec import Spec

REBOOT_DUE = 4
"""Exit code: a stage is done, and a host is to be rebooted before the next."""


class Taken(ExitStack):
    """Hosts that nobody else changes until it is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.boot_ids: dict[str, str] = {}


def run_folder(spec: Path) -> Path:
    """Give the folder of a spec's run: beside it, with `.run`; a folder with a journal is one."""
    return spec if is_file(spec / JOURNAL) else spec.with_name(f"{spec.name}.run")


def spec_of_run(path: Path, spec: Spec | None) -> Spec:
    """Give the spec by which the hosts of a run are reached: the file's, else its own, `spec`.

    Raises InputError `file.unreadable`, `spec.*`.
    """
    if spec is not None and not is_file(path):
        return spec
    return read_spec(path)


def taken(run: Run, hands: Mapping[str, ShellHands]) -> Taken:
    """Take every host for the run, and give them back at the end."""
    refuse_missing_hosts(run.folder, run.plan, hands)
    name = str(run.folder.resolve())
    stack = Taken()
    try:
        for place, hand in hands.items():
            stack.boot_ids[place] = hand.take(name)
            stack.callback(_give_back, place, hand, name)
    except BaseException:
        stack.close()
        raise
    return stack


def refuse_missing_hosts(folder: Path, plan: Plan | None, hands: Container[str]) -> None:
    """Raise InputError `run.of_another_spec` where a run's host cannot be reached by the spec."""
    planned = {step.host for step in plan.steps} if plan else set()
    if missing := sorted(host for host in planned if host not in hands):
        raise InputError(
            "run.of_another_spec",
            where=str(folder),
            found=f"its plan is about {', '.join(missing)}, which the spec does not name",
            so="there is no way to reach them",
            next="give the spec that it was made from, or the folder itself",
        )


def _give_back(place: str, hand: ShellHands, name: str) -> None:
    try:
        hand.give_back(name)
    except (HostError, MeasurementError) as error:
        # What is said of the run itself is more than that.
        click.echo(f"{place} is still taken by this run: {error.what}: {error.found}", err=True)


def carry_out(
    run: Run,
    plan: Plan,
    hands: Mapping[str, ShellHands],
    within_s: int = CONFIRM_WITHIN_S,
    *,
    spec: Spec | None = None,
    until: int | None = None,
    name: str = "",
) -> Ending:
    """Apply a plan of all stages until now, up to the end of the last, telling of each step."""
    with taken(run, hands) as held:
        begun = [entry for entry in run.entries if isinstance(entry, Begun)]
        # A stage that is begun now was planned after the reboot.
        is_begun = run.plan is not None and len(run.plan.steps) == len(plan.steps)
        before = begun[-1].boot_ids if is_begun else {}
        executor = Executor(
            plan,
            guarded(plan, hands, within_s),
            telling(run, plan),
            utc_now,
            run.entries,
            boot_ids=held.boot_ids,
            rebooted=rebooted(before, held.boot_ids),
            spec=spec,
        )
        try:
            return executor.apply(until)
        except (ApplyError, LeftChangedError):
            raise
        except WirespeedError as error:
            raise interrupted(error, run.entries, name or str(run.folder)) or error from None


def take_back(run: Run, plan: Plan, hands: Mapping[str, ShellHands], name: str) -> None:
    """Undo a run, telling of each step."""
    with taken(run, hands):
        executor = Executor(plan, hands, telling(run, plan), utc_now, run.entries)
        try:
            executor.undo()
        except LeftChangedError:
            raise
        except WirespeedError as error:
            raise interrupted(error, run.entries, name) or error from None


def rebooted(before: Mapping[str, str], now: Mapping[str, str]) -> set[str]:
    """Give the hosts whose boot is another one; of an unknown boot nothing is said."""
    return {host for host, one in now.items() if one and before.get(host, one) not in ("", one)}


def still_to_reboot(entries: Sequence[Entry], hands: Mapping[str, Hands]) -> dict[str, str]:
    """Give the hosts that a run waits for, each with the id of the boot that it is still in.

    Empty: the run does not wait. A boot that cannot be read is taken to be the same.
    """
    last = entries[-1] if entries else None
    if not isinstance(last, Staged):
        return {}
    due = {}
    for host, before in last.waits.items():
        hand = hands[host]
        now = hand.boot_id() if isinstance(hand, Boots) else ""
        if now in ("", before):
            due[host] = now
    return due


def live_hosts(spec: Spec) -> list[str]:
    """Give the hosts of a spec that are no captures in files."""
    return [
        name
        for name, host in spec.hosts.items()
        if not isinstance(parse_destination(host.reach), Recorded)
    ]


def telling(run: Run, plan: Plan) -> Callable[[Entry], None]:
    """Write an entry, then say what it means."""

    def write(entry: Entry) -> None:
        run.write(entry)
        if isinstance(entry, Result | Undone):
            planned_step = plan.steps[entry.number]
            what = f"{planned_step.name} on {planned_step.host}"
            word = entry.verdict.value
            if isinstance(entry, Undone) and entry.verdict == "verified":
                word = "put back"
            click.echo(f"  {word:<13} {what}")

    return write
