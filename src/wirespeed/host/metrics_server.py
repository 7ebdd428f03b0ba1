"""Series over HTTP for Prometheus, by prometheus_client's server; read at most once a minute."""

import os
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager

from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from wirespeed.host.clock import monotonic_s
from wirespeed.model.error import InputError
from wirespeed.model.shown import shown

AGE_S = 60.0
"""A reading this old is read again when it is asked for."""
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


class MetricsServer(AbstractContextManager["MetricsServer"]):
    """Serves readings until it is left. Raises InputError `export.listen`."""

    def __init__(self, address: str, port: int, readings: Readings) -> None:
        # A registry of its own: nothing of this process is among the series.
        registry = CollectorRegistry(auto_describe=False)
        # Read once, so that a host that cannot be read is an error and no server.
        readings.collect()
        registry.register(readings)
        try:
            self._server, self._thread = start_http_server(port, address, registry)
        except OSError as error:
            raise InputError(
                "export.listen",
                where=shown(f"{address} {port}", 60),
                found=str(error),
                so="nothing is exported",
                next="give another ADDRESS:PORT of this machine",
            ) from error
        self.port = self._server.server_port

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
