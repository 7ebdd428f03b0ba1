"""What a run's folder says besides its journal: whose run it is, and whether it was begun.

An empty journal is one of a run that was declined, or one that lost all it said: `begun_at` tells.
It is durable before the first change to a host.
"""

from pathlib import Path

from wirespeed.host.files import write_whole
from wirespeed.host.private import read_private, sync_folder
from wirespeed.model.error import InputError
from wirespeed.model.frozen import Frozen
from wirespeed.model.json_value import read_record

RUN = "run.json"


class RunFile(Frozen):
    """The folder's `run.json`."""

    run: str
    """The id of the run, from before its first entry on; later the journal has it too."""
    of: str = ""
    """The real path of its spec, or what else it is of; empty: not known."""
    made_at: str
    begun_at: str | None = None
    """When the run began that the journal is of; None: no host was changed."""
    copy_name: str = ""
    """Of a folder that was made of a host's copy: the name that this one has there."""


def read_run_file(folder: Path) -> RunFile | None:
    """Give it; None: an older release made the folder, or nothing did.

    Raises InputError `file.untrusted`, `file.unreadable`, `run.not_readable`.
    """
    path = folder / RUN
    try:
        return read_record(RunFile, read_private(path))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise InputError("file.unreadable", where=str(path), found=str(error)) from None
    except ValueError:
        raise InputError(
            "run.not_readable",
            where=str(path),
            found="it does not say when the run was created and started",
            so="wirespeed cannot tell from it whether a host was changed",
            next=f"read {folder}/journal.jsonl; if that file is complete: rm {path}",
        ) from None


def write_run_file(folder: Path, said: RunFile) -> None:
    """Write it; it is durable when this returns. Raises InputError `file.unwritable`."""
    write_whole(folder / RUN, said.model_dump_json() + "\n")
    sync_folder(folder)
