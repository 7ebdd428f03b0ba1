"""Which spec a run goes on with: the one that it was begun with, and no other."""

from pathlib import Path

from wirespeed.apply.run import Run
from wirespeed.apply.spec_changed import begun_spec, spec_changes
from wirespeed.model.error import InputError
from wirespeed.model.spec.spec import Spec

GOES_ON = ("unfinished", "staged")
MAX_SHOWN = 20


def spec_to_go_on_with(run: Run, now: Spec, path: Path, *, as_begun: bool) -> Spec:
    """Give the spec of the file, or of the journal where a run is not at its end.

    Raises InputError `run.spec_changed` where the two differ and the user did not say --as-begun,
    `run.nothing_to_finish` where that was said and no run goes on.
    """
    begun = begun_spec(run.entries) if run.outcome in GOES_ON else None
    if begun is None:
        if as_begun:
            raise InputError(
                "run.nothing_to_finish",
                where=str(run.folder),
                found=f"its run is {run.outcome}"
                + (", and its journal has no spec" if run.outcome in GOES_ON else ""),
                so="--as-begun has no spec to continue with; nothing was changed",
                next=f"run `wirespeed apply {path}`",
            )
        return now
    changes = spec_changes(begun, now)
    if changes and not as_begun:
        more = [f"and {len(changes) - MAX_SHOWN} more"] if len(changes) > MAX_SHOWN else []
        raise InputError(
            "run.spec_changed",
            where=str(path),
            found="\n".join([*changes[:MAX_SHOWN], *more]),
            so="the run in its journal is not finished, and was started with the first value of "
            "each line; nothing more was changed",
            next=f"finish it with the old spec: `wirespeed apply {path} --as-begun`; or undo it "
            f"with `wirespeed undo {path}` and apply the spec as it is now",
        )
    # Also where nothing differs: the order of guests, which numbers VFs, is that of the begin.
    return begun
