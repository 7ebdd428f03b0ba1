"""Runs commands on this host."""

import os
import selectors
import subprocess
from collections.abc import Sequence
from typing import IO

from wirespeed.host.clock import Deadline, monotonic_s
from wirespeed.host.read_limit import LimitedBytes
from wirespeed.host.runner import MAX_OUTPUT_BYTES, Completed
from wirespeed.host.spawn import end, spawn, wait_ended
from wirespeed.model.error import MeasurementError

_CHUNK_BYTES = 1 << 16


class LocalRunner:
    """The `Runner` of the machine that we are on.

    `folder`: the working directory of what it runs; None: ours, which another user may own.
    """

    def __init__(self, folder: str | None = None) -> None:
        self._folder = folder

    def run(
        self,
        argv: Sequence[str],
        *,
        timeout_s: float = 60.0,
        stdin: str | None = None,
        max_bytes: int = MAX_OUTPUT_BYTES,
    ) -> Completed:
        """See `Runner.run`."""
        started, deadline = monotonic_s(), Deadline(timeout_s)
        output, errors = LimitedBytes(max_bytes), LimitedBytes(max_bytes)
        pipe_in = subprocess.DEVNULL if stdin is None else subprocess.PIPE
        process = spawn(argv, stdin=pipe_in, folder=self._folder)
        try:
            in_time = _converse(process, stdin or "", output, errors, deadline)
            cut = output.cut or errors.cut
            if in_time and not cut:
                in_time = wait_ended(process, deadline.remaining_s)
            if not in_time:
                raise MeasurementError(
                    "command.timeout",
                    where=" ".join(argv),
                    found=f"still running after {timeout_s:g} s",
                    so="it was killed",
                )
        finally:
            # Also on Ctrl-C: no child stays behind, and no pipe.
            end(process, term_s=1.0)
            for pipe in (process.stdin, process.stdout, process.stderr):
                if pipe is not None:
                    pipe.close()
        return Completed(
            argv=tuple(argv),
            output=output.text(),
            errors=errors.text(),
            returncode=process.returncode,
            duration_s=monotonic_s() - started,
            cut=cut,
        )


def _converse(
    process: subprocess.Popen[bytes],
    stdin: str,
    output: LimitedBytes,
    errors: LimitedBytes,
    deadline: Deadline,
) -> bool:
    """Write and read until it closes its ends or a limit is reached; False: time is up."""
    rest = memoryview(stdin.encode())
    pipes: dict[int, tuple[IO[bytes], LimitedBytes | None]] = {}
    for pipe, sink in ((process.stdin, None), (process.stdout, output), (process.stderr, errors)):
        if pipe is not None:
            os.set_blocking(pipe.fileno(), False)
            pipes[pipe.fileno()] = pipe, sink
    with selectors.DefaultSelector() as selector:
        for fd, (_, sink) in pipes.items():
            selector.register(fd, selectors.EVENT_WRITE if sink is None else selectors.EVENT_READ)
        while pipes:
            ready = selector.select(deadline.remaining_s)
            if not ready and deadline.expired:
                return False
            for key, _ in ready:
                pipe, sink = pipes[key.fd]
                if sink is None:
                    rest = _write_some(key.fd, rest)
                    is_done = not rest
                else:
                    chunk = os.read(key.fd, _CHUNK_BYTES)
                    is_done = not chunk
                    if not sink.add(chunk):
                        return True
                if is_done:
                    selector.unregister(key.fd)
                    del pipes[key.fd]
                    pipe.close()
    return True


def _write_some(fd: int, rest: memoryview) -> memoryview:
    """Write what the pipe takes; nothing is left to write when nobody reads it any more."""
    try:
        return rest[os.write(fd, rest[:_CHUNK_BYTES]) :]
    except BlockingIOError:
        return rest
    except BrokenPipeError:
        return rest[len(rest) :]
