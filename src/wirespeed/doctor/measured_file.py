"""What a tool printed about a run, as the figure that it measured and what limits the tool. Pure.

netperf (text)     netperf 2.7, nettest_bsd.c and nettest_omni.c: 10^6 bits a second
qperf, sockperf    qperf.c: MB is 10^6 bytes; sockperf's client.cpp: MBps and Mbps by 2^20
pktgen             net/core/pktgen.c, show_results(): frames a second, of bytes without FCS
"""

import re
from collections.abc import Callable

from wirespeed.doctor.measured_iperf import SHORT, SHORT_S, iperf3_json, iperf_text
from wirespeed.doctor.measured_rdma import MEBI, nccl_tests, perftest_json, perftest_text
from wirespeed.model.error import InputError
from wirespeed.model.question import MeasuredBy
from wirespeed.model.shown import shown

MAX_BYTES = 4 << 20
"""Of what a tool printed; iperf3 prints 400 bytes a second and stream."""
NETPERF_UNIT = "10^6bits/sec"
NETPERF_UDP = "Okay Errors"
NUMBERS = re.compile(r"[\d. ]+")
NETPERF_PAIR = re.compile(r"^THROUGHPUT=([\d.]+)$", re.M)
NETPERF_UNITS = re.compile(r"^THROUGHPUT_UNITS=(\S+)$", re.M)
QPERF = re.compile(
    r"^[ \t]*(?:(\w+):[ \t\r]*$|(?:recv_)?bw[ \t]*=[ \t]*([\d.]+) ([KMGT]?)(B|b|bits|bytes)/sec)",
    re.M,
)
"""qperf.c, show_info: a test's name or its `bw`; where it prints two, `recv_bw` is what arrived."""
SOCKPERF = re.compile(r"Summary: BandWidth is ([\d.]+) MBps \(([\d.]+) Mbps\)")
PKTGEN = re.compile(
    r"OK: (\d{1,18})\(c\d{1,18}\+d\d{1,18}\) usec, \d{1,18} \((\d{1,5})byte,-?\d{1,4}frags\)\s{1,4}"
    r"(\d{1,12})pps \d{1,12}Mb/sec"
)
PREAMBLE_AND_GAP_BYTES = 20
SCALES = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


def parse_measured(text: str, where: str) -> MeasuredBy:
    """Read one run. Raises InputError `measured_by.unknown`, `measured_by.no_figure`."""
    if len(text) > MAX_BYTES:
        raise _no_figure(where, f"it has more than {MAX_BYTES >> 20} MiB")
    for parse in PARSERS:
        found = _tried(parse, text, where)
        if found is not None:
            if not 0 < found.measured_bps < 1e15:
                raise _no_figure(where, f"{found.tool} measured {found.measured_bps:g} bit/s")
            return found
    raise InputError(
        "measured_by.unknown",
        where=where,
        found="unknown format: none of these tools printed it",
        next="give the output of iperf3 (with --json it says more), iperf, perftest's "
        "ib_*_bw, nccl-tests, netperf, qperf, sockperf or pktgen; for another tool give the figure "
        "itself: --measured 53.6",
    )


def _tried(parse: Callable[[str], MeasuredBy | None], text: str, where: str) -> MeasuredBy | None:
    try:
        return parse(text)
    except (LookupError, ValueError, TypeError, ArithmeticError, RecursionError) as error:
        raise _no_figure(where, shown(str(error), 120)) from None


def _no_figure(where: str, found: str) -> InputError:
    return InputError(
        "measured_by.no_figure",
        where=where,
        found=found,
        so="it holds no figure to compare with the path",
        next="run the tool again, let it finish, and give its complete output",
    )


