"""The same counters of a Windows host, in one round trip of PowerShell.

clock    QueryPerformanceCounter, in seconds
ports    Get-NetAdapterStatistics: bytes of each adapter; RDMA passes them by
tcp      raw counters of TCPv4 and TCPv6: segments sent without those that only repeat, and repeated
cores    raw counters of Processor Information, by group and number: of a PERF_100NSEC_TIMER_INV
         PercentProcessorTime is the time that a core was idle, in units of its Timestamp_Sys100NS
"""

import re
from math import isfinite
from typing import Any, ClassVar

from wirespeed.host.powershell import run_powershell
from wirespeed.host.runner import Completed, Runner
from wirespeed.measure.workload.use import Counters
from wirespeed.model.json_value import read_json

CORES_OF_A_GROUP = 64
"""Windows has groups of no more processors than that."""
SCRIPT = r"""$ErrorActionPreference = 'Stop'
$ticks = [Diagnostics.Stopwatch]::GetTimestamp()
$seconds = $ticks / [Diagnostics.Stopwatch]::Frequency
$tcp4 = @(Get-CimInstance -ClassName Win32_PerfRawData_Tcpip_TCPv4)
$tcp6 = @(Get-CimInstance -ClassName Win32_PerfRawData_Tcpip_TCPv6)
$both = @($tcp4 + $tcp6)
$tcp = @($both | Select-Object -Property 'SegmentsSentPersec', 'SegmentsRetransmittedPersec')
$every = @(Get-CimInstance -ClassName Win32_PerfRawData_Counters_ProcessorInformation)
$cores = @($every | Select-Object -Property 'Name', 'PercentProcessorTime', 'Timestamp_Sys100NS')
$ports = @(Get-NetAdapterStatistics | Select-Object -Property 'Name', 'ReceivedBytes', 'SentBytes')
$all = @{
    clock = $seconds
    ports = $ports
    tcp = $tcp
    cores = $cores
}
ConvertTo-Json -Compress -Depth 3 -InputObject $all
"""
POWERSHELL_S = 60.0
"""It loads its modules at each reading: seconds, and more where the host is busy."""
_CORE = re.compile(r"(\d{1,3}),(\d{1,2})")


class WindowsCounters:
    """Those of a Windows host that `runner` runs PowerShell on."""

    clock: ClassVar[str] = "its performance counters"

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    def read(self) -> tuple[Completed, Counters | None]:
        """Read them once."""
        completed = run_powershell(self._runner, SCRIPT, timeout_s=POWERSHELL_S)
        return completed, parse_windows_counters(completed.output)


def parse_windows_counters(text: str) -> Counters | None:
    """Read them; None where there is no clock to divide by, or it is no such answer."""
    try:
        data = read_json(text)
        clock = float(data["clock"])
        if not isfinite(clock):
            return None
        return Counters(
            uptime_s=clock,
            ports={str(row["Name"]): _port(row) for row in _rows(data["ports"])},
            segments=_segments(_rows(data["tcp"])),
            cores=dict(core for row in _rows(data["cores"]) for core in _core(row)),
        )
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None


def _rows(value: Any) -> list[dict[str, Any]]:
    """Give a list, which PowerShell 5.1 may write as an object with its count."""
    return list(value["value"] if isinstance(value, dict) else value)


def _port(row: dict[str, Any]) -> tuple[int, int]:
    return int(row["ReceivedBytes"]), int(row["SentBytes"])


def _segments(rows: list[dict[str, Any]]) -> tuple[int, int] | None:
    if not rows:
        return None
    names = ("SegmentsSentPersec", "SegmentsRetransmittedPersec")
    sent, again = (sum(int(row[name]) for row in rows) for name in names)
    return sent, again


def _core(row: dict[str, Any]) -> list[tuple[int, tuple[int, int]]]:
    """Give time busy and time of a core; none for a total over several."""
    match = _CORE.fullmatch(str(row["Name"]))
    if match is None:
        return []
    total = int(row["Timestamp_Sys100NS"])
    core = int(match[1]) * CORES_OF_A_GROUP + int(match[2])
    return [(core, (total - int(row["PercentProcessorTime"]), total))]
