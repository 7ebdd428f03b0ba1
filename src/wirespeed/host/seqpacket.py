"""A Unix socket that keeps message borders (SOCK_SEQPACKET), each wait bounded."""

import socket
from pathlib import Path

from wirespeed.host.closing import Closing
from wirespeed.model.error import MeasurementError

MAX_PATH_BYTES = 107
"""sockaddr_un holds 108 with the closing zero, see unix(7)."""


class SeqPacket(Closing):
    """A connection to the socket at `path`; use it as a context manager.

    Everything raises MeasurementError `socket.failed` with the path and the reason.
    """

    def __init__(self, path: Path, *, timeout_s: float = 2.0) -> None:
        self._path = path
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._socket.settimeout(timeout_s)
        try:
            self._socket.connect(str(path))
        except OSError as error:
            self._socket.close()
            raise self._failure(error) from None

    def send(self, message: str) -> None:
        """Send one message."""
        try:
            self._socket.send(message.encode())
        except OSError as error:
            raise self._failure(error) from None

    def receive(self, max_bytes: int) -> bytes:
        """Receive one message; a longer one than `max_bytes` is an error, not cut."""
        try:
            data, _, flags, _ = self._socket.recvmsg(max_bytes)
        except OSError as error:
            raise self._failure(error) from None
        if flags & socket.MSG_TRUNC:
            raise self._failure(f"a message of more than {max_bytes} bytes")
        if not data:
            raise self._failure("closed by the other end")
        return data

    def close(self) -> None:
        """Hang up."""
        self._socket.close()

    def _failure(self, reason: object) -> MeasurementError:
        return MeasurementError(
            "socket.failed",
            where=str(self._path),
            found=str(reason),
            next=f"see with `ss -xlp | grep {self._path}` whether the program that serves it still "
            "runs; then run the same command again",
        )
