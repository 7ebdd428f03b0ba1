"""Files that say what is done to hosts: opened only where no other user can have written them.

    file     regular, ours, not writable by group or others, reached by no symbolic link; mode 0600
    folder   ours, not writable by group or others, no symbolic link; made with mode 0700

A file of ours that others may only read is taken, and made 0600 by its descriptor. O_NONBLOCK keeps
a FIFO from holding the open(2) up; a file's reads and writes do not heed it.
"""

import errno
import os
import pwd
import stat
from contextlib import suppress
from pathlib import Path

from wirespeed.model.error import InputError
from wirespeed.model.shown import shown

MAX_PRIVATE_BYTES = 64 << 20
"""A journal has some 2 kB a step; a plan has some 1,000."""
OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
OTHERS_MAY = stat.S_IRWXG | stat.S_IRWXO
MAX_LINKS = 40
"""As path_resolution(7) has it."""
_REACH = os.O_PATH | os.O_CLOEXEC
_OPEN = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY


def open_private(path: Path, flags: int) -> int:
    """Open a file of ours and give its descriptor; with O_CREAT it is made with mode 0600.

    Raises InputError `file.untrusted`, and OSError as open(2) does.
    """
    fd = open_result(path, flags, 0o600)
    try:
        found = os.fstat(fd)
        _refuse_others(path, found)
        _tighten(fd, found, 0o600)
    except BaseException:
        os.close(fd)
        raise
    return fd


def open_result(path: Path, flags: int, mode: int = 0o644) -> int:
    """Open a file that people read, whoever owns it; with O_CREAT it is made, less the umask.

    Never another file in its place: no link is followed. Raises as `open_private`.
    """
    fd = _opened(path, flags, mode)
    try:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode):
            raise _untrusted(path, f"{_kind(found.st_mode)}, no regular file", f"rm {path}")
        if found.st_nlink > 1 and flags & (os.O_WRONLY | os.O_RDWR):
            raise _untrusted(
                path,
                f"a file with {found.st_nlink} names (hard links)",
                f"mv {path} {path}.linked",
                f"find its other names: find / -xdev -inum {found.st_ino}",
            )
    except BaseException:
        os.close(fd)
        raise
    return fd


def read_private(path: Path) -> bytes:
    """Read a file of ours.

    Raises InputError `file.untrusted`, `file.too_large`, and OSError as open(2) does.
    """
    with os.fdopen(open_private(path, os.O_RDONLY), "rb") as file:
        data = file.read(MAX_PRIVATE_BYTES + 1)
    if len(data) > MAX_PRIVATE_BYTES:
        raise InputError(
            "file.too_large",
            where=str(path),
            found=f"more than {MAX_PRIVATE_BYTES >> 20} MiB",
            so="wirespeed does not read it",
            next="no run writes so much: look what else wrote to it",
        )
    return data


def make_private_folder(path: Path) -> None:
    """Make a folder and those above it with mode 0700, each durable; check one that is there.

    Raises InputError `file.untrusted`, and OSError as mkdir(2) does.
    """
    missing = [one for one in (path, *path.parents) if not os.path.lexists(one)]
    for one in reversed(missing):
        # Another process may be making the same.
        with suppress(FileExistsError):
            one.mkdir(mode=0o700)
        sync_folder(one.parent)
    check_private_folder(path)


def check_private_folder(path: Path) -> None:
    """Raise InputError `file.untrusted` for a folder that others may have filled; OSError."""
    os.close(_checked_folder(path))


