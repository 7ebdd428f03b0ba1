import contextlib
import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from wirespeed.measure.bench.telemetry import (
    Telemetry,
    parse_answer,
    parse_counters,
    parse_extended,
    parse_greeting,
    socket_path,
)
from wirespeed.model.error import MeasurementError

CAPTURED: dict[str, str] = json.loads(
    (Path(__file__).parent.parent / "data/telemetry-22.11.json").read_text()
)


@contextlib.contextmanager
def served(path: Path, answers: dict[str, str], connections: int = 1) -> Iterator[Telemetry]:
    """A telemetry socket that gives captured answers."""
    server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    server.bind(str(path))
    server.listen()

    def serve() -> None:
        for _ in range(connections):
            with server.accept()[0] as peer:
                peer.send(answers["greeting"].encode())
                while command := peer.recv(1000).decode():
                    peer.send(answers[command].encode())

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    with server:
        yield Telemetry(path, timeout_s=5)
        thread.join(5)


def test_where_dpdk_listens():
    path = socket_path(Path("/run/x"), "dut")
    assert path == Path("/run/x/dpdk/dut/dpdk_telemetry.v2")


def test_captured_counters_are_read(tmp_path: Path):
    with served(tmp_path / "s", CAPTURED, connections=2) as telemetry:
        (port,) = telemetry.counters()
    assert (port.port, port.ipackets, port.opackets) == (0, 2186368, 2186016)
    assert (port.ibytes, port.imissed, port.rx_nombuf) == (131182080, 0, 0)


def test_captured_extended_counters_are_read(tmp_path: Path):
    with served(tmp_path / "s", CAPTURED) as telemetry:
        extended = telemetry.extended(0)
    assert extended["rx_good_packets"] == 2186368
    assert len(extended) > 20


def test_captured_port_state_is_read(tmp_path: Path):
    with served(tmp_path / "s", CAPTURED) as telemetry:
        state = telemetry.port_state(0)
    assert (state.device, state.mac, state.link_up) == ("net_vhost0", "56:48:4f:53:54:00", True)


def test_the_greeting_has_the_version():
    assert parse_greeting(CAPTURED["greeting"]).version == "DPDK 22.11.11"


def test_a_port_that_does_not_exist_is_an_error_not_zero(tmp_path: Path):
    answers = {**CAPTURED, "/ethdev/list": '{"/ethdev/list":[7]}'}
    with (
        served(tmp_path / "s", answers, connections=2) as telemetry,
        pytest.raises(MeasurementError) as error,
    ):
        telemetry.counters()
    assert error.value.what == "telemetry.failed"
    assert "/ethdev/stats,7" in error.value.where
    assert "null" in error.value.found


@pytest.mark.parametrize(
    "text",
    ["", "rubbish", "[]", '{"/other": {}}', '{"/ethdev/stats": {}, "more": 1}', CAPTURED["/nope"]],
)
def test_an_answer_to_something_else_is_refused(text: str):
    with pytest.raises(ValueError):
        parse_answer("/ethdev/stats,0", text)


def test_a_missing_or_odd_counter_is_refused_by_name():
    stats = json.loads(CAPTURED["/ethdev/stats,0"])["/ethdev/stats"]
    del stats["imissed"]
    stats["ibytes"] = "12"
    stats["oerrors"] = True
    with pytest.raises(ValueError, match="ibytes, imissed, oerrors"):
        parse_counters(0, stats)
    with pytest.raises(ValueError):
        parse_counters(0, None)
    with pytest.raises(ValueError):
        parse_extended({"a": None})


def test_nobody_there_is_an_error_with_the_path(tmp_path: Path):
    with pytest.raises(MeasurementError) as error:
        Telemetry(tmp_path / "absent").greeting()
    assert error.value.what == "socket.failed"
    assert str(tmp_path / "absent") in error.value.where


def test_a_server_that_does_not_answer_ends_with_a_verdict(tmp_path: Path):
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as server:
        server.bind(str(tmp_path / "s"))
        server.listen()
        with pytest.raises(MeasurementError) as error:
            Telemetry(tmp_path / "s", timeout_s=0.1).greeting()
    assert error.value.what == "socket.failed"
