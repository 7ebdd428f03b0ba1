"""Runs commands in a virtual machine, by ssh through its host: nothing else leads to it.

    host (as it is always reached) --> its loopback, a port --> the guest's sshd

The guest tells its public host key over its serial console, which the host keeps: that key and no
other is taken for it. What proves who we are is a key of ours, or the user's own.
"""

import asyncio
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import asyncssh

from wirespeed.host.clock import Deadline, sleep_s
from wirespeed.host.files import is_file, make_folder
from wirespeed.host.private import read_private
from wirespeed.host.reach_destination import Remote
from wirespeed.host.runner import MAX_OUTPUT_BYTES, Completed, Runner
from wirespeed.host.ssh import CONNECT_S as HOST_CONNECT_S
from wirespeed.host.ssh import close, connect
from wirespeed.host.ssh_errors import explain, no_time
from wirespeed.host.ssh_session import SshSession
from wirespeed.host.ssh_trust import make_key
from wirespeed.model.error import HostError, InputError
from wirespeed.model.frozen import Frozen
from wirespeed.model.shown import shown

KEY_LINE = re.compile(r"(ssh-ed25519 AAAA[A-Za-z0-9+/]{64})(?![A-Za-z0-9+/=])")
"""RFC 8709: name and 32 bytes, 51 in all and 68 characters of base64."""
BOOT_S = 600.0
"""For a guest to boot; one whose CPU is emulated takes minutes."""
CONNECT_S = 60.0
"""For keys and proof, in a guest that has just booted; an emulated CPU takes more than 10 s."""
PAUSE_S = 2.0
READ_S = 30.0
MAX_BYTES = 1 << 16
USER = "root"
LOOPBACK = "127.0.0.1"
NO_LINE = 1
"""grep(1): 0 a line was found, 1 none, 2 the file could not be read."""


class GuestPlace(Frozen):
    """How a guest is found on its host."""

    name: str
    ssh_port: int
    console: str
    """File of its serial console."""
    marker: str
    """What its host key follows there."""


class GuestSession(SshSession):
    """The `Runner` of a virtual machine; each connection first asks its host for the guest's key.

    Raises HostError `guest.not_running` when there is no console, `guest.silent` when the console
    has no key within the time for a boot, and `ssh.*`.
    """

    def __init__(
        self, guest: GuestPlace, host: Runner, through: Remote | None, private_key: Path | None
    ) -> None:
        """`host` reads the console; `through` is how it is reached, None: it is this machine.

        Without `private_key`, the agent and the user's usual keys are tried.
        """
        super().__init__(Remote(guest.name, guest.name))
        self._guest, self._host, self._through = guest, host, through
        self._private_key = private_key
        self._key = ""
        self._boot_s = BOOT_S

    def run(
        self,
        argv: Sequence[str],
        *,
        timeout_s: float = 60.0,
        stdin: str | None = None,
        max_bytes: int = MAX_OUTPUT_BYTES,
    ) -> Completed:
        """See `Runner.run`; the time for a boot is not part of `timeout_s`."""
        if self._connection is None:
            self._key = self._await_key()
        return super().run(argv, timeout_s=timeout_s, stdin=stdin, max_bytes=max_bytes)

    def _await_key(self) -> str:
        """Wait until the guest has told its key: the last one that it told is that of its boot."""
        deadline = Deadline(self._boot_s)
        pattern = f"{self._guest.marker} ssh-ed25519 [A-Za-z0-9+/]*"
        argv = ("grep", "-a", "-o", pattern, self._guest.console)
        while True:
            done = self._host.run(argv, timeout_s=READ_S, max_bytes=MAX_BYTES)
            if found := KEY_LINE.findall(done.output):
                return str(found[-1])
            if done.returncode > NO_LINE:
                raise HostError(
                    "guest.not_running",
                    where=self._guest.name,
                    found=f"its host has no console for it: {shown(done.errors.strip(), 200)}",
                    next="start it with `wirespeed apply`",
                )
            if deadline.expired:
                # The next question is not worth another boot's time.
                self._boot_s = 0.0
                raise HostError(
                    "guest.silent",
                    where=self._guest.name,
                    found=f"it did not print its host key within {BOOT_S:g} s",
                    so="the guest cannot be verified",
                    next=f"read {self._guest.console} on its host, and check that its image has "
                    "cloud-init",
                )
            sleep_s(PAUSE_S)

    async def _open(self) -> asyncssh.SSHClientConnection:
        tunnel = await connect(self._through, HOST_CONNECT_S) if self._through else None
        keys = {} if self._private_key is None else {"client_keys": [str(self._private_key)]}
        try:
            async with asyncio.timeout(CONNECT_S):
                connection = await asyncssh.connect(
                    LOOPBACK,
                    self._guest.ssh_port,
                    config=None,
                    username=USER,
                    tunnel=tunnel,
                    known_hosts=([asyncssh.import_public_key(self._key)], [], []),
                    server_host_key_algs=["ssh-ed25519"],
                    connect_timeout=None,
                    login_timeout=0,
                    password=None,
                    password_auth=False,
                    kbdint_auth=False,
                    x509_trusted_certs=None,
                    **keys,
                )
        except BaseException as error:
            if tunnel is not None:
                await close(tunnel)
            if isinstance(error, TimeoutError):
                raise no_time(self._guest.name, CONNECT_S) from None
            if isinstance(error, OSError | ValueError | asyncssh.Error):
                raise explain(error, self._guest.name) from None
            raise
        if tunnel is not None:
            connection.set_tunnel(tunnel)
        return connection


def own_key(folder: Path) -> tuple[Path, str]:
    """Give the private key that guests let us in by, made now if need be, and its public half.

    Raises InputError `file.untrusted` for one that another user may have put there.
    """
    path = folder / "guest_key"
    if not is_file(path):
        make_folder(folder)
        with suppress(InputError):  # Another one has made it meanwhile.
            make_key(path)
    try:
        key = asyncssh.import_private_key(read_private(path))
    except (OSError, ValueError, asyncssh.Error) as error:
        raise InputError("file.unreadable", where=str(path), found=str(error)) from None
    public = key.export_public_key().decode().split()
    return path, f"{public[0]} {public[1]} wirespeed"
