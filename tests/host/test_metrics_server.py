"""The server of `export --listen`: clients that are slow take neither its threads nor its time."""

import contextlib
import socket
import threading
import time
from collections.abc import Iterator

import pytest

from wirespeed.host import metrics_server
from wirespeed.host.metrics_server import Families, MetricsServer, Readings

HALF = b"GET /metrics HTTP/1.1\r\nHost: a\r\nX-Never-Ends: "
WHOLE = b"GET /metrics HTTP/1.0\r\n\r\n"
SLOW = 300


def families() -> Families:
    return [("wirespeed_a", "A.", [("wirespeed_a", {"port": "x"}, 1.0)])]


@contextlib.contextmanager
def slow_clients(port: int, count: int, said: bytes) -> Iterator[list[socket.socket]]:
    with contextlib.ExitStack() as kept:
        clients = []
        for _ in range(count):
            client = kept.enter_context(socket.create_connection(("127.0.0.1", port), timeout=10))
            with contextlib.suppress(ConnectionError):
                client.sendall(said)
            clients.append(client)
        yield clients


def scraped(port: int) -> bytes:
    with socket.create_connection(("127.0.0.1", port), timeout=5) as client:
        client.sendall(WHOLE)
        return b"".join(iter(lambda: client.recv(65536), b""))


def ends(client: socket.socket, within_s: float) -> bool:
    """Whether the other end closes the connection, while a byte is sent every now and then."""
    client.settimeout(0.1)
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        try:
            client.sendall(b"a")
            if not client.recv(65536):
                return True
        except TimeoutError:
            continue
        except ConnectionError:
            return True
    return False


@pytest.mark.parametrize("said", [b"", HALF])
def test_slow_clients_have_few_threads_and_a_fast_one_is_answered(said: bytes):
    before = threading.active_count()
    with (
        MetricsServer("127.0.0.1", 0, Readings(families)) as server,
        slow_clients(server.port, SLOW, said),
    ):
        assert b'wirespeed_a{port="x"} 1.0' in scraped(server.port)
        assert threading.active_count() - before <= metrics_server.CLIENTS + 1


def test_a_slow_client_that_never_stops_sending_is_cut_off(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(metrics_server, "CLIENT_S", 0.5)
    with (
        MetricsServer("127.0.0.1", 0, Readings(families)) as server,
        slow_clients(server.port, 1, HALF) as (client,),
    ):
        assert ends(client, within_s=4)


def test_slow_clients_that_wait_for_a_reading_have_few_threads_too():
    """All of them have sent a whole request; the host takes long to be read."""
    may_end = threading.Event()
    reads = [0]

    def read() -> Families:
        reads[0] += 1
        assert reads[0] == 1 or may_end.wait(30)
        return families()

    before = threading.active_count()
    readings = Readings(read, age_s=0)
    with (
        MetricsServer("127.0.0.1", 0, readings) as server,
        slow_clients(server.port, SLOW, WHOLE),
    ):
        time.sleep(0.3)
        count = threading.active_count() - before
        may_end.set()
        assert count <= metrics_server.CLIENTS + 1
        assert b"wirespeed_a" in scraped(server.port)


def test_a_slow_client_that_leaves_early_is_no_traceback(capfd: pytest.CaptureFixture[str]):
    with MetricsServer("127.0.0.1", 0, Readings(families)) as server:
        with slow_clients(server.port, 5, HALF) as clients:
            time.sleep(0.2)
            for client in clients:
                # Closed with a reset.
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        assert scraped(server.port)
    assert capfd.readouterr().err == ""
