"""What a Windows host did beside a command: its counters, described as its classes have them."""

import base64
import json
from collections.abc import Sequence

import pytest
import tree_sitter_powershell
from tree_sitter import Language, Parser

from wirespeed.host.powershell import POWERSHELL
from wirespeed.host.runner import MAX_OUTPUT_BYTES, Completed
from wirespeed.measure.workload.use import host_use
from wirespeed.measure.workload.watch import watched
from wirespeed.model.error import MeasurementError
from wirespeed.platforms.windows.counters import (
    SCRIPT,
    WindowsCounters,
    parse_windows_counters,
)

TICKS = 10_000_000
"""Of Timestamp_Sys100NS, in a second."""


def answer(second: int, **other: object) -> str:
    """Core 0 works half of each second, core 1 of the second group not at all; 10 Gb/s come in."""
    now = 133_000_000_000_000_000 + second * TICKS
    return json.dumps(
        {
            "clock": 5000.25 + second,
            "ports": [
                {"Name": "SLOT 3 Port 1", "ReceivedBytes": 1_250_000_000 * second, "SentBytes": 0},
                {"Name": "이더넷", "ReceivedBytes": 7, "SentBytes": 7},
            ],
            "tcp": [
                {"SegmentsSentPersec": 1000 * second, "SegmentsRetransmittedPersec": 3 * second},
                {"SegmentsSentPersec": 10, "SegmentsRetransmittedPersec": 0},
            ],
            "cores": [
                core("0,0", second * TICKS // 2, now),
                core("1,1", second * TICKS, now),
                core("0,_Total", second * TICKS, now),
                core("_Total", second * TICKS, now),
            ],
            **other,
        },
        ensure_ascii=False,
    )


def core(name: str, idle: int, now: int) -> dict[str, object]:
    return {"Name": name, "PercentProcessorTime": idle, "Timestamp_Sys100NS": now}


class DescribedWindows:
    """Answers the script and nothing else; a second passes at each reading."""

    def __init__(self, output: str | None = None) -> None:
        self.read, self._output = 0, output

    def run(
        self,
        argv: Sequence[str],
        *,
        timeout_s: float = 60.0,
        stdin: str | None = None,
        max_bytes: int = MAX_OUTPUT_BYTES,
    ) -> Completed:
        assert tuple(argv) == POWERSHELL
        assert base64.b64decode(stdin or "").decode() == SCRIPT
        self.read += 1
        output = answer(self.read) if self._output is None else self._output
        return Completed(
            argv=tuple(argv), output=output, errors="Access is denied.", returncode=1, duration_s=0
        )


def test_a_windows_host_is_watched_while_something_runs():
    with watched({"winssh://hv1": WindowsCounters(DescribedWindows())}) as uses:
        pass
    (use,) = uses
    assert (use.host, use.seconds, use.failed) == ("winssh://hv1", 1.0, "")
    assert [(port.netdev, port.received_bps) for port in use.ports] == [("SLOT 3 Port 1", 1e10)]
    assert (use.sent_segments, use.retransmitted_segments) == (1000, 3)
    # Group 1 begins at 64.
    assert [(one.core, one.busy) for one in use.cores] == [(0, 0.5), (65, 0.0)]


def test_a_counter_that_began_anew_is_no_use():
    readings = [parse_windows_counters(answer(second)) for second in (9, 10)]
    again = parse_windows_counters(
        answer(10, tcp=[{"SegmentsSentPersec": 1, "SegmentsRetransmittedPersec": 0}])
    )
    assert None not in (*readings, again)
    assert host_use("x", [readings[0], again]).sent_segments is None  # type: ignore[list-item]


@pytest.mark.parametrize(
    "output",
    ["", "null", "[]", "{}", "{", '{"clock": "x"}', answer(1, clock="NaN"), answer(1, ports=[1])],
)
def test_a_windows_host_that_does_not_say_is_not_watched(output: str):
    assert parse_windows_counters(output) is None
    with (
        pytest.raises(MeasurementError, match=r"host\.unreadable") as caught,
        watched({"hv1": WindowsCounters(DescribedWindows(output))}),
    ):
        raise AssertionError("nothing is to be run")
    assert "Access is denied." in caught.value.found


def test_a_list_with_its_count_is_a_list():
    ports = [{"Name": "a", "ReceivedBytes": 1, "SentBytes": 2}]
    found = parse_windows_counters(answer(1, ports={"value": ports, "Count": 1}))
    assert found is not None and found.ports == {"a": (1, 2)}


def test_the_script_is_one_that_powershell_can_read():
    parser = Parser(Language(tree_sitter_powershell.language()))
    assert not parser.parse(SCRIPT.encode()).root_node.has_error
