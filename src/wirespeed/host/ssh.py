"""Runs commands on another host, as the user's own OpenSSH configuration says how to get there.

~/.ssh/config, then /etc/ssh/ssh_config; the agent; known_hosts; jump hosts. A host must show a key
that known_hosts has for it: there is no way to switch that off here. Nobody is ever asked for
anything, and every wait is bounded.

    connect (each hop: 10 s) --> one command, its input --> output up to a limit --> closed
"""

import asyncio
import contextlib
import logging
import os
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import asyncssh

from wirespeed.host.lab_folders import lab_ssh_configs
from wirespeed.host.reach_destination import Remote, parse_jump
from wirespeed.host.read_limit import LimitedBytes
from wirespeed.host.runner import MAX_OUTPUT_BYTES
from wirespeed.host.ssh_errors import explain, no_time
from wirespeed.host.ssh_trust import Trust
from wirespeed.model.error import HostError

CONNECT_S = 10.0
"""For one hop: name, TCP, keys of the host, and proof of who we are."""
ALIVE_S, ALIVE_COUNT = 20, 3
"""A host that is silent is asked so often, and so many times: one that was cut off in the midst of
a command, or rebooted, closes no connection."""
MAX_JUMPS = 8
_CHUNK_BYTES = 1 << 16
_GOODBYE_S = 2.0

# What it logs is in the exceptions too; a library does not write to the user's terminal.
logging.getLogger("asyncssh").setLevel(logging.CRITICAL)


Process: TypeAlias = "asyncssh.SSHClientProcess[bytes]"


@dataclass(slots=True)
class Conversation:
    """One command on one host; what it said until now can be read at any time."""

    max_bytes: int = MAX_OUTPUT_BYTES
    output: LimitedBytes = field(init=False)
    errors: LimitedBytes = field(init=False)

    def __post_init__(self) -> None:
        self.output, self.errors = LimitedBytes(self.max_bytes), LimitedBytes(self.max_bytes)

    async def hold(
        self,
        place: Remote,
        argv: Sequence[str],
        stdin: str | None,
        *,
        connect_s: float = CONNECT_S,
        connected: Callable[[], None] = lambda: None,
    ) -> int:
        """Connect, run `argv`, and give its return code. Raises HostError `ssh.*`."""
        connection = await connect(place, connect_s)
        connected()
        try:
            return await self.on(await start(connection, argv), place, stdin)
        except (OSError, asyncssh.Error) as error:
            raise explain(error, place.text) from None
        finally:
            await close(connection)

    async def on(self, process: Process, place: Remote, stdin: str | None) -> int:
        """Hold it with a command that was started. Raises HostError `ssh.lost`, asyncssh.Error."""
        try:
            with contextlib.suppress(BrokenPipeError):
                process.stdin.write((stdin or "").encode())
                process.stdin.write_eof()
            readers = [
                asyncio.ensure_future(_read(process.stdout, self.output)),
                asyncio.ensure_future(_read(process.stderr, self.errors)),
            ]
            try:
                for reader in asyncio.as_completed(readers):
                    if not await reader:
                        return process.returncode or 0
            finally:
                for task in readers:
                    task.cancel()
            await process.wait_closed()
        finally:
            if process.returncode is None:
                # OpenSSH hands the signal to all that the command started, save in a session of
                # root (session_signal_req): there it ends when it next writes to us.
                with contextlib.suppress(OSError):
                    process.terminate()
        if process.returncode is None:
            raise HostError(
                "ssh.lost",
                where=place.text,
                found="the connection ended before the command did",
                next=f"try `ssh {place.text}`: where it works, run the same command again",
            )
        return process.returncode


async def start(connection: asyncssh.SSHClientConnection, argv: Sequence[str]) -> Process:
    """Start a command: the one place where arguments become the line that sshd's shell is given."""
    return await connection.create_process(shlex.join(argv), encoding=None, request_pty=False)


async def close(connection: asyncssh.SSHClientConnection) -> None:
    """Close a connection within a bounded time."""
    connection.close()
    with contextlib.suppress(TimeoutError, OSError, asyncssh.Error):
        async with asyncio.timeout(_GOODBYE_S):
            await connection.wait_closed()
    connection.abort()


async def _read(stream: "asyncssh.SSHReader[bytes]", sink: LimitedBytes) -> bool:
    """Read to the end; False: the limit came first."""
    while chunk := await stream.read(_CHUNK_BYTES):
        if not sink.add(chunk):
            return False
    return True


async def connect(place: Remote, connect_s: float, depth: int = 0) -> asyncssh.SSHClientConnection:
    """Connect by way of the jump hosts that the configuration names, each checked alike."""
    given: dict[str, Any] = {
        "host": place.host,
        "username": place.user or (),
        "port": place.port or (),
        "config": [path for path in _config_files(place.host) if os.access(path, os.R_OK)],
    }
    try:
        options = await asyncssh.SSHClientConnectionOptions.construct(**given)
        jumps = options.tunnel if isinstance(options.tunnel, str) else ""
        way = [parse_jump(jump.strip()) for jump in jumps.split(",") if jump.strip()]
    except (OSError, ValueError, asyncssh.Error) as error:
        raise explain(error, place.text) from None
    if depth + len(way) > MAX_JUMPS:
        raise HostError(
            "ssh.config",
            where=place.text,
            found=f"ProxyJump leads through more than {MAX_JUMPS} hosts",
            next="check with `ssh -G HOST` whether a jump host uses itself as its jump host",
        )
    tunnel: asyncssh.SSHClientConnection | None = None
    try:
        for jump in way:
            if (jump.host, jump.port) == (place.host, place.port):
                continue
            if tunnel is None:
                tunnel = await connect(jump, connect_s, depth + len(way))
            else:
                tunnel = await _hop(jump, given | _place_options(jump), tunnel, connect_s)
        return await _hop(place, given, tunnel, connect_s)
    except BaseException:
        if tunnel is not None:
            tunnel.abort()
        raise


def _place_options(place: Remote) -> dict[str, Any]:
    return {"host": place.host, "username": place.user or (), "port": place.port or ()}


async def _hop(
    place: Remote,
    given: dict[str, Any],
    tunnel: asyncssh.SSHClientConnection | None,
    connect_s: float,
) -> asyncssh.SSHClientConnection:
    options = await asyncssh.SSHClientConnectionOptions.construct(**given)
    trust = Trust.of(options.config)
    if not options.config.get("HostKeyAlgorithms"):
        port = options.port if options.port != asyncssh.DEFAULT_PORT else None
        name = options.host_key_alias or options.host
        given = given | {"server_host_key_algs": trust.preferred(name, port)}
    try:
        async with asyncio.timeout(connect_s):
            connection = await asyncssh.connect(
                **given,
                tunnel=tunnel,
                known_hosts=trust,
                connect_timeout=None,
                login_timeout=0,
                keepalive_interval=ALIVE_S,
                keepalive_count_max=ALIVE_COUNT,
                password=None,
                password_auth=False,
                kbdint_auth=False,
                agent_forwarding=False,
                x509_trusted_certs=None,
            )
    except TimeoutError:
        raise no_time(place.text, connect_s) from None
    except (OSError, ValueError, asyncssh.Error) as error:
        raise explain(error, place.text, trust, options.host) from None
    if tunnel is not None:
        connection.set_tunnel(tunnel)
    return connection


def _config_files(host: str) -> tuple[Path, ...]:
    """The lab of virtual hosts that has it comes first: the names in it are its alone."""
    user, system = Path("~/.ssh/config").expanduser(), Path("/etc/ssh/ssh_config")
    return *lab_ssh_configs(host), user, system
