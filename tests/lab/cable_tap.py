"""A tap in a cable of a lab: it hands on every frame of one direction, but those that it drops.

QEMU names the far end of a cable by its path with every frame. So a socket at that path takes them,
and the one that was there is moved aside; afterwards it is put back.
"""

import select
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

MOST_BYTES = 1 << 16
LOOK_S = 0.2
FLOW, NUMBER = slice(42, 45), slice(46, 50)
"""Of a frame of the tester's: tester/frame.h."""
TESTERS = b"\x08\x00\x45"


def cliff(mbuf_bytes: int, flows: int, number: int) -> Callable[[bytes], bool]:
    """Say which frames to drop: of that size, number `number` of each of the first flows.

    A trial that is too short, or slow, for its flows to get so far has no such frame.
    """

    def drops(frame: bytes) -> bool:
        return (
            len(frame) == mbuf_bytes
            and frame[12:15] == TESTERS
            and int.from_bytes(frame[FLOW], "little") < flows
            and int.from_bytes(frame[NUMBER], "little") == number
        )

    return drops


class CableTap:
    """In the cable whose end at the receiving host is the socket `end`."""

    def __init__(self, end: Path, drops: Callable[[bytes], bool]) -> None:
        self.passed = self.dropped = 0
        self._end, self._aside = end, end.with_suffix(f"{end.suffix}.aside")
        self._drops = drops
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._relay, daemon=True)

    def __enter__(self) -> "CableTap":
        self._end.rename(self._aside)
        self._socket.bind(str(self._end))
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # In one step: no frame finds the path without a socket.
        self._aside.rename(self._end)
        self._over.set()
        self._thread.join(timeout=10)
        self._socket.close()

    def _relay(self) -> None:
        while not self._over.is_set():
            if not select.select([self._socket], [], [], LOOK_S)[0]:
                continue
            frame = self._socket.recv(MOST_BYTES)
            if self._drops(frame):
                self.dropped += 1
                continue
            try:
                self._socket.sendto(frame, str(self._aside))
            except FileNotFoundError:
                self._socket.sendto(frame, str(self._end))
            self.passed += 1
