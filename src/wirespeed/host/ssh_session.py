"""One connection to a host for many commands: a handshake costs more than most of them."""

import asyncio
import shlex
from collections.abc import Sequence

import asyncssh

from wirespeed.host.clock import monotonic_s
from wirespeed.host.closing import Closing
from wirespeed.host.reach_destination import Remote
from wirespeed.host.runner import MAX_OUTPUT_BYTES, Completed
from wirespeed.host.ssh import CONNECT_S, Conversation, Process, close, connect, start
from wirespeed.host.ssh_errors import explain
from wirespeed.model.error import MeasurementError


class SshSession(Closing):
    """The `Runner` of a host that SSH goes to, with a connection that is kept until `close`.

    A lost connection is made again before a command is started, never after: it would not be
    known whether the command ran.
    """

    def __init__(self, place: Remote, *, connect_s: float = CONNECT_S) -> None:
        self._place, self._connect_s = place, connect_s
        self._loop = asyncio.Runner()
        self._connection: asyncssh.SSHClientConnection | None = None

    def run(
        self,
        argv: Sequence[str],
        *,
        timeout_s: float = 60.0,
        stdin: str | None = None,
        max_bytes: int = MAX_OUTPUT_BYTES,
    ) -> Completed:
        """See `Runner.run`. Raises HostError `ssh.*` as well."""
        started = monotonic_s()
        talk = Conversation(max_bytes)
        returncode = self._loop.run(self._hold(talk, argv, stdin, timeout_s))
        return Completed(
            argv=tuple(argv),
            output=talk.output.text(),
            errors=talk.errors.text(),
            returncode=returncode,
            duration_s=monotonic_s() - started,
            cut=talk.output.cut or talk.errors.cut,
        )

    def renew(self) -> None:
        """See `ByNetwork.renew`."""
        self._loop.run(self._drop())

    def close(self) -> None:
        """Close the connection; a second call does nothing."""
        connection, self._connection = self._connection, None
        if connection is not None:
            self._loop.run(close(connection))
        self._loop.close()

    async def _hold(
        self, talk: Conversation, argv: Sequence[str], stdin: str | None, timeout_s: float
    ) -> int:
        try:
            async with asyncio.timeout(timeout_s):
                return await talk.on(await self._start(argv), self._place, stdin)
        except TimeoutError:
            await self._drop()
            raise MeasurementError(
                "command.timeout",
                where=f"{self._place.text}: {shlex.join(argv)}",
                found=f"still running after {timeout_s:g} s",
                so="it was ended",
            ) from None
        except (OSError, asyncssh.Error) as error:
            await self._drop()
            raise explain(error, self._place.text) from None
        except BaseException:
            await self._drop()
            raise

    async def _start(self, argv: Sequence[str]) -> Process:
        if self._connection is not None:
            try:
                return await start(self._connection, argv)
            except (OSError, asyncssh.Error):
                await self._drop()
        self._connection = await self._open()
        return await start(self._connection, argv)

    async def _open(self) -> asyncssh.SSHClientConnection:
        return await connect(self._place, self._connect_s)

    async def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await close(connection)
