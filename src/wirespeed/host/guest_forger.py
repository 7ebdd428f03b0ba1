"""Sends frames as they are given, through every netdev of a list, and counts what really left.

    python3 -I - WORD FRAMES TEMPLATES NETDEVS LISTEN_S MAC ADDRESS FORGED <this
                                                                        prints a line of JSON

First each netdev is tried with a frame to itself until one leaves: a VF of a port that has just
come back takes frames for seconds and sends none of them, without an error.

TEMPLATES is JSON: kind (a number), the frame in hex, and where its number stands: four bytes, and
their complement after them, so that every checksum holds for all numbers. A frame has left when the
kernel shows it on its way to the driver. What the one with MAC and ADDRESS answers is counted too,
until LISTEN_S after the last frame: an echo reply with WORD in it, an ARP reply, an ARP request for
FORGED (it wants to answer).
"""

import contextlib
import json
import socket
import struct
import sys
import time

ETH_P_ALL, ETH_P_ARP, PACKET_OUTGOING, SO_RCVBUFFORCE = 3, 0x0806, 4, 33
BUFFER_BYTES = 8 << 20
LEAST_BYTES = 60
BURST, BETWEEN_BURSTS_S = 8, 0.002
ARP_REPLY = 2
READY, READY_S, BETWEEN_TRIES_S = 252, 10.0, 0.1
"""Kind of a netdev's frame to itself, and for how long all of them are tried together."""
EXPERIMENT = b"\x88\xb5"
ECHO_REPLIES = {(b"\x08\x00", 34, 0): "echo_reply", (b"\x86\xdd", 54, 129): "echo_reply_6"}
"""EtherType, where the type of the ICMP message stands, and what it is for a reply."""


def packet_socket(netdev: str, protocol: int) -> socket.socket:
    """Open one: with protocol 0 it receives nothing."""
    opened = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(protocol))
    opened.bind((netdev, protocol))
    opened.setblocking(False)
    if protocol:
        opened.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, BUFFER_BYTES)
    return opened


class Seen:
    """What left and what came back."""

    def __init__(self, word: bytes, mac: bytes, address: bytes, forged: bytes) -> None:
        self.word, self.mac, self.address, self.forged = word, mac, address, forged
        self.left: dict[int, set[int]] = {}
        self.answers: dict[tuple[str, str], int] = {}

    def drain(self, netdev: str, listening: socket.socket) -> None:
        """Take all that a socket has."""
        while True:
            try:
                data, place = listening.recvfrom(2048)
            except BlockingIOError:
                return
            at = data.find(self.word)
            if place[2] == PACKET_OUTGOING:
                if at >= 0:
                    kind, number = struct.unpack_from("!HI", data, at + len(self.word))
                    self.left.setdefault(kind, set()).add(number)
            elif data[6:12] == self.mac and len(data) >= LEAST_BYTES:
                for name in self.answered(data, is_marked=at >= 0):
                    self.answers[name, netdev] = self.answers.get((name, netdev), 0) + 1

    def answered(self, data: bytes, *, is_marked: bool) -> list[str]:
        """Say what a frame of the one who should not have heard of us answers."""
        if data[12:14] == ETH_P_ARP.to_bytes(2, "big") and data[28:32] == self.address:
            if data[21] == ARP_REPLY:
                return ["arp_reply"]
            return ["arp_request"] if data[38:42] == self.forged else []
        return [
            name
            for (protocol, place, kind), name in ECHO_REPLIES.items()
            if is_marked and data[12:14] == protocol and data[place] == kind
        ]

    def told_answers(self) -> dict[str, int]:
        """Give them by name; a bond and its member both have each."""
        names = (*ECHO_REPLIES.values(), "arp_reply", "arp_request")
        return {
            name: max((n for (of, _), n in self.answers.items() if of == name), default=0)
            for name in names
        }


def await_sending(seen: Seen, listening: list[tuple[str, socket.socket]]) -> str:
    """Wait until a frame has left through each netdev; say through which ones none did."""
    until = time.monotonic() + READY_S
    late = dict(enumerate(listening))
    while late and time.monotonic() < until:
        for number, (name, heard) in late.items():
            mac = heard.getsockname()[4]
            mark = seen.word + struct.pack("!HII", READY, number, number ^ 0xFFFFFFFF)
            frame = (mac + mac + EXPERIMENT + mark).ljust(LEAST_BYTES, b"\0")
            with packet_socket(name, 0) as sending, contextlib.suppress(OSError):
                sending.send(frame)
        time.sleep(BETWEEN_TRIES_S)
        for name, heard in listening:
            seen.drain(name, heard)
        sent = seen.left.get(READY, set())
        late = {number: one for number, one in late.items() if number not in sent}
    names = ", ".join(name for name, _ in late.values())
    return f"no frame left through {names} within {READY_S:g} s" if late else ""


def main() -> None:
    """Send all, listen a little longer, and tell."""
    word, frames, templates, netdevs, listen_s, mac, *addresses = sys.argv[1:]
    address, forged = map(socket.inet_aton, addresses)
    seen = Seen(bytes.fromhex(word), bytes.fromhex(mac), address, forged)
    names = netdevs.split(",")
    listening = [(name, packet_socket(name, ETH_P_ALL)) for name in names]
    refused: dict[int, int] = {}
    why = await_sending(seen, listening)
    for kind, text, offset in json.loads(templates):
        frame = bytearray.fromhex(text)
        for place, name in enumerate(names):
            with packet_socket(name, 0) as sending:
                for count in range(int(frames)):
                    number = place * int(frames) + count
                    struct.pack_into("!II", frame, offset, number, number ^ 0xFFFFFFFF)
                    try:
                        sending.send(frame)
                    except OSError as error:
                        refused[kind] = refused.get(kind, 0) + 1
                        why = f"{name}: {error.strerror}"
                    if count % BURST == BURST - 1:
                        time.sleep(BETWEEN_BURSTS_S)
                        for at, one in listening:
                            seen.drain(at, one)
    until = time.monotonic() + float(listen_s)
    while time.monotonic() < until:
        time.sleep(0.02)
        for at, one in listening:
            seen.drain(at, one)
    left = {kind: len(numbers) for kind, numbers in seen.left.items()}
    told = {"left": left, "refused": refused, "why": why, "answers": seen.told_answers()}
    sys.stdout.write(json.dumps(told) + "\n")


if __name__ == "__main__":
    main()
