"""Files and programs on this host, for those that must not touch it themselves.

What cannot be read or written is an InputError with the file's name: these are files that the user
or the distribution put there.
"""

import contextlib
import hashlib
import os
import secrets
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from wirespeed.host.private import (
    check_own_folder,
    check_private_folder,
    make_private_folder,
    open_private,
    reach_folder,
    refuse_special,
)
from wirespeed.model.error import InputError
from wirespeed.model.shown import printable

MAX_OWN_BYTES = 128 << 20
"""Of what wirespeed itself wrote: captures, proofs, answers of a fleet, the lines of trials."""
CHUNK_BYTES = 64 << 10


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
    """Read a whole file of ours. Raises InputError `file.unreadable`, `file.too_large`."""
    return read_limited_text(path, MAX_OWN_BYTES)


def append_text(path: Path, text: str) -> None:
    """Add to a file of ours that people read, in a folder of ours; it is made with mode 0600.

    Raises InputError `file.untrusted`, `file.unwritable`.
    """
    try:
        check_private_folder(path.parent)
        fd = open_private(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        with os.fdopen(fd, "ab") as file:
            file.write(printable(text).encode(errors="replace"))
    except OSError as error:
        raise InputError("file.unwritable", where=str(path), found=str(error)) from None


def write_exact(path: Path, text: str) -> None:
    """Write a whole file as it is: for a program. Raises as `write_result`."""
    _replace(path, text.encode(errors="replace"), 0o666)


def write_result(path: Path, text: str) -> None:
    """Write a whole file for people to read, whole or not at all.

    What is not printable in it is written out. A link of that name is replaced, never followed; a
    FIFO or a device is refused. Raises InputError `file.untrusted`, `file.unwritable`.
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
    """Put a new file in place of what has its name: the one way in which output is written.

    The folder is reached over no link of another user, and held until the file is there.
    """
    draft = f".{path.name[:100]}.{secrets.token_hex(6)}"
    try:
        folder = reach_folder(path.parent)
        try:
            refuse_special(path, folder)
            # `mode` less the umask: a new file, no link of that name.
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
            fd = os.open(draft, flags, mode, dir_fd=folder)
            with os.fdopen(fd, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(fd)
            os.replace(draft, path.name, src_dir_fd=folder, dst_dir_fd=folder)
        finally:
            # Renamed by now, or not wanted: also on Ctrl-C.
            with contextlib.suppress(OSError):
                os.unlink(draft, dir_fd=folder)
            os.close(folder)
    except OSError as error:
        raise InputError("file.unwritable", where=str(path), found=str(error)) from None


def _chunks(file: BinaryIO, most: int) -> Iterator[bytes]:
    """Read in small pieces: /proc/sys takes no larger ones (proc_sys_call_handler, ENOMEM)."""
    while most > 0 and (chunk := file.read(min(most, CHUNK_BYTES))):
        most -= len(chunk)
        yield chunk


def read_limited(path: Path, max_bytes: int) -> bytes:
    """Read a file. Raises InputError `file.unreadable`, `file.too_large`."""
    try:
        with path.open("rb") as file:
            data = b"".join(_chunks(file, max_bytes + 1))
    except (OSError, ValueError) as error:
        raise InputError("file.unreadable", where=str(path), found=str(error)) from None
    if len(data) > max_bytes:
        raise InputError(
            "file.too_large",
            where=str(path),
            found=f"more than {max_bytes >> 20} MiB",
            so="wirespeed does not read it",
            next="check that this is the file that you meant",
        )
    return data


def read_limited_text(path: Path, max_bytes: int) -> str:
    """Read a file of UTF-8, whatever the locale. Raises as `read_limited` does."""
    try:
        return read_limited(path, max_bytes).decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(
            "file.unreadable", where=str(path), found=f"not UTF-8: {error.reason} at byte "
            f"{error.start}", next="save the file as UTF-8",
        ) from None  # fmt: skip
