"""Talks to a running QEMU by its control socket: QMP, JSON in lines, each wait bounded.

Source: QEMU's docs/interop/qmp-spec.rst.
"""

import contextlib
import json
import socket
from pathlib import Path

from wirespeed.host.clock import Deadline
from wirespeed.host.closing import Closing
from wirespeed.model.error import MeasurementError
from wirespeed.model.json_value import read_json

MAX_ANSWER_BYTES = 1 << 20


class Qmp(Closing):
    """A conversation with the QEMU that serves the socket at `path`; one at a time is possible.

    Everything raises MeasurementError `qmp.failed` with the path and the reason.
    """

    def __init__(self, path: Path, *, timeout_s: float = 10.0) -> None:
        self._path = path
        self._timeout_s = timeout_s
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._buffer = bytearray()
        try:
            self._socket.settimeout(timeout_s)
            self._socket.connect(str(path))
            # It greets first.
            self._message(Deadline(timeout_s))
            self.execute("qmp_capabilities")
        except OSError as error:
            self._socket.close()
            raise self._failure(str(error)) from None
        except BaseException:
            self._socket.close()
            raise

    def execute(self, command: str, **arguments: object) -> object:
        """Run one command and give what it returns."""
        names = {name.replace("_", "-"): value for name, value in arguments.items()}
        request = json.dumps({"execute": command, "arguments": names})
        deadline = Deadline(self._timeout_s)
        try:
            self._socket.settimeout(self._timeout_s)
            self._socket.sendall(request.encode() + b"\n")
        except OSError as error:
            raise self._failure(f"{command}: {error}") from None
        while True:
            message = self._message(deadline)
            if "error" in message:
                raise self._failure(f"{command}: {message['error']}")
            # Between the two there may be events, which nobody here waits for.
            if "return" in message:
                return message["return"]

    def close(self) -> None:
        """Hang up; QEMU goes on."""
        with contextlib.suppress(OSError):
            self._socket.close()

    def _message(self, deadline: Deadline) -> dict[str, object]:
        while (end := self._buffer.find(b"\n")) < 0:
            if len(self._buffer) > MAX_ANSWER_BYTES:
                raise self._failure(f"a line of more than {MAX_ANSWER_BYTES} bytes")
            if deadline.expired:
                raise self._failure(f"no answer within {self._timeout_s:g} s")
            try:
                self._socket.settimeout(max(0.001, deadline.remaining_s))
                chunk = self._socket.recv(1 << 16)
            except OSError as error:
                raise self._failure(str(error)) from None
            if not chunk:
                raise self._failure("closed by QEMU")
            self._buffer += chunk
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        try:
            message = read_json(line)
        except ValueError:
            raise self._failure(f"not JSON: {line[:80]!r}") from None
        if not isinstance(message, dict):
            raise self._failure(f"no object: {line[:80]!r}")
        return message

    def _failure(self, reason: str) -> MeasurementError:
        return MeasurementError(
            "qmp.failed",
            where=str(self._path),
            found=reason,
            next="see with `wirespeed lab list` whether the host still runs; if not, stop the lab "
            "with `wirespeed lab down` and start it again with `wirespeed lab up`",
        )
