"""Run folders of a fleet's host that are lost here, made again of the copies on that host."""

import re
from pathlib import Path, PurePosixPath

from wirespeed.apply.copy_folder import write_copy
from wirespeed.apply.found_copy import HostRuns, rebuilt
from wirespeed.apply.run import is_run, read_told, run_spec
from wirespeed.model.error import InputError, LeftChangedError
from wirespeed.model.spec.spec import Spec
from wirespeed.runs.hosts_of_spec import controls_of, read_spec
from wirespeed.runs.lost_runs import lost_runs
from wirespeed.runs.named_host import HasRuns
from wirespeed.terminal import echo

RUN = re.compile(r"run-[1-9][0-9]{0,5}")
"""The folder of a run, in that of its host."""


def number_of(run: Path) -> int:
    """Give the number of such a folder."""
    return int(run.name.removeprefix("run-"))


def spec_of_host(folder: Path, file: Path) -> Spec:
    """Give the spec of a host: of its file, else of a journal in `folder`. Raises InputError."""
    try:
        return read_spec(file)
    except InputError:
        for run in sorted(folder.glob("run-*")):
            try:
                if (spec := run_spec(read_told(run).entries)) is not None:
                    return spec
            except (InputError, LeftChangedError):
                continue
        raise


def runs_of_host(spec: Spec) -> HostRuns | None:
    """Ask the one host of a spec for the runs that are applied there; None: it keeps no copies.

    Raises HostError, InputError, MeasurementError.
    """
    with controls_of(spec) as controls:
        (control,) = controls.values()
        if not isinstance(control, HasRuns) or not getattr(control, "keeps_copy", False):
            return None
        return control.host_runs()


def recover(folder: Path, file: Path) -> None:
    """Make again the run folders in `folder` that the host has copies of, and that are lost.

    Raises LeftChangedError `copy.not_a_journal` where a copy cannot be read.
    """
    spec = spec_of_host(folder, file)
    ((_, host),) = spec.hosts.items()
    runs = runs_of_host(spec)
    if runs is None:
        return
    lost = sorted(lost_runs(runs, folder), key=lambda one: one[0].number or 0)
    for copy, owner in lost:
        lines = rebuilt(copy, spec)
        where = folder / PurePosixPath(owner.folder).name
        # A host's word: no path but one of ours.
        if not RUN.fullmatch(where.name) or (is_run(where) and not _is_lost(where)):
            numbers = [number_of(one) for one in folder.glob("run-*") if RUN.fullmatch(one.name)]
            where = folder / f"run-{max(numbers, default=0) + 1}"
        write_copy(where, copy, lines, host.reach)
        echo(f"{where}: its journal was lost; made again of the copy on {host.reach}")


def _is_lost(run: Path) -> bool:
    try:
        read_told(run)
    except LeftChangedError:
        return True
    return False