def _netperf(text: str) -> MeasuredBy | None:
    pair, units = NETPERF_PAIR.search(text), NETPERF_UNITS.search(text)
    rows = _netperf_rows(text)
    if pair is not None:
        if units is None or units[1] != "10^6bits/s":
            raise ValueError("netperf's THROUGHPUT_UNITS are not 10^6bits/s")
        megabits, seconds = float(pair[1]), None
    elif NETPERF_UDP in text:
        # nettest_omni.c, send_udp_stream: a row of what was sent, and one of what was received.
        if len(rows) < 2:
            raise ValueError("netperf did not print what was sent and received in 10^6bits/sec")
        megabits, seconds = float(rows[1][3]), float(rows[0][2])
    elif rows:
        megabits, seconds = float(rows[0][4]), float(rows[0][3])
    else:
        return None
    limits = ["one netperf has one stream in one thread"]
    if seconds is not None and seconds < SHORT_S:
        limits.append(SHORT.format(seconds))
    conditions = () if seconds is None else (f"{seconds:g} s",)
    return MeasuredBy(
        tool="netperf",
        measured_bps=megabits * 1e6,
        conditions=conditions,
        limits=tuple(limits),
        streams=1,
    )


def _netperf_rows(text: str) -> list[list[str]]:
    """Give the words of the rows below the line with the unit: numbers, and the first two."""
    table = text.partition(NETPERF_UNIT)[2].partition("\n")[2].lstrip()
    lines = (line.strip() for line in table.split("\n", 2)[:2])
    return [line.split() for line in lines if NUMBERS.fullmatch(line)]


def _qperf(text: str) -> MeasuredBy | None:
    test, rows = "", []
    for name, figure, scale, unit in QPERF.findall(text):
        if name:
            test = name
            continue
        bits = 8 if unit in ("B", "bytes") else 1
        # calc_results of qperf.c adds up what both sides received.
        directions = 2 if test.endswith("_bi_bw") else 1
        rows.append((float(figure) * SCALES[scale] * bits / directions, directions))
    if not rows:
        return None
    measured, directions = max(rows)
    conditions = ["1 stream"]
    if directions == 2:
        conditions.append("half of the sum of both directions, which is what it prints")
    if len(rows) > 1:
        conditions.append(f"the highest of its {len(rows)} figures")
    return MeasuredBy(
        tool="qperf",
        measured_bps=measured,
        conditions=tuple(conditions),
        limits=("qperf has one stream in one thread",),
        streams=1,
    )


def _sockperf(text: str) -> MeasuredBy | None:
    match = SOCKPERF.search(text)
    if match is None:
        return None
    return MeasuredBy(
        tool="sockperf",
        measured_bps=float(match[1]) * MEBI * 8,
        conditions=("its MBps and Mbps are of 2^20",),
        limits=("sockperf sends from one thread",),
        streams=1,
    )


def _pktgen(text: str) -> MeasuredBy | None:
    """Read the results of /proc/net/pktgen, one for each device; each is of one kernel thread."""
    rows = [[int(one) for one in row] for row in PKTGEN.findall(text)]
    if not rows:
        return None
    limits = [
        "pktgen sends all frames of a device from one thread, and so from one core"
        if len(rows) == 1
        else f"pktgen sent from at most {len(rows)} threads, one for each device"
    ]
    seconds = max(row[0] for row in rows) / 1e6
    if seconds < SHORT_S:
        limits.append(SHORT.format(seconds))
    sizes = sorted({size for _, size, _ in rows})
    return MeasuredBy(
        tool="pktgen",
        measured_bps=sum(8 * pps * (size + PREAMBLE_AND_GAP_BYTES) for _, size, pps in rows),
        conditions=(
            f"{sum(pps for *_, pps in rows)} frames/s of {', '.join(map(str, sizes))} bytes",
            "preamble and gap counted, FCS not",
            f"{seconds:g} s",
        ),
        limits=tuple(limits),
        streams=len(rows),
    )


PARSERS: tuple[Callable[[str], MeasuredBy | None], ...] = (
    perftest_json, iperf3_json, iperf_text, perftest_text, nccl_tests, _netperf, _qperf, _sockperf,
    _pktgen,
)  # fmt: skip
"""Each gives None where the text is of another tool."""
