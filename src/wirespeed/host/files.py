"""Files and programs on this host, for those that must not touch it themselves.

What cannot be read or written is an InputError with the file's name: these are files that the user
or the distribution put there.
"""

import contextlib
import hashlib
import os
import secrets
import shutil
from collections.abc import Iterable
from pathlib import Path

from wirespeed.host.private import check_own_folder, make_private_folder
from wirespeed.model.error import InputError
from wirespeed.model.shown import printable


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


def files_in(folder: Path) -> list[Path]:
    """Give the regular files in a folder, by name. Raises InputError `file.unreadable`."""
    try:
        return sorted(path for path in folder.iterdir() if path.is_file())
    except OSError as error:
        raise InputError("file.unreadable", where=str(folder), found=str(error)) from None


def read_text(path: Path) -> str:
    """Read a whole file. Raises InputError `file.unreadable`."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError("file.unreadable", where=str(path), found=str(error)) from None


def write_text(path: Path, text: str) -> None:
    """Write a whole file that people read: what is not printable in it is written out.

    Raises InputError `file.unwritable`.
    """
    write_exact(path, printable(text))


def append_text(path: Path, text: str) -> None:
    """Add to a file that people read, in a folder of ours. Raises InputError `file.unwritable`."""
    try:
        with path.open("a", encoding="utf-8", errors="replace") as file:
            file.write(printable(text))
    except OSError as error:
        raise InputError("file.unwritable", where=str(path), found=str(error)) from None


def write_exact(path: Path, text: str) -> None:
    """Write a whole file as it is: for a program. Raises InputError `file.unwritable`."""
    try:
        path.write_text(text, encoding="utf-8", errors="replace")
    except OSError as error:
        raise InputError("file.unwritable", where=str(path), found=str(error)) from None


def write_result(path: Path, text: str) -> None:
    """Write a whole file for people to read, in a folder where its name is ours.

    What is not printable in it is written out, as by `write_text`. A link of that name is
    replaced, never followed. Raises InputError `file.unwritable`.
    """
    _replace(path, printable(text).encode(errors="replace"), 0o666)


def write_private_result(path: Path, text: str) -> None:
    """Write the same for its owner alone: a page that has what stood in files of that mode.

    Raises InputError `file.unwritable`.
    """
    _replace(path, printable(text).encode(errors="replace"), 0o600)


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
    """Remove a socket whose server has ended, if there is one. Never anything else."""
    if path.is_socket():
        path.unlink(missing_ok=True)


def make_folder(path: Path) -> None:
    """Make a folder and those above it, if need be. Raises InputError `file.unwritable`."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError("file.unwritable", where=str(path), found=str(error)) from None


def make_run_folder(path: Path) -> None:
    """Make a folder for what is read again and trusted. Raises InputError `file.*`."""
    try:
        make_private_folder(path)
    except OSError as error:
        raise InputError("file.unwritable", where=str(path), found=str(error)) from None


def make_result_folder(path: Path) -> None:
    """Make a folder for pages. Raises InputError `file.*`, also where it is another user's."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        check_own_folder(path)
    except OSError as error:
        raise InputError("file.unwritable", where=str(path), found=str(error)) from None


def write_whole(path: Path, text: str) -> None:
    """Write a file as it is, whole or not at all, for its owner to read.

    Raises InputError `file.unwritable`.
    """
    _replace(path, text.encode(errors="replace"), 0o600)


def write_bytes(path: Path, data: bytes, mode: int) -> None:
    """Write a file that is no text, whole or not at all, with `mode` less the umask.

    Raises InputError `file.unwritable`.
    """
    _replace(path, data, mode)


def _replace(path: Path, data: bytes, mode: int) -> None:
    draft = path.with_name(f".{path.name[:100]}.{secrets.token_hex(6)}")
    try:
        # `mode` less the umask: a new file, no link of that name.
        fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        with os.fdopen(fd, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(fd)
        draft.replace(path)
    except OSError as error:
        raise InputError("file.unwritable", where=str(path), found=str(error)) from None
    finally:
        # Renamed by now, or not wanted: also on Ctrl-C.
        with contextlib.suppress(OSError):
            draft.unlink()
