import json
import socket
from pathlib import Path

import pytest

from wirespeed.host.frame_switch import MAX_ADDRESSES, FrameSwitch, Table

ALPHA, BETA, GAMMA = (bytes((2, 0, 0, 0, 0, number)) for number in (1, 2, 3))
ALL = b"\xff" * 6
PORTS = range(3)


def frame(to: bytes, source: bytes, vlan: int | None = None, payload: bytes = b"") -> bytes:
    tag = b"" if vlan is None else b"\x81\x00" + vlan.to_bytes(2, "big")
    return to + source + tag + b"\x08\x00" + payload.ljust(46, b".")


def test_a_frame_goes_to_all_until_its_destination_was_seen():
    table = Table()
    assert table.route(frame(BETA, ALPHA), 0, PORTS) == [1, 2]
    assert table.route(frame(ALPHA, BETA), 1, PORTS) == [0]
    assert table.route(frame(BETA, ALPHA), 0, PORTS) == [1]
    assert table.route(frame(ALL, ALPHA), 0, PORTS) == [1, 2]


def test_a_vlan_is_learnt_by_itself_whatever_its_priority():
    table = Table()
    table.route(frame(ALL, ALPHA, 40), 0, PORTS)
    assert table.route(frame(ALPHA, BETA, 41), 1, PORTS) == [0, 2]
    assert table.route(frame(ALPHA, BETA), 1, PORTS) == [0, 2]
    assert table.route(frame(ALPHA, BETA, 40 | 7 << 13), 1, PORTS) == [0]


def test_an_address_that_moved_is_found_at_its_new_port():
    table = Table()
    table.route(frame(ALL, ALPHA), 0, PORTS)
    table.route(frame(ALL, ALPHA), 2, PORTS)
    assert table.route(frame(ALPHA, BETA), 1, PORTS) == [2]


def test_a_frame_for_its_own_port_goes_nowhere():
    table = Table()
    table.route(frame(ALL, ALPHA), 0, PORTS)
    assert table.route(frame(ALPHA, BETA), 0, PORTS) == []


def test_a_group_address_is_no_source_to_learn():
    table = Table()
    table.route(frame(ALPHA, ALL), 0, PORTS)
    assert table.route(frame(ALL, ALPHA), 1, PORTS) == [0, 2]


def test_a_flood_of_sources_does_not_grow_the_table_and_the_newest_stay():
    table = Table()
    for number in range(MAX_ADDRESSES + 10):
        table.route(frame(ALL, b"\x02" + number.to_bytes(5, "big")), 0, PORTS)
    newest = b"\x02" + (MAX_ADDRESSES + 9).to_bytes(5, "big")
    assert table.route(frame(newest, BETA), 1, PORTS) == [0]
    oldest = b"\x02" + (0).to_bytes(5, "big")
    assert table.route(frame(oldest, BETA), 1, PORTS) == [0, 2]


class Bench:
    """A switch of three ports, and the hosts' ends of its cables."""

    def __init__(self, folder: Path) -> None:
        self.hosts = []
        for number in PORTS:
            host = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            host.bind(str(folder / f"h{number}"))
            host.setblocking(False)
            self.hosts.append(host)
        ports = [(f"p{n}", str(folder / f"s{n}"), str(folder / f"h{n}")) for n in PORTS]
        self.switch = FrameSwitch(ports)
        self._folder = folder

    def send(self, port: int, data: bytes) -> None:
        self.hosts[port].sendto(data, str(self._folder / f"s{port}"))
        self.switch.receive(port)

    def received(self, port: int) -> bytes | None:
        try:
            return self.hosts[port].recv(1 << 16)
        except BlockingIOError:
            return None


@pytest.fixture
def bench(tmp_path: Path):
    made = Bench(tmp_path)
    yield made
    for one in (*made.hosts, *made.switch.sockets):
        one.close()


def test_frames_pass_whole_and_short_ones_are_filled_up(bench: Bench):
    jumbo = frame(ALL, ALPHA, payload=b"x" * 9000)
    bench.send(0, jumbo)
    assert [bench.received(port) for port in PORTS] == [None, jumbo, jumbo]
    short = frame(ALPHA, BETA)[:42]
    bench.send(1, short)
    assert [bench.received(port) for port in PORTS] == [short + bytes(18), None, None]


def test_a_port_that_is_down_drops_both_ways_and_is_forgotten(bench: Bench):
    bench.send(1, frame(ALL, BETA))
    assert json.loads(bench.switch.command("down p1")) == {"p1": "down"}
    for port in PORTS:
        bench.received(port)
    bench.send(0, frame(BETA, ALPHA))
    assert bench.received(1) is None
    assert bench.received(2) is not None
    bench.send(1, frame(ALPHA, BETA))
    assert bench.received(0) is None
    bench.switch.command("up p1")
    bench.send(0, frame(BETA, ALPHA))
    assert bench.received(1) is not None


def test_every_frame_has_a_fate(bench: Bench):
    bench.switch.command("down p2")
    bench.send(0, frame(ALL, ALPHA))
    bench.send(0, frame(ALPHA, ALPHA))
    bench.send(1, b"short")
    bench.hosts[1].close()
    bench.send(0, frame(ALL, GAMMA))
    counted = json.loads(bench.switch.command("counters"))
    assert counted["p0"] == {
        "received": 3, "filtered": 1, "dropped_in": 0, "sent": 0, "dropped_out": 0
    }  # fmt: skip
    assert counted["p1"] == {
        "received": 1, "filtered": 0, "dropped_in": 1, "sent": 1, "dropped_out": 1
    }  # fmt: skip
    assert counted["p2"]["dropped_out"] == 2


def test_what_is_no_command_is_said_to_be_none(bench: Bench):
    for line in ("down p9", "", "off p1"):
        assert "error" in json.loads(bench.switch.command(line))
