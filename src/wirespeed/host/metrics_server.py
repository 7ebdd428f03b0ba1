"""Series over HTTP for Prometheus, by prometheus_client; read at most once a minute.

A client that is slow, or many, must hold neither threads nor memory: each has CLIENT_S for all of
its request and answer, and of more than CLIENTS at once the oldest is cut off.
"""

import os
import socket
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, suppress
from math import inf
from socketserver import TCPServer, ThreadingMixIn
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

from prometheus_client import CollectorRegistry, make_wsgi_app
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from wirespeed.host.clock import monotonic_s
from wirespeed.model.error import InputError
from wirespeed.model.shown import shown

AGE_S = 60.0
"""A reading this old is read again when it is asked for."""
CLIENTS = 16
"""At once; Prometheus is one, and asks for no more than one answer at a time."""
CLIENT_S = 10.0
"""What a client has from its connection to the end of its answer, as Prometheus' scrape_timeout."""
ROOM_S = 0.05
"""Until the thread of one that is cut off has ended; one that waits for a reading stays."""
COST = "wirespeed_reading_cpu_seconds"
Row = tuple[str, dict[str, str], float]
Families = Sequence[tuple[str, str, Sequence[Row]]]


class Readings(Collector):
    """The last reading, and another when it is asked for after `age_s`."""

    def __init__(self, read: Callable[[], Families], age_s: float = AGE_S) -> None:
        self._read, self._age_s = read, age_s
        self._lock = threading.Lock()
        self._at: float | None = None
        self._families: Families = ()

    def collect(self) -> Iterable[GaugeMetricFamily]:
        """Give the series. Who asks while a reading is made waits for it."""
        with self._lock:
            if self._at is None or monotonic_s() - self._at >= self._age_s:
                began = _cpu_s()
                families = self._read()
                rows: list[Row] = [(COST, {}, _cpu_s() - began)]
                cost = (COST, "CPU time of the last reading.", rows)
                self._families, self._at = (*families, cost), monotonic_s()
            return [_family(*one) for one in self._families]


class _Quiet(WSGIRequestHandler):
    """Logs no request."""

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing."""


class _Bounded(ThreadingMixIn, WSGIServer):
    """A thread a client, CLIENTS at most; who is not done after CLIENT_S is cut off."""

    daemon_threads = True
    # Many that come at once must not fill it: who finds it full tries again after a second.
    request_queue_size = 1024

    def __init__(self, address: str, port: int) -> None:
        self.address_family = socket.AF_INET6 if ":" in address else socket.AF_INET
        # When each is overdue; socketserver's request is the connection.
        self._until: dict[Any, float] = {}
        self._changes = threading.Condition()
        super().__init__((address, port), _Quiet)

    def server_bind(self) -> None:
        """Bind, and ask no name server what this machine is called, as HTTPServer does."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = self.socket.getsockname()[:2]
        self.setup_environ()

    def verify_request(self, request: Any, client_address: Any) -> bool:  # noqa: ARG002
        """Take it where there is room, or where the oldest, cut off, makes some at once."""
        with self._changes:
            if len(self._until) >= CLIENTS:
                oldest = min(self._until, key=self._until.__getitem__)
                _cut_off(oldest)
                # The last to be chosen again: it may be one that waits for a reading.
                self._until[oldest] = inf
                self._changes.wait_for(lambda: len(self._until) < CLIENTS, ROOM_S)
            has_room = len(self._until) < CLIENTS
            if has_room:
                self._until[request] = monotonic_s() + CLIENT_S
        return has_room

    def service_actions(self) -> None:
        """Cut off who is overdue; called at every turn of the loop, twice a second or more."""
        with self._changes:
            for request, until in self._until.items():
                if monotonic_s() >= until:
                    _cut_off(request)

    def shutdown_request(self, request: Any) -> None:
        """Close the connection, also at the end of its thread."""
        with self._changes:
            self._until.pop(request, None)
            self._changes.notify()
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print what is not of the connection: a client that is gone is no news."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


def _cut_off(request: socket.socket) -> None:
    """Let what its thread reads or writes end at once."""
    with suppress(OSError):
        request.shutdown(socket.SHUT_RDWR)


class MetricsServer(AbstractContextManager["MetricsServer"]):
    """Serves readings until it is left. Raises InputError `export.listen`."""

    def __init__(self, address: str, port: int, readings: Readings) -> None:
        # A registry of its own: nothing of this process is among the series.
        registry = CollectorRegistry(auto_describe=False)
        # Read once, so that a host that cannot be read is an error and no server.
        readings.collect()
        registry.register(readings)
        try:
            self._server = _Bounded(address, port)
        except OSError as error:
            raise InputError(
                "export.listen",
                where=shown(f"{address} {port}", 60),
                found=str(error),
                so="nothing is exported",
                next="give another ADDRESS:PORT of this machine",
            ) from error
        self._server.set_app(make_wsgi_app(registry))
        self.port = self._server.server_port
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def wait(self) -> None:
        """Serve until the process is told to end."""
        self._thread.join()

    def __exit__(self, *_: object) -> None:
        """Stop."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _family(name: str, help_text: str, rows: Sequence[Row]) -> GaugeMetricFamily:
    family = GaugeMetricFamily(name, help_text)
    for row_name, labels, value in rows:
        family.add_sample(row_name, {key: shown(text, 120) for key, text in labels.items()}, value)
    return family


def _cpu_s() -> float:
    """CPU time of this process, and of its children that ended."""
    return sum(os.times()[:4])
