"""Where the run of a spec is kept: in the user's state directory, named by the spec and its path.

    ~/.local/state/wirespeed/runs/lab.yaml-3f2a9c0d1e4b/

The digits are of the spec's real path, so two specs of one name have two runs. Older releases kept
it beside the spec, as `lab.yaml.run`: one that still stands there is gone on with and undone there.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path

from wirespeed.apply.run import is_run, read_told, run_spec
from wirespeed.apply.run_file import RunFile, read_run_file
from wirespeed.host.private import check_private_folder
from wirespeed.host.state import state_folder
from wirespeed.model.error import InputError, WirespeedError
from wirespeed.model.journal import outcome
from wirespeed.model.journal_lines import digest
from wirespeed.model.spec.spec import Spec

DIGITS = 12


def runs_folder() -> Path:
    """Give the folder of all runs; it may not be there yet. Raises InputError `file.untrusted`."""
    folder = state_folder() / "runs"
    if os.path.lexists(folder):
        check_private_folder(folder)
    return folder


def place_of(name: str, of: str) -> Path:
    """Give the place of a run of its own, called `name`, of what `of` tells from others."""
    shown = re.sub(r"[^A-Za-z0-9._-]+", "-", name).lstrip(".-")[:60] or "run"
    return runs_folder() / f"{shown}-{digest(of.encode())[:DIGITS]}"


def of_spec(spec: Path) -> str:
    """Say what a spec's run is of: its real path."""
    return str(spec.resolve())


def older_place(spec: Path) -> Path:
    """Give the place where older releases kept it."""
    return spec.with_name(f"{spec.name}.run")


def run_folder(spec: Path) -> Path:
    """Give the folder of a spec's run, to read it; a folder with a journal is one itself.

    Raises InputError `run.two_stand`, `file.untrusted`; LeftChangedError `run.not_a_journal`.
    """
    if is_run(spec):
        return spec
    place = new_run_folder(spec)
    older = older_place(spec)
    return older if is_run(older) and not is_run(place) else place


def new_run_folder(spec: Path) -> Path:
    """Give the folder for a run of a spec: that of its applied run, if there is one.

    Raises as `run_folder`.
    """
    return _standing(spec, _known_place(spec), older_place(spec))


def _known_place(spec: Path) -> Path:
    """Give the place of a spec's run: by its path, or of a run that was taken over for it."""
    place, of = place_of(spec.name, of_spec(spec)), of_spec(spec)
    if is_run(place):
        return place
    return next((folder for folder, said in known_runs() if said.of == of), place)


def refuse_moved(path: Path, spec: Spec) -> None:
    """Raise InputError `run.spec_moved` if a run of `spec` is applied whose file is gone.

    `path` is the file that `spec` was read from now. Raises as `run_folder`.
    """
    if is_run(new_run_folder(path)):
        return
    for folder, said in known_runs():
        is_gone = said.of.startswith("/") and not os.path.lexists(said.of)
        if is_gone and _standing_spec(folder) == spec:
            raise InputError(
                "run.spec_moved",
                where=str(path),
                found=f"{folder} has an applied run of this spec, made from {said.of}, which no "
                "longer exists",
                so="that run holds the hosts' original state",
                next=f"`wirespeed apply {path} --run {folder}` continues it with this file; "
                f"`wirespeed undo {folder}` undoes it",
            )


def _standing_spec(folder: Path) -> Spec | None:
    """Give the spec of a run that stands; None: none does, or it is not readable.

    What is wrong with another spec's run is said where that is asked for.
    """
    try:
        return run_spec(read_told(folder).entries) if stands(folder) else None
    except WirespeedError:
        return None


def other_run_folder(name: str, of: str) -> Path:
    """Give the same for a run that is of no spec; the older place is in the working directory."""
    older = Path(f"{name}.run")
    return _standing(older, place_of(name, of), older)


def _standing(what: Path, place: Path, older: Path) -> Path:
    if not is_run(older) or not stands(older):
        return place
    if is_run(place) and stands(place):
        raise InputError(
            "run.two_stand",
            where=str(what),
            found=f"{older} and {place} both have an applied run of it",
            so="wirespeed cannot tell which of the two you mean",
            next=f"compare `wirespeed status {older}` and `wirespeed status {place}`; then undo "
            "the one that you do not want",
        )
    return older


def stands(folder: Path) -> bool:
    """Tell whether steps of a run are, or may be, in place on hosts: by its journal.

    Raises as `read_told`.
    """
    told = read_told(folder)
    return bool(told.damage) or outcome(told.entries) not in ("new", "undone")


def known_runs() -> Iterator[tuple[Path, RunFile]]:
    """Give the folders of all runs in the user's state directory, the newest last."""
    folder = runs_folder()
    found = []
    for one in sorted(folder.iterdir()) if folder.is_dir() else ():
        try:
            said = read_run_file(one)
        except WirespeedError:
            # Listed all the same: `status` of it says what is wrong.
            said = RunFile(run="", made_at="")
        if said is not None:
            found.append((one, said))
    yield from sorted(found, key=lambda pair: pair[1].begun_at or pair[1].made_at)
