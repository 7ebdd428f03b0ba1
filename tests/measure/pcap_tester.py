"""Sends given frames over a wire with testpmd and keeps what comes back: a slow, exact tester.

testpmd forwards between a file of frames and the wire, both ways.
"""

import re
import struct
from collections.abc import Sequence
from pathlib import Path

from wirespeed.host.clock import Deadline, sleep_s
from wirespeed.host.process import Child
from wirespeed.lab.wire import Wire
from wirespeed.measure.bench.l3fwd_rules import flow_addresses

TESTER_MAC = bytes.fromhex("020a0b0c0d0e")
DUT_MAC = bytes.fromhex("021122334455")
_HEADER = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)


def ipv4_checksum(header: bytes) -> int:
    total = sum(struct.unpack(">10H", header))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def frame(flow: int, *, ttl: int = 64, ident: int = 0, mbuf_bytes: int = 60) -> bytes:
    """A frame of a flow as the tester builds it, without FCS."""
    a = flow_addresses(flow)
    ip = struct.pack(
        ">BBHHHBBH4s4s",
        0x45,
        0,
        mbuf_bytes - 14,
        ident,
        0x4000,
        ttl,
        17,
        0,
        a.source.packed,
        a.destination.packed,
    )
    ip = ip[:10] + struct.pack(">H", ipv4_checksum(ip)) + ip[12:]
    udp = struct.pack(">HHHH", a.source_port, a.destination_port, mbuf_bytes - 34, 0)
    payload = bytes((flow + i) & 0xFF for i in range(mbuf_bytes - 42))
    return DUT_MAC + TESTER_MAC + b"\x08\x00" + ip + udp + payload


def write_pcap(path: Path, frames: Sequence[bytes]) -> None:
    records = (struct.pack("<IIII", 0, 0, len(f), len(f)) + f for f in frames)
    path.write_bytes(_HEADER + b"".join(records))


def read_pcap(path: Path) -> list[bytes]:
    data, at, frames = path.read_bytes(), len(_HEADER), []
    while at < len(data):
        (size,) = struct.unpack_from("<I", data, at + 8)
        frames.append(data[at + 16 : at + 16 + size])
        at += 16 + size
    return frames


class PcapTester:
    """The tester's side of a wire, for one exchange of frames."""

    def __init__(self, wire: Wire, folder: Path, frames: Sequence[bytes]) -> None:
        self._out = folder / "out.pcap"
        self._sent = len(frames)
        write_pcap(folder / "in.pcap", frames)
        side = wire.tester
        self.child = Child(
            [
                "stdbuf",
                "-oL",
                "dpdk-testpmd",
                *side.arguments(),
                f"--vdev=net_pcap0,rx_pcap={folder}/in.pcap,tx_pcap={self._out}",
                f"--lcores={side.lcores()}",
                "--",
                "-i",
                "--nb-cores=1",
                "--forward-mode=io",
                "--total-num-mbufs=20000",
                "--mbuf-size=9856",
                "--rxd=16384",
                "--txd=16384",
                "--disable-link-check",
                "--no-flush-rx",
                "--no-mlockall",
            ],
            role="tester",
            quit_line="quit",
            environment=side.environment,
        )

    def __enter__(self) -> "PcapTester":
        return self

    def __exit__(self, *_: object) -> None:
        self.child.close()

    def command(self, line: str) -> list[str]:
        self.child.write_line(line)
        self.child.write_line("# done")
        return self.child.read_until(re.compile("# done$"), 20)

    def exchange(self) -> list[bytes]:
        """Send all frames; give what came back, at most 5 s later."""
        self.command("start")
        deadline = Deadline(5)
        while self._returned() < self._sent and not deadline.expired:
            sleep_s(0.05)
        self.command("stop")
        self.child.close()
        return read_pcap(self._out)

    def _returned(self) -> int:
        port = "\n".join(self.command("show port stats 0"))
        found = re.search(r"RX-packets: (\d+)", port)
        assert found, port
        return int(found[1])
