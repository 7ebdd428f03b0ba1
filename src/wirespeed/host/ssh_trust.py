"""Which keys a host may show: what the user's known_hosts files have for it, and nothing else."""

import os
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any, Self

import asyncssh
from asyncssh.config import SSHConfig
from asyncssh.public_key import get_default_certificate_algs, get_default_public_key_algs

from wirespeed.host.files import read_limited
from wirespeed.model.error import InputError

USER_FILES = ("~/.ssh/known_hosts", "~/.ssh/known_hosts2")
GLOBAL_FILES = ("/etc/ssh/ssh_known_hosts", "/etc/ssh/ssh_known_hosts2")
MAX_BYTES, MAX_LINES = 8 << 20, 100_000
"""Of all files together; 100,000 keys take a second and 200 MB."""


class Trust:
    """Answers which keys to trust, and remembers what it was asked and whether it had any.

    `UserKnownHostsFile none` and `StrictHostKeyChecking no` do not make it trust every key, as they
    would the library: to read a host is no reason to talk to whoever answers in its place.
    """

    def __init__(self, known: asyncssh.SSHKnownHosts, files: tuple[str, ...]) -> None:
        self._known = known
        self.files = files
        self.has_keys = False
        self.name = ""
        """As known_hosts writes it: HOST, or [HOST]:PORT."""

    @classmethod
    def of(cls, config: SSHConfig) -> Self:
        """Read the files that the configuration of one host names."""
        files = (
            *_files(config.get("UserKnownHostsFile"), USER_FILES),
            *_files(config.get("GlobalKnownHostsFile"), GLOBAL_FILES),
        )
        return cls(_known(tuple(_state(path) for path in files)), tuple(map(str, files)))

    def __call__(self, host: str, address: str, port: int | None) -> Any:
        """Look up a host (asyncssh: `known_hosts` may be a function)."""
        found = asyncssh.match_known_hosts(self._known, host, address, port)
        self.has_keys = bool(found[0] or found[1])
        self.name = host if port is None else f"[{host}]:{port}"
        return found

    def preferred(self, host: str, port: int | None) -> list[str]:
        """Every kind of key, those first that are known for the host.

        With those alone, as is the library's way, a host that has only others would just hang up.
        """
        keys, authorities, *_ = self(host, "", port)
        certificates = [name.decode() for name in get_default_certificate_algs()]
        known = [name.decode() for key in keys for name in key.sig_algorithms]
        usual = [name.decode() for name in get_default_public_key_algs()]
        return list(dict.fromkeys((certificates if authorities else []) + known + usual))


def _files(named: object, usual: Iterable[str]) -> list[Path]:
    """`none` names no file: the library gives an empty list for it, and None for nothing said."""
    names = usual if not isinstance(named, list | tuple) else named
    return [Path(str(name)).expanduser() for name in names]


def _state(path: Path) -> tuple[str, int, int]:
    """Path, size and time of change; a file that is not there has no size."""
    try:
        status = path.stat()
    except OSError:
        return str(path), -1, 0
    return str(path), status.st_size, status.st_mtime_ns


@lru_cache(maxsize=8)
def _known(files: tuple[tuple[str, int, int], ...]) -> asyncssh.SSHKnownHosts:
    """Read all of them once, not for each of 200 hosts. A line that makes no sense is left out.

    Raises InputError `file.unreadable`, `file.too_large`.
    """
    lines: list[str] = []
    left = MAX_BYTES
    for name, size, _ in files:
        if size > 0:
            data = read_limited(Path(name), left)
            left -= len(data)
            lines += data.decode(errors="replace").splitlines()
            if len(lines) > MAX_LINES:
                raise InputError(
                    "file.too_large",
                    where=name,
                    found=f"with what was read before it, more than {MAX_LINES} lines",
                    so="wirespeed does not read it, and knows the key of no host",
                    next="name a smaller file with UserKnownHostsFile in ~/.ssh/config",
                )
    try:
        return asyncssh.import_known_hosts("\n".join(lines))
    except ValueError:
        return asyncssh.import_known_hosts("\n".join(filter(_makes_sense, lines)))


def _makes_sense(line: str) -> bool:
    try:
        asyncssh.import_known_hosts(line)
    except ValueError:
        return False
    return True


def make_key(path: Path) -> str:
    """Write a new Ed25519 key that only we can read, and give its public half in one line."""
    key = asyncssh.generate_private_key("ssh-ed25519")
    try:
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(fd, "wb") as file:
            file.write(key.export_private_key())
    except OSError as error:
        raise InputError("file.unwritable", where=str(path), found=str(error)) from None
    return key.export_public_key().decode().strip()
