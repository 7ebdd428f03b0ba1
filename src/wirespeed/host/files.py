"""Files and programs on this host, for those that must not touch it themselves.

What cannot be read or written is an InputError with the file's name: these are files that the user
or the distribution put there.
"""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path

from wirespeed.model.error import InputError


def find_program(name: str) -> str | None:
    """Find a program in PATH, as the shell would."""
    return shutil.which(name)


def is_file(path: Path) -> bool:
    """Tell whether there is a regular file."""
    return path.is_file()


def is_socket(path: Path) -> bool:
    """Whether there is a socket."""
    return path.is_socket()


def is_folder(path: Path) -> bool:
    """Tell whether there is a folder."""
    return path.is_dir()


def read_text(path: Path) -> str:
    """Read a whole file. Raises InputError `file.unreadable`."""
    try:
        return path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError("file.unreadable", where=str(path), found=str(error)) from None


def write_text(path: Path, text: str) -> None:
    """Write a whole file. Raises InputError `file.unwritable`."""
    try:
        path.write_text(text)
    except OSError as error:
        raise InputError("file.unwritable", where=str(path), found=str(error)) from None


def copy_folder(source: Path, destination: Path) -> None:
    """Copy a folder with all that is in it. Raises InputError `file.unwritable`."""
    try:
        shutil.copytree(source, destination)
    except (OSError, shutil.Error) as error:
        raise InputError("file.unwritable", where=str(destination), found=str(error)) from None


def digest_folders(folders: Iterable[Path], *, seed: str) -> str:
    """Hash `seed` and the names and contents of all files in `folders`, in hexadecimal."""
    digest = hashlib.sha256(seed.encode())
    for folder in folders:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            digest.update(f"\0{path.relative_to(folder.parent)}\0".encode())
            try:
                digest.update(path.read_bytes())
            except OSError as error:
                raise InputError("file.unreadable", where=str(path), found=str(error)) from None
    return digest.hexdigest()


def remove_file(path: Path) -> None:
    """Remove a file, if there is one. Raises InputError `file.unwritable`."""
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise InputError("file.unwritable", where=str(path), found=str(error)) from None


def remove_socket(path: Path) -> None:
    """Remove a socket that nobody serves any more, if there is one. Never anything else."""
    if path.is_socket():
        path.unlink(missing_ok=True)


def make_folder(path: Path) -> None:
    """Make a folder and those above it, if need be. Raises InputError `file.unwritable`."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError("file.unwritable", where=str(path), found=str(error)) from None


def write_whole(path: Path, text: str) -> None:
    """Write a file that is there whole or not at all, for its owner to read.

    Raises InputError `file.unwritable`.
    """
    draft = ""
    try:
        fd, draft = tempfile.mkstemp(prefix=f".{path.name[:100]}.", dir=path.parent)
        with os.fdopen(fd, "wb") as file:
            file.write(text.encode(errors="replace"))
            file.flush()
            os.fsync(fd)
        Path(draft).replace(path)
    except OSError as error:
        raise InputError("file.unwritable", where=str(path), found=str(error)) from None
    finally:
        # Renamed by now, or not wanted: also on Ctrl-C.
        if draft:
            Path(draft).unlink(missing_ok=True)
