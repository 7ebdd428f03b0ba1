"""The run folder by which a host's copy is undone: the one that is here, or one made of it."""

from collections.abc import Sequence
from pathlib import Path

from wirespeed.apply.found_copy import FoundCopy
from wirespeed.apply.host_copy import copy_name
from wirespeed.apply.run import JOURNAL, read_told, run_spec
from wirespeed.apply.run_file import RunFile, write_run_file
from wirespeed.apply.run_place import known_runs, place_of
from wirespeed.host.clock import utc_now
from wirespeed.host.files import make_run_folder, write_whole
from wirespeed.host.private import sync_folder
from wirespeed.model.error import InputError, WirespeedError
from wirespeed.model.journal import outcome, whole_plan
from wirespeed.model.journal_part import Relation, part_of, relation
from wirespeed.model.shown import shown
from wirespeed.model.spec.spec import Spec

AS_FOUND = "journal.jsonl.as-found"
"""What stood on the host, to the byte."""


def folder_here(copy: FoundCopy) -> Path | None:
    """Give the folder here of a copy's run, where that says as much as the copy or more.

    None: there is none, or it is damaged, or it lacks what the copy has. Raises InputError
    `run.is_here` if the run is applied to other hosts too.
    """
    # A copy that is spoilt says nothing that a whole journal could lack.
    entries = copy.told.entries if copy.told and not copy.told.damage else ()
    for folder, said in known_runs():
        if said.run != copy.run:
            continue
        try:
            told = read_told(folder)
        except WirespeedError:
            continue
        plan = whole_plan(told.entries)
        if told.damage or plan is None or run_spec(told.entries) is None:
            continue
        hosts = list(dict.fromkeys(step.host for step in plan.steps))
        names = {said.copy_name or copy_name(copy.run, host): host for host in hosts}
        host = names.get(copy.name, "")
        own = part_of(told.entries, host, copy.run)
        if not host or relation(own, entries) is not Relation.BEHIND:
            continue
        if len(hosts) > 1 and outcome(told.entries) != "undone":
            raise InputError(
                "run.is_here",
                where=str(folder),
                found=f"the folder of run {copy.run} is on this machine, and the run is applied "
                f"to {', '.join(hosts)}",
                so="nothing was changed",
                next=f"run `wirespeed undo {folder}`, which undoes it on all of these hosts",
            )
        return folder
    return None


def folder_of_copy(copy: FoundCopy, lines: Sequence[str], spec: Spec) -> Path:
    """Make a run folder of a copy, of which `lines` are the journal. Raises InputError `file.*`."""
    ((name, host),) = spec.hosts.items()
    folder = place_of(name, f"{copy.name} on {host.reach}")
    write_copy(folder, copy, lines, host.reach)
    return folder


def write_copy(folder: Path, copy: FoundCopy, lines: Sequence[str], reach: str) -> None:
    """Make `folder` the run folder of a copy on the host `reach`. Raises InputError `file.*`."""
    make_run_folder(folder)
    write_whole(folder / AS_FOUND, copy.text)
    write_whole(folder / JOURNAL, "".join(f"{line}\n" for line in lines))
    of = shown(copy.about.of, 200) if copy.about else ""
    of = f"the copy on {reach} of {of or 'an unknown spec'}"
    now = utc_now()
    said = RunFile(run=copy.run, of=of, made_at=now, begun_at=now, copy_name=copy.name)
    write_run_file(folder, said)
    sync_folder(folder)
