"""Where what a user has to keep is kept: the state directory of the XDG base directories.

    $XDG_STATE_HOME/wirespeed      or ~/.local/state/wirespeed

Under sudo both may be those of the user who called it. That user could put folders of others in
the place of root's, so a place whose nearest folder is another user's is passed over for the home
that the password database gives.
"""

import os
import pwd
from collections.abc import Iterator
from pathlib import Path

from wirespeed.model.error import InputError


def state_folder() -> Path:
    """Give it; it may not be there yet. Raises InputError `run.no_place`."""
    for base in _bases():
        if base.is_absolute() and _is_ours(base):
            return base / "wirespeed"
    raise InputError(
        "run.no_place",
        where=f"uid {os.geteuid()}",
        found="this user has no XDG_STATE_HOME and no home folder",
        so="wirespeed could keep the run only in a folder where other users can replace it",
        next="give a folder: --run FOLDER",
    )


def _bases() -> Iterator[Path]:
    if base := os.environ.get("XDG_STATE_HOME"):
        yield Path(base)
    if home := os.environ.get("HOME"):
        yield Path(home) / ".local/state"
    try:
        yield Path(pwd.getpwuid(os.geteuid()).pw_dir) / ".local/state"
    except KeyError:
        return


def _is_ours(path: Path) -> bool:
    """Tell whether the nearest folder that is there is ours, or root's."""
    for one in (path, *path.parents):
        try:
            return one.stat().st_uid in (0, os.geteuid())
        except OSError:
            continue
    return False
