"""The runs that are known: how each ended, when it began, what it is of, and its folder."""

from collections.abc import Iterator
from pathlib import Path

from wirespeed.apply.run import read_told
from wirespeed.apply.run_place import known_runs, runs_folder
from wirespeed.model.error import LeftChangedError, WirespeedError
from wirespeed.model.journal import outcome


def run_lines() -> Iterator[str]:
    """Give them, the newest last. Raises as `known_runs`."""
    found = [(_how(folder), folder, said) for folder, said in known_runs()]
    for how, folder, said in found:
        when = said.begun_at or said.made_at
        yield f"{how:<12} {when:<20} {said.of or 'of an unknown spec'}\n{'':<13}{folder}"
    if not found:
        yield f"no runs in {runs_folder()}"


def _how(folder: Path) -> str:
    try:
        told = read_told(folder)
    except LeftChangedError:
        return "damaged"
    except WirespeedError:
        return "not readable"
    if told.damage:
        return "damaged"
    how = outcome(told.entries)
    return "never begun" if how == "new" else how
