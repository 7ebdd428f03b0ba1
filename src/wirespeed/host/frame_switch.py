"""A learning Ethernet switch between datagram sockets, one for each port: a process of its own.

    python -m wirespeed.host.frame_switch PORT=LOCAL:REMOTE ...
    its input: `down PORT`, `up PORT`, `counters`; its output: one line of JSON for each

A frame goes where its destination was last seen in its VLAN, else to every other port that is up.
Every frame has a counter: received = sent, or dropped at a port, or filtered (it is for the port
that it came from, or for nobody else).
"""

import json
import os
import selectors
import socket
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

MAX_FRAME_BYTES = 1 << 16
MIN_MBUF_BYTES = 60
"""A frame without FCS; igb counts a shorter one as an error."""
MAX_ADDRESSES = 4096
VLAN_TYPES = (b"\x81\x00", b"\x88\xa8")
MAX_COMMAND_BYTES = 1 << 12


@dataclass(slots=True)
class Counters:
    """Of one port, as the switch sees it."""

    received: int = 0
    filtered: int = 0
    """Received, and for nobody else."""
    dropped_in: int = 0
    """Received while the port was down, or too short to have addresses."""
    sent: int = 0
    dropped_out: int = 0
    """To be sent while the port was down, or its host took no more."""


class Table:
    """Which port an address was last seen at, in which VLAN. Pure."""

    def __init__(self) -> None:
        self._ports: dict[tuple[bytes, bytes], int] = {}

    def route(self, frame: bytes, port: int, ports: Sequence[int]) -> list[int]:
        """Learn from a frame that came from `port`, and say which of `ports` it goes to."""
        destination, source = frame[0:6], frame[6:12]
        vlan = b"\0\0"
        if frame[12:14] in VLAN_TYPES:
            vlan = bytes((frame[14] & 0x0F, frame[15]))
        if not source[0] & 1:
            self._ports.pop((vlan, source), None)
            if len(self._ports) >= MAX_ADDRESSES:
                # The one that has been silent for longest.
                del self._ports[next(iter(self._ports))]
            self._ports[vlan, source] = port
        known = None if destination[0] & 1 else self._ports.get((vlan, destination))
        if known is None:
            return [other for other in ports if other != port]
        return [known] if known != port else []

    def forget(self, port: int) -> None:
        """Forget the addresses behind a port that went down."""
        self._ports = {key: value for key, value in self._ports.items() if value != port}


class FrameSwitch:
    """Ports with their sockets, bound when it is made."""

    def __init__(self, ports: Iterable[tuple[str, str, str]]) -> None:
        self.names: list[str] = []
        self.sockets: list[socket.socket] = []
        self._remotes: list[str] = []
        self._table = Table()
        for name, local, remote in ports:
            Path(local).unlink(missing_ok=True)
            bound = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 << 20)
            bound.setblocking(False)
            bound.bind(local)
            self.names.append(name)
            self.sockets.append(bound)
            self._remotes.append(remote)
        self.counters = [Counters() for _ in self.names]
        self._is_up = [True for _ in self.names]

    def receive(self, port: int) -> None:
        """Take what waits at a port, at most 64 frames, so that no port starves the others."""
        every = range(len(self.names))
        for _ in range(64):
            try:
                frame = self.sockets[port].recv(MAX_FRAME_BYTES)
            except (BlockingIOError, ConnectionRefusedError):
                return
            seen = self.counters[port]
            seen.received += 1
            if not self._is_up[port] or len(frame) < 16:
                seen.dropped_in += 1
                continue
            to = self._table.route(frame, port, every)
            if not to:
                seen.filtered += 1
            for other in to:
                self._send(other, frame.ljust(MIN_MBUF_BYTES, b"\0"))

    def command(self, line: str) -> str:
        """Carry out a line of its input, and give the answer's line."""
        verb, _, name = line.partition(" ")
        if verb == "counters":
            return json.dumps(dict(zip(self.names, map(asdict, self.counters), strict=True)))
        if verb in ("up", "down") and name in self.names:
            port = self.names.index(name)
            self._is_up[port] = verb == "up"
            if verb == "down":
                self._table.forget(port)
            return json.dumps({name: verb})
        return json.dumps({"error": f"no such command: {line}"})

    def _send(self, port: int, frame: bytes) -> None:
        seen = self.counters[port]
        if not self._is_up[port]:
            seen.dropped_out += 1
            return
        try:
            self.sockets[port].sendto(frame, self._remotes[port])
            seen.sent += 1
        except OSError:
            # Full, or its host is not there (yet).
            seen.dropped_out += 1


def main(arguments: Sequence[str]) -> None:
    """Switch until the input ends."""
    ports = []
    for argument in arguments:
        name, _, paths = argument.partition("=")
        local, _, remote = paths.partition(":")
        ports.append((name, local, remote))
    switch = FrameSwitch(ports)
    with selectors.DefaultSelector() as selector:
        for port, bound in enumerate(switch.sockets):
            selector.register(bound, selectors.EVENT_READ, port)
        selector.register(0, selectors.EVENT_READ)
        os.write(1, b'{"ready": true}\n')
        said = b""
        while True:
            for key, _ in selector.select():
                if key.fd != 0:
                    switch.receive(key.data)
                    continue
                chunk = os.read(0, MAX_COMMAND_BYTES)
                if not chunk:
                    return
                *lines, said = (said + chunk).split(b"\n")
                said = said[-MAX_COMMAND_BYTES:]
                for line in lines:
                    os.write(1, switch.command(line.decode(errors="replace")).encode() + b"\n")


if __name__ == "__main__":
    main(sys.argv[1:])
