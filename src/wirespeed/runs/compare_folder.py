"""The folder of a comparison: a run for each approach; a kill may have left one standing."""

from pathlib import Path

from wirespeed.apply.run import is_run, read_journal
from wirespeed.apply.run_place import of_spec, place_of, stands
from wirespeed.model.error import InputError
from wirespeed.model.journal import outcome
from wirespeed.report.comparison_features import comparable


def compare_folder(spec: Path) -> Path:
    """Give the folder of a spec's comparison where none is named.

    Older releases had it beside the spec: what a kill left there is still found. Raises as
    `standing_runs`.
    """
    older = compare_pages(spec)
    if standing_runs(older):
        return older
    return place_of(f"{spec.name}.compare", f"compare {of_spec(spec)}")


def compare_pages(spec: Path) -> Path:
    """Give the folder of a comparison's pages where none is named: beside the spec."""
    return spec.with_name(f"{spec.name}.compare")


def standing_runs(folder: Path) -> list[Path]:
    """Give the runs in a comparison's folder that are in place on hosts, by the journals.

    Raises as `read_told`.
    """
    return [
        folder / approach
        for approach in comparable()
        if is_run(folder / approach) and stands(folder / approach)
    ]


def refuse_what_stands(folder: Path, run: Path, spec: Path) -> None:
    """Raise InputError `run.applied_before` where the hosts are not as found: nothing to build on.

    `folder` is the comparison's, `run` the spec's own.
    """
    standing = [*standing_runs(folder), *([run] if is_run(run) and stands(run) else [])]
    if not standing:
        return
    takes_back = str(spec) if folder == compare_folder(spec) else str(standing[0])
    raise InputError(
        "run.applied_before",
        where=str(standing[0]),
        found=f"its run is {outcome(read_journal(standing[0]))}",
        so="an approach built on top of it could not be compared with the others",
        next=f"run `wirespeed undo {takes_back}`, then compare again",
    )
