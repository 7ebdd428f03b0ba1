"""Runs that hosts say were begun in a folder here, and of which that folder knows nothing."""

from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from wirespeed.apply.control import HostControl
from wirespeed.apply.found_copy import FoundCopy, HostRuns
from wirespeed.apply.run import read_told
from wirespeed.apply.run_file import read_run_file
from wirespeed.host.identity import machine
from wirespeed.model.error import HostError, InputError, LeftChangedError
from wirespeed.model.owner import MAX_VALUE, Owner, parse_owner
from wirespeed.model.spec.spec import Spec
from wirespeed.runs.named_host import HasRuns
from wirespeed.terminal import echo


def lost_runs(runs: HostRuns, folder: Path) -> Iterator[tuple[FoundCopy, Owner]]:
    """Give the copies of runs that stand, were begun in `folder` or one in it, and are not there.

    With each the owner that it names. Raises as `read_run_file`.
    """
    place = PurePosixPath(str(folder.resolve())[:MAX_VALUE])
    inside = [one for one in folder.glob("*") if one.is_dir()]
    known = {_run_of(one) for one in (folder, *inside)}
    for copy in runs.standing:
        owner = parse_owner(copy.about.owner) if copy.about else None
        if owner is None or owner.machine not in ("", machine()) or copy.run in known:
            continue
        was = PurePosixPath(owner.folder)
        if place in (was, was.parent):
            yield copy, owner


def _run_of(folder: Path) -> str:
    """Give the id of the run that a folder knows; empty: none, or its journal has no beginning."""
    said = read_run_file(folder)
    try:
        read_told(folder)
    except LeftChangedError:
        return ""
    except InputError as error:
        if error.what != "run.missing":
            raise
    return said.run if said else ""


def refuse_lost(
    folder: Path, spec: Spec, controls: Mapping[str, HostControl], *, must_ask: bool = True
) -> None:
    """Raise LeftChangedError `run.lost` where a host has such a run.

    A host that cannot be asked is an error (`must_ask`), or is named.
    """
    for place, control in controls.items():
        if not isinstance(control, HasRuns) or not getattr(control, "keeps_copy", False):
            continue
        try:
            found = next(lost_runs(control.host_runs(), folder), None)
        except HostError as error:
            if must_ask:
                raise
            echo(f"{place} was not asked for other runs: {error.found}", err=True)
            continue
        if found is None:
            continue
        copy, _ = found
        reach = spec.hosts[place].reach if place in spec.hosts else place
        raise LeftChangedError(
            "run.lost",
            where=str(folder),
            found=f"{place} says that run {copy.run} is applied to it, which was begun in this "
            "folder; the folder does not know that run",
            so="its journal was removed or replaced; the host's copy has the original state",
            next=f"see it with `wirespeed status {reach}`; undo it with `wirespeed undo {reach} "
            f"--only {copy.run}`",
        )