def check_own_folder(path: Path) -> None:
    """Raise InputError `file.untrusted` for a link, and for a folder of another user; OSError."""
    fd = _opened(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        _refuse_other_owner(path, os.fstat(fd))
    finally:
        os.close(fd)


def reach_folder(path: Path) -> int:
    """Open a folder by its path, over no link of another user; give its descriptor, O_PATH.

    What is done in it by that descriptor is done there, whoever renames what meanwhile. Raises
    InputError `file.untrusted`, and OSError as open(2) does.
    """
    ahead = [*reversed(path.parts)]
    links = 0
    fd = os.open(".", _REACH | os.O_DIRECTORY)
    try:
        while ahead:
            name = ahead.pop()
            one = os.open(name, _REACH | os.O_NOFOLLOW, dir_fd=fd)
            try:
                found = os.fstat(one)
                if stat.S_ISLNK(found.st_mode):
                    links += 1
                    if links > MAX_LINKS:
                        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
                    to = os.readlink("", dir_fd=one)
                    _refuse_link_of_others(path, name, to, found.st_uid)
                    ahead += reversed(Path(to).parts)
                    continue
                fd, one = one, fd
            finally:
                os.close(one)
    except BaseException:
        os.close(fd)
        raise
    return fd


def refuse_special(path: Path, folder: int) -> None:
    """Raise InputError `file.untrusted` where neither a file nor nothing is at its name, OSError.

    Links are looked through: `/dev/stdout` leads to no file.
    """
    try:
        mode = os.stat(path.name, dir_fd=folder).st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISREG(mode):
        raise InputError(
            "file.untrusted",
            where=str(path),
            found=f"{_kind(mode)}, no regular file",
            so="wirespeed writes files alone; nothing was written",
            next="give the name of a file that may be replaced",
        )


def tighten_folder(path: Path) -> None:
    """Check a folder, and take from others what they may do in it: its mode is 0700 then."""
    fd = _checked_folder(path)
    try:
        _tighten(fd, os.fstat(fd), 0o700)
    finally:
        os.close(fd)


def sync_folder(folder: Path) -> None:
    """Make the names of files in it durable: a file's own fsync does not (fsync(2))."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _opened(path: Path, flags: int, mode: int = 0o600) -> int:
    try:
        return os.open(path, flags | _OPEN, mode)
    except OSError as error:
        if path.is_symlink():
            found = f"a symbolic link to {path.readlink()}"
            raise _untrusted(path, found, f"rm {path}", "see where it leads") from None
        if error.errno == errno.ENXIO:
            # A FIFO that nobody reads, a socket.
            raise _untrusted(path, "a FIFO or a socket, no regular file", f"rm {path}") from None
        raise


def _checked_folder(path: Path) -> int:
    fd = _opened(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        _refuse_others(path, os.fstat(fd))
    except BaseException:
        os.close(fd)
        raise
    return fd


def _refuse_other_owner(path: Path, found: os.stat_result) -> None:
    mode = stat.S_IMODE(found.st_mode)
    if found.st_uid != os.geteuid():
        raise _untrusted(
            path,
            f"owned by {_user(found.st_uid)}, mode {mode:04o}; you are {_user(os.geteuid())}",
            f"chown {os.geteuid()} {path}",
        )


def _refuse_others(path: Path, found: os.stat_result) -> None:
    _refuse_other_owner(path, found)
    mode = stat.S_IMODE(found.st_mode)
    if mode & OTHERS_WRITE:
        raise _untrusted(
            path,
            f"owned by {_user(found.st_uid)}, mode {mode:04o}: group or others may write to it",
            f"chmod go-w {path}",
        )


def _refuse_link_of_others(path: Path, name: str, to: str, uid: int) -> None:
    # Root may be another number where this is a container.
    if uid not in (0, os.geteuid(), Path("/").stat().st_uid):
        raise InputError(
            "file.untrusted",
            where=str(path),
            found=f"{shown(name, 100)} in it is a symbolic link of {_user(uid)} to "
            f"{shown(to, 100)}",
            so="another user chose where it leads; nothing was written",
            next="give a path without that link",
        )


def _tighten(fd: int, found: os.stat_result, mode: int) -> None:
    if stat.S_IMODE(found.st_mode) & OTHERS_MAY:
        # What is only read may lie on a file system that is read-only.
        with suppress(OSError):
            os.fchmod(fd, mode)


def _untrusted(path: Path, found: str, then: str, look: str = "look at what it says") -> InputError:
    return InputError(
        "file.untrusted",
        where=str(path),
        found=found,
        so="another user may have created it; wirespeed does not read or write it",
        next=f"{look}; then: {then}",
    )


def _user(uid: int) -> str:
    try:
        return f"{pwd.getpwuid(uid).pw_name} (uid {uid})"
    except KeyError:
        return f"uid {uid}"


def _kind(mode: int) -> str:
    kinds = ((stat.S_ISFIFO, "a FIFO"), (stat.S_ISDIR, "a folder"), (stat.S_ISCHR, "a device"))
    return next((name for is_one, name in kinds if is_one(mode)), "a special file")
