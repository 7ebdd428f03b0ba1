"""Hears every frame that comes in at some netdevs, and tells of those with WORD in them.

    python3 -I - NAME WORD SECONDS NETDEVS <this     prints `listens`, goes on in the background
    over the abstract socket NAME: `stop` gives what was heard, and ends it

Promiscuous, all protocols; a tag that the card or the kernel took off is told as well. WORD is
followed by the place of its sender in the capture (one byte), the kind of the frame (two) and its
number (four). It ends after SECONDS.
"""

import json
import select
import socket
import struct
import sys
import time

from wirespeed.host.guest_alone import go_on_alone

ETH_P_ALL, PACKET_OUTGOING, SO_RCVBUFFORCE = 3, 4, 33
SOL_PACKET, PACKET_ADD_MEMBERSHIP, PACKET_AUXDATA, PACKET_MR_PROMISC = 263, 1, 8, 1
AUXDATA = struct.Struct("@IIIHHHH")
TP_STATUS_VLAN_VALID = 1 << 4
BUFFER_BYTES = 8 << 20
SHOWN_BYTES = 48
AT_ONCE = 256
MARK = struct.Struct("!BHI")


def listen(netdev: str) -> socket.socket:
    """Open a socket that hears all of a netdev."""
    opened = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    opened.bind((netdev, ETH_P_ALL))
    opened.setblocking(False)
    opened.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, BUFFER_BYTES)
    index = socket.if_nametoindex(netdev)
    membership = struct.pack("@iHH8s", index, PACKET_MR_PROMISC, 0, b"")
    opened.setsockopt(SOL_PACKET, PACKET_ADD_MEMBERSHIP, membership)
    opened.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
    return opened


class Heard:
    """Numbers of frames by place and kind, each once though a bond and its member both have it."""

    def __init__(self, word: bytes) -> None:
        self.word = word
        self.numbers: dict[tuple[int, int], set[int]] = {}
        self.first: dict[tuple[int, int], dict[str, object]] = {}

    def drain(self, netdev: str, opened: socket.socket) -> None:
        """Take what a socket has."""
        for _ in range(AT_ONCE):
            try:
                data, ancillary, _, came_from = opened.recvmsg(2048, 256)
            except BlockingIOError:
                return
            at = data.find(self.word)
            mark = at + len(self.word)
            if at < 0 or came_from[2] == PACKET_OUTGOING or len(data) < mark + MARK.size:
                continue
            place, kind, number = MARK.unpack_from(data, mark)
            self.numbers.setdefault((place, kind), set()).add(number)
            if (place, kind) not in self.first:
                self.first[place, kind] = {
                    "netdev": netdev,
                    "first": data[:SHOWN_BYTES].hex(),
                    "taken_off_tci": tag_of(ancillary),
                }

    def told(self) -> list[dict[str, object]]:
        """Give all of it, with the first frame of each kind as it came."""
        return [
            {"place": place, "kind": kind, "numbers": len(numbers), **self.first[place, kind]}
            for (place, kind), numbers in self.numbers.items()
        ]


def tag_of(ancillary: list[tuple[int, int, bytes]]) -> int | None:
    """Give the tag that was taken off a frame."""
    for level, kind, value in ancillary:
        if level == SOL_PACKET and kind == PACKET_AUXDATA and len(value) >= AUXDATA.size:
            status, _, _, _, _, tci, _ = AUXDATA.unpack(value[: AUXDATA.size])
            if status & TP_STATUS_VLAN_VALID:
                return int(tci)
    return None


def serve(
    sockets: dict[str, socket.socket], control: socket.socket, word: bytes, until: float
) -> None:
    """Hear until it is told to stop, or the time is up."""
    heard = Heard(word)
    while time.monotonic() < until:
        ready, _, _ = select.select([*sockets.values(), control], [], [], 1.0)
        for netdev, opened in sockets.items():
            if opened in ready:
                heard.drain(netdev, opened)
        # What is there is taken before an end is listened to.
        if ready == [control]:
            connection, _ = control.accept()
            with connection:
                connection.settimeout(2.0)
                try:
                    if connection.recv(256).decode().split() == ["stop"]:
                        connection.sendall(json.dumps(heard.told()).encode() + b"\n")
                        return
                except (OSError, ValueError):
                    continue


def main() -> None:
    """Listen, say so, and go on alone."""
    name, word, seconds, netdevs = sys.argv[1:]
    control = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    control.bind("\0" + name)
    control.listen(4)
    sockets = {netdev: listen(netdev) for netdev in netdevs.split(",")}
    sys.stdout.write("listens\n")
    sys.stdout.flush()
    if go_on_alone():
        return
    serve(sockets, control, bytes.fromhex(word), time.monotonic() + float(seconds))


if __name__ == "__main__":
    main()
