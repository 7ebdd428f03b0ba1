"""A program on another host, spoken to as a child of ours: a process that is its pipe.

    python -m wirespeed.host.ssh_pipe DESTINATION -- PROGRAM [ARGUMENT...]

Our input goes to the program, its output and errors to ours; its exit code is ours. Every BEAT_S a
byte says that we are here (`guest_keeper.py` takes it out). When we end, by whatever, the
connection ends, and the keeper ends the program.
"""

import asyncio
import os
import shlex
import sys

import asyncssh

from wirespeed.host.detached import interrupt_on_term
from wirespeed.host.guest_keeper import BEAT
from wirespeed.host.reach_destination import Remote, parse_destination
from wirespeed.host.ssh import CONNECT_S, Process, close, connect
from wirespeed.model.error import WirespeedError

BEAT_S = 3.0
ENDS_S = 20.0
"""For which the program's end is waited for once our input has ended."""
_CHUNK_BYTES = 1 << 16
FAILED = 255
"""As ssh ends where it did not come to the command."""


async def hold(place: Remote, argv: list[str]) -> int:
    """Run `argv` there until it or our input ends. Raises HostError `ssh.*`."""
    connection = await connect(place, CONNECT_S)
    try:
        line = shlex.join(argv)
        process = await connection.create_process(line, encoding=None, request_pty=False)
        tasks = [
            asyncio.ensure_future(_copy(process.stdout, 1)),
            asyncio.ensure_future(_copy(process.stderr, 2)),
            asyncio.ensure_future(_beat(process)),
        ]
        feeding = asyncio.ensure_future(_feed(process))
        ending = asyncio.ensure_future(process.wait_closed())
        await asyncio.wait([feeding, ending], return_when=asyncio.FIRST_COMPLETED)
        if not ending.done():
            await asyncio.wait([ending], timeout=ENDS_S)
        await asyncio.wait(tasks[:2], timeout=1.0)
        for task in (*tasks, feeding, ending):
            task.cancel()
        return FAILED if process.returncode is None else process.returncode
    finally:
        await close(connection)


async def _feed(process: Process) -> None:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while chunk := await reader.read(_CHUNK_BYTES):
        process.stdin.write(chunk)
    process.stdin.write_eof()


async def _beat(process: Process) -> None:
    while True:
        await asyncio.sleep(BEAT_S)
        process.stdin.write(BEAT)


async def _copy(stream: "asyncssh.SSHReader[bytes]", number: int) -> None:
    while chunk := await stream.read(_CHUNK_BYTES):
        rest = memoryview(chunk)
        while rest:
            rest = rest[os.write(number, rest) :]


def main() -> int:
    """Be the pipe."""
    destination, _, *argv = sys.argv[1:]
    place = parse_destination(destination)
    if not isinstance(place, Remote):
        raise AssertionError(f"{destination} is not reached by SSH")
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
