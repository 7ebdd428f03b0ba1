"""What `iperf3 --client … --json` prints, read strictly. Pure.

Source: iperf_print_results() in iperf_api.c, RELNOTES.md to 3.20, real output of 3.7, 3.9, 3.10.1,
3.12, 3.16 and 3.21. Before 3.14 its exit code is 0 even after an error: the key `error` is what
tells. Before 3.11, `--bidir` prints each key of the sums twice, once for each direction
(github.com/esnet/iperf/pull/1200): `sender` in them tells whether the client sent. From 3.16 each
stream has a thread of its own, so that the version is worth to be known.
"""

from dataclasses import dataclass
from typing import Any

from wirespeed.model.json_value import read_json
from wirespeed.model.shown import shown

REPEATED = ("sock_bufsize", "sndbuf_actual", "rcvbuf_actual")
"""Printed again for each stream before 3.14, and read by nobody here."""
BOTH_WAYS = ("sum", "sum_sent", "sum_received")
REVERSE = "_bidir_reverse"
"""What 3.11 and later add to these names for what the server sent."""


class NoFiguresError(ValueError):
    """There are no figures in it that could be relied on."""


@dataclass(frozen=True, slots=True)
class Iperf3Figures:
    """One run, as the client tells it; bits a second of payload, as the receiver counted it."""

    sent_bps: float
    returned_bps: float | None
    retransmits: int | None
    returned_retransmits: int | None
    client_cpu_percent: float
    server_cpu_percent: float
    seconds: float
    """That it sent for."""
    version: str
    """`iperf 3.12`."""


def parse_iperf3(text: str, *, streams: int, bidirectional: bool) -> Iperf3Figures:
    """Read one run. Raises NoFiguresError with the reason."""
    try:
        told = read_json(text, object_pairs_hook=_once)
    except ValueError as error:
        raise NoFiguresError(f"iperf3 printed no JSON: {shown(str(error), 200)}") from None
    if not isinstance(told, dict):
        raise NoFiguresError("iperf3 printed no object")
    if "error" in told:
        raise NoFiguresError(f"iperf3: {shown(str(told['error']))}")
    version = shown(str(_object(told, "start").get("version")), 40)
    start, end = _object(_object(told, "start"), "test_start"), _object(told, "end")
    if start.get("protocol") != "TCP" or start.get("num_streams") != streams:
        found = shown(f"{start.get('protocol')} with {start.get('num_streams')} streams")
        raise NoFiguresError(f"it was {found}, and not TCP with {streams}")
    if start.get("bidir", int(bidirectional)) != int(bidirectional):
        raise NoFiguresError(f"bidir was {shown(str(start['bidir']), 40)}")
    cpu = _object(end, "cpu_utilization_percent")
    sent = _object(end, "sum_sent")
    back = _object(end, "sum_sent_bidir_reverse") if bidirectional else None
    return Iperf3Figures(
        sent_bps=_received(end, "sum_received"),
        returned_bps=_received(end, "sum_received_bidir_reverse") if bidirectional else None,
        retransmits=_count(sent, "retransmits"),
        returned_retransmits=None if back is None else _count(back, "retransmits"),
        client_cpu_percent=_number(cpu, "host_total"),
        server_cpu_percent=_number(cpu, "remote_total"),
        seconds=_number(sent, "seconds"),
        version=version,
    )


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        for key in dict.fromkeys(key for key, _ in pairs if key not in REPEATED):
            values = [value for name, value in pairs if name == key]
            if len(values) > 1:
                found[key], found[key + REVERSE] = _both_ways(key, values)
    return found


def _both_ways(key: str, values: list[Any]) -> tuple[Any, Any]:
    """Give what the client sent and what the server sent, as iperf3 before 3.11 prints them."""
    ways = {
        one["sender"]: one
        for one in values
        if isinstance(one, dict) and isinstance(one.get("sender"), bool)
    }
    if key not in BOTH_WAYS or len(ways) != len(values):
        raise ValueError(f"{key!r} appears {len(values)} times")
    return ways[True], ways[False]


def _object(of: dict[str, Any], key: str) -> dict[str, Any]:
    found = of.get(key)
    if not isinstance(found, dict):
        raise NoFiguresError(f"iperf3 printed no {key}")
    return found


def _number(of: dict[str, Any], key: str) -> float:
    found = of.get(key)
    if isinstance(found, bool) or not isinstance(found, int | float) or not 0 <= found < 1e15:
        raise NoFiguresError(f"iperf3 printed {shown(str(found), 40)} for {key}")
    return float(found)


def _count(of: dict[str, Any], key: str) -> int | None:
    """Give a count that only some systems have."""
    return int(_number(of, key)) if key in of else None


def _received(end: dict[str, Any], key: str) -> float:
    received = _object(end, key)
    if not _number(received, "bytes") or not _number(received, "seconds"):
        raise NoFiguresError("nothing was received")
    return _number(received, "bits_per_second")
