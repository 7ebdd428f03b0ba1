"""Receives a paced flow of numbered UDP packets, and tells when it was silent.

    python3 -I - NAME ADDRESS WORD SECONDS <this     prints the port, and goes on in the background
    over the abstract socket NAME: `mark PHASE` begins a phase, `stop` gives the account and ends

A packet is WORD (8 bytes) and its number. Its arrival is stamped by the kernel, told in the time of
CLOCK_MONOTONIC; a silence is cut where a phase begins or ends. It ends by itself after SECONDS.
"""

import json
import select
import socket
import struct
import sys
import time

from wirespeed.host.guest_alone import go_on_alone

PACKET = struct.Struct("!8sQ")
SO_TIMESTAMPNS, SO_RXQ_OVFL, SO_RCVBUFFORCE = 35, 40, 33
TIMESPEC = struct.Struct("@ll")
BUFFER_BYTES = 8 << 20
MAX_NUMBER = 1 << 32
AT_ONCE = 256
NS = 1_000_000_000


class Account:
    """What arrived, by phase."""

    def __init__(self) -> None:
        self.seen = bytearray()
        self.received = self.duplicates = self.reordered = self.overflowed = 0
        self.highest = -1
        self.phases: list[dict[str, object]] = []
        self.begin("start")

    def begin(self, phase: str) -> None:
        """End the phase that is on, and begin another."""
        now = time.monotonic_ns()
        if self.phases:
            self.end(now)
        self.phase, self.began, self.silent_since = phase, now, now
        self.longest = self.count = self.skipped = 0
        self.phases.append({})

    def end(self, now: int) -> None:
        """End the phase that is on."""
        silence = now - self.silent_since
        self.phases[-1] = {
            "phase": self.phase,
            "duration_ns": now - self.began,
            "received": self.count,
            "longest_silence_ns": max(self.longest, silence),
            "last_silence_ns": silence,
            "longest_skip": self.skipped,
        }

    def add(self, number: int, stamp: int) -> None:
        """Take one packet."""
        if number >= MAX_NUMBER:
            return
        byte, bit = number >> 3, 1 << (number & 7)
        if byte >= len(self.seen):
            self.seen.extend(bytes(byte - len(self.seen) + 4096))
        if self.seen[byte] & bit:
            self.duplicates += 1
            return
        self.seen[byte] |= bit
        self.received += 1
        self.count += 1
        if number < self.highest:
            self.reordered += 1
        self.skipped = max(self.skipped, number - self.highest - 1)
        self.highest = max(self.highest, number)
        self.longest = max(self.longest, stamp - self.silent_since)
        self.silent_since = max(stamp, self.silent_since)

    def told(self) -> dict[str, object]:
        """End the last phase, and give all."""
        self.end(time.monotonic_ns())
        names = ("received", "duplicates", "reordered", "overflowed")
        return {"phases": self.phases, **{name: getattr(self, name) for name in names}}


def drain(udp: socket.socket, word: bytes, account: Account) -> None:
    """Take what has arrived."""
    for _ in range(AT_ONCE):
        try:
            data, ancillary, _, _ = udp.recvmsg(2048, 256)
        except BlockingIOError:
            return
        now, wall = time.monotonic_ns(), time.time_ns()
        stamp = now
        for level, kind, value in ancillary:
            if level == socket.SOL_SOCKET and kind == SO_TIMESTAMPNS:
                seconds, ns = TIMESPEC.unpack(value[: TIMESPEC.size])
                stamp = now - max(0, wall - seconds * NS - ns)
            elif level == socket.SOL_SOCKET and kind == SO_RXQ_OVFL:
                account.overflowed = int.from_bytes(value[:4], sys.byteorder)
        if len(data) >= PACKET.size and data[:8] == word:
            account.add(PACKET.unpack_from(data)[1], stamp)


def serve(udp: socket.socket, control: socket.socket, word: bytes, until: float) -> None:
    """Receive until it is told to stop, or the time is up."""
    account = Account()
    while time.monotonic() < until:
        ready, _, _ = select.select([udp, control], [], [], 1.0)
        if udp in ready:
            drain(udp, word, account)
        if control in ready:
            connection, _ = control.accept()
            with connection:
                connection.settimeout(2.0)
                try:
                    query = connection.recv(256).decode().split()
                    if query[:1] == ["mark"]:
                        drain(udp, word, account)
                        account.begin(query[1])
                        connection.sendall(b"{}\n")
                    elif query == ["stop"]:
                        connection.sendall(json.dumps(account.told()).encode() + b"\n")
                        return
                except (OSError, ValueError, IndexError):
                    continue


def main() -> None:
    """Listen, say where, and go on alone."""
    name, address, word, seconds = sys.argv[1:]
    control = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    control.bind("\0" + name)
    control.listen(4)
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.bind((address, 0))
    udp.setblocking(False)
    udp.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    udp.setsockopt(socket.SOL_SOCKET, SO_RXQ_OVFL, 1)
    try:
        udp.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, BUFFER_BYTES)
    except PermissionError:
        udp.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER_BYTES)
    print(udp.getsockname()[1], flush=True)  # noqa: T201 (it is what this program is for)
    if go_on_alone():
        return
    serve(udp, control, bytes.fromhex(word), time.monotonic() + float(seconds))


if __name__ == "__main__":
    main()
