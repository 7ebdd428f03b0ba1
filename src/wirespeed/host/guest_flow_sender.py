"""Sends a paced flow of numbered UDP packets until it is told to stop.

    python3 -I - NAME ADDRESS PORT WORD PPS SECONDS <this     goes on in the background
    over the abstract socket NAME: `stop` gives the account and ends it

Packet N is due at the start + N / PPS, whatever became of those before: who is late catches up. The
longest pause between two sends is told. It ends by itself after SECONDS.
"""

import contextlib
import json
import os
import select
import socket
import struct
import sys
import time

from wirespeed.host.guest_alone import go_on_alone

PACKET = struct.Struct("!8sQ")
PAYLOAD_BYTES = 64
NS = 1_000_000_000


def send(udp: socket.socket, control: socket.socket, word: bytes, pps: int, seconds: int) -> None:
    """Send until told to stop, or the time is up."""
    padding = bytes(PAYLOAD_BYTES - PACKET.size)
    start = before = time.monotonic_ns()
    longest = refused = number = 0
    while number < pps * seconds:
        due = start + number * NS // pps
        wait = due - time.monotonic_ns()
        # Looked at before each packet: a command comes in at any time.
        if select.select([control], [], [], max(0, wait) / NS)[0]:
            connection, _ = control.accept()
            with connection:
                connection.settimeout(2.0)
                try:
                    if connection.recv(256).decode().split() == ["stop"]:
                        told = {
                            "sent": number,
                            "refused": refused,
                            "longest_pause_ns": longest,
                            "duration_ns": time.monotonic_ns() - start,
                        }
                        connection.sendall(json.dumps(told).encode() + b"\n")
                        return
                except (OSError, ValueError):
                    pass
            continue
        now = time.monotonic_ns()
        if now < due:
            continue
        longest, before = max(longest, now - before), now
        try:
            udp.send(PACKET.pack(word, number) + padding)
        except OSError:
            # No route, no carrier, a full queue: it was due, and it is lost here.
            refused += 1
        number += 1


def main() -> None:
    """Begin, and go on alone."""
    name, address, port, word, pps, seconds = sys.argv[1:]
    control = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    control.bind("\0" + name)
    control.listen(4)
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.connect((address, int(port)))
    # A link that is down keeps what it is given: then this would wait, and the pace be lost.
    udp.setblocking(False)
    if go_on_alone():
        return
    # Without it others may hold it up; its longest pause says whether they did.
    with contextlib.suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    send(udp, control, bytes.fromhex(word), int(pps), int(seconds))


if __name__ == "__main__":
    main()
