"""A program on a host, spoken to as a child of ours: a process that is its pipe.

    python -m wirespeed.host.ssh_pipe DESTINATION -- PROGRAM [ARGUMENT...]

Our input goes to the program, its output and errors to ours; its exit code is ours. Every BEAT_S a
byte says that we are here (`guest_keeper.py` takes it out). When we end, by whatever, the
connection ends, and the keeper ends the program. On this machine (`here`) there is no SSH between.
"""

import asyncio
import os
import shlex
import sys
from asyncio.subprocess import PIPE
from collections.abc import Coroutine
from typing import Any, TypeAlias

import asyncssh

from wirespeed.host.detached import interrupt_on_term
from wirespeed.host.guest_keeper import BEAT
from wirespeed.host.reach_destination import Here, Remote, parse_destination
from wirespeed.host.ssh import CONNECT_S, close, connect
from wirespeed.model.error import WirespeedError

BEAT_S = 3.0
ENDS_S = 20.0
"""For which the program's end is waited for once our input has ended."""
_CHUNK_BYTES = 1 << 16
FAILED = 255
"""As ssh ends where it did not come to the command."""


Reader: TypeAlias = "asyncssh.SSHReader[bytes] | asyncio.StreamReader"
Writer: TypeAlias = "asyncssh.SSHWriter[bytes] | asyncio.StreamWriter"


async def hold(place: Here | Remote, argv: list[str]) -> int:
    """Run `argv` there until it or our input ends. Raises HostError `ssh.*`."""
    if isinstance(place, Here):
        return await _hold_here(argv)
    connection = await connect(place, CONNECT_S)
    try:
        line = shlex.join(argv)
        process = await connection.create_process(line, encoding=None, request_pty=False)
        await _pass(process.stdin, (process.stdout, process.stderr), process.wait_closed())
        return FAILED if process.returncode is None else process.returncode
    finally:
        await close(connection)


async def _hold_here(argv: list[str]) -> int:
    # A group of its own: what ends us by Ctrl-C is not to end the keeper before the program.
    child = await asyncio.create_subprocess_exec(
        *argv, stdin=PIPE, stdout=PIPE, stderr=PIPE, process_group=0
    )
    if child.stdin is None or child.stdout is None or child.stderr is None:
        raise AssertionError("all three are pipes")
    await _pass(child.stdin, (child.stdout, child.stderr), child.wait())
    ended = child.returncode
    return FAILED if ended is None else ended if ended >= 0 else 128 - ended


async def _pass(
    stdin: Writer, outputs: tuple[Reader, Reader], ended: Coroutine[Any, Any, Any]
) -> None:
    """Hand on what comes either way, until the program or our input ends."""
    tasks = [
        asyncio.ensure_future(_copy(outputs[0], 1)),
        asyncio.ensure_future(_copy(outputs[1], 2)),
        asyncio.ensure_future(_beat(stdin)),
    ]
    feeding = asyncio.ensure_future(_feed(stdin))
    ending = asyncio.ensure_future(ended)
    await asyncio.wait([feeding, ending], return_when=asyncio.FIRST_COMPLETED)
    if not ending.done():
        await asyncio.wait([ending], timeout=ENDS_S)
    await asyncio.wait(tasks[:2], timeout=1.0)
    for task in (*tasks, feeding, ending):
        task.cancel()


async def _feed(stdin: Writer) -> None:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while chunk := await reader.read(_CHUNK_BYTES):
        stdin.write(chunk)
    stdin.write_eof()


async def _beat(stdin: Writer) -> None:
    while True:
        await asyncio.sleep(BEAT_S)
        stdin.write(BEAT)


async def _copy(stream: Reader, number: int) -> None:
    while chunk := await stream.read(_CHUNK_BYTES):
        rest = memoryview(chunk)
        while rest:
            rest = rest[os.write(number, rest) :]


def main() -> int:
    """Be the pipe."""
    destination, _, *argv = sys.argv[1:]
    place = parse_destination(destination)
    if not isinstance(place, Here | Remote):
        raise AssertionError(f"{destination} is neither this machine nor reached by SSH")
    interrupt_on_term()
    try:
        return asyncio.run(hold(place, argv))
    except (WirespeedError, OSError, asyncssh.Error) as error:
        sys.stderr.write(f"{error}\n")
        return FAILED
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
