"""What a tool printed about a run, as the figure that it measured and what limits the tool. Pure.

iperf3 (--json)    iperf_api.c, iperf_print_results; RELNOTES.md of 3.16
perftest (text)    src/perftest_resources.h: MB is 2^20 bytes; both directions are added up
netperf (text)     netperf 2.7, nettest_bsd.c and nettest_omni.c: 10^6 bits a second
qperf, sockperf    qperf.c: MB is 10^6 bytes; sockperf's client.cpp: MBps and Mbps by 2^20
"""

import json
import re
from collections.abc import Callable
from typing import Any

from wirespeed.model.error import InputError
from wirespeed.model.network_trial import streams_share_a_thread
from wirespeed.model.question import MeasuredBy
from wirespeed.model.shown import shown

REVERSE = "_bidir_reverse"
"""What iperf3 adds to the name of a sum for what the server sent."""
MAX_BYTES = 4 << 20
"""Of what a tool printed; iperf3 prints 400 bytes a second and stream."""
MAX_EVENTS = 100_000
"""One a second is printed by `iperf3 --json-stream`: a day has 86,400."""
SPACES = re.compile(r"\s*+")
SHORT_S = 5.0
FULL_PERCENT = 90.0
"""Of one core: a thread that has no more of it was the bound."""
APART = 0.02
"""Two figures of one run that differ by more contradict each other."""
MEBI = 1 << 20
PERFTEST_ROW = re.compile(r"^ *(\d+) +(\d+) +(-?[\d.]+) +(-?[\d.]+)[ \t]+(-?[\d.]+) *$", re.M)
PERFTEST_HEAD = re.compile(r"BW average\[(Mi?B/sec|Gb/sec)\]")
"""perftest_parameters.h, RESULT_FMT: MiB/sec since 24.07, MB/sec before; both are 2^20 bytes."""
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
SCALES = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


def parse_measured(text: str, where: str) -> MeasuredBy:
    """Read one run. Raises InputError `measured_by.unknown`, `measured_by.no_figure`."""
    if len(text) > MAX_BYTES:
        raise _no_figure(where, f"it has more than {MAX_BYTES >> 20} MiB")
    for parse in (_iperf3, _perftest, _netperf, _qperf, _sockperf):
        found = _tried(parse, text, where)
        if found is not None:
            if not 0 < found.measured_bps < 1e15:
                raise _no_figure(where, f"{found.tool} measured {found.measured_bps:g} bit/s")
            return found
    raise InputError(
        "measured_by.unknown",
        where=where,
        found=f"unknown format: it begins with {shown(text.strip(), 60)!r}",
        next="give the output of `iperf3 --json`, perftest's ib_*_bw, netperf, qperf or "
        "sockperf; for another tool give the figure itself: --measured 53.6",
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


def _iperf3(text: str) -> MeasuredBy | None:
    if not text.lstrip().startswith("{"):
        return None
    told = _parts(text)
    if "error" in told:
        raise ValueError(f"iperf3 ended with an error: {told['error']}")
    start, end = told["start"]["test_start"], told["end"]
    version = str(told["start"]["version"])
    streams = int(start["num_streams"])
    # test_start says it since 3.13.
    is_bidir = bool(start.get("bidir")) or any(key.endswith(REVERSE) for key in end)
    is_udp = start["protocol"] == "UDP"
    total = end["sum_received"] if "sum_received" in end else end["sum"]
    measured, seconds = float(total["bits_per_second"]), float(total["seconds"])
    limits, doubts, conditions = [], [], [f"{start['protocol']}", f"{seconds:g} s"]
    conditions.append("1 stream" if streams == 1 else f"{streams} streams")
    if float(total["bytes"]) * 8 / seconds > measured * (1 + APART) or float(
        total["bytes"]
    ) * 8 / seconds < measured * (1 - APART):
        doubts.append(
            f"its bytes in its time are {total['bytes'] * 8 / seconds / 1e9:.3g} Gb/s, and it "
            f"says {measured / 1e9:.3g}"
        )
    if "sum_received" not in end:
        # iperf_api.c, "Summary sum, UDP": total_sent, and before 3.11 no other sum of UDP.
        measured *= 1 - float(total.get("lost_percent", 0)) / 100
    has_one_thread = streams_share_a_thread(version)
    if has_one_thread and streams > 1:
        limits.append(f"all {streams} streams share one thread before iperf3 3.16")
    # iperf_client_api.c since 3.16: a thread for each stream, and so two where both sides send.
    if has_one_thread or (streams == 1 and not is_bidir):
        cpu = end.get("cpu_utilization_percent", {})
        for key, whose in (("host_total", "client"), ("remote_total", "server")):
            if float(cpu.get(key, 0)) >= FULL_PERCENT:
                limits.append(f"the {whose}'s one thread took {float(cpu[key]):.0f} % of a core")
    target = float(start.get("target_bitrate", 0))
    if target > 0:
        limits.append(
            f"it was told to send at most {target / 1e9:g} Gb/s for each stream (--bitrate"
            + ("; 1 Mb/s unless set)" if is_udp else ")")
        )
    if seconds < SHORT_S:
        limits.append(f"it ran for {seconds:g} s: slow start and cold caches are in the figure")
    if resent := int(end.get("sum_sent", {}).get("retransmits", 0)):
        conditions.append(f"{resent} segments sent again")
    if is_udp and float(total.get("lost_percent", 0)) > 0:
        conditions.append(f"{float(total['lost_percent']):.2g} % of the datagrams lost")
    if is_bidir:
        conditions.append("both directions at once, the client's sending given")
    return MeasuredBy(
        tool=version, measured_bps=measured, conditions=tuple(conditions), limits=tuple(limits),
        doubts=tuple(doubts),
    )  # fmt: skip


def _parts(text: str) -> dict[str, Any]:
    """Give start, end and the rest of one run.

    --json-stream prints each as an event of its own (JSONStream_Output()), and with
    --json-stream-full-output the whole after these.
    """
    decoder, found = json.JSONDecoder(object_pairs_hook=_first), []
    at = _after_spaces(text, 0)
    while at < len(text):
        one, at = decoder.raw_decode(text, at)
        found.append(one)
        if len(found) > MAX_EVENTS:
            raise ValueError(f"it holds more than {MAX_EVENTS} events")
        at = _after_spaces(text, at)
    events = [one for one in found if "event" in one]
    wholes: list[dict[str, Any]] = [one for one in found if "event" not in one]
    runs = len(wholes) or [one["event"] for one in events].count("start")
    if runs > 1:
        raise ValueError(f"it holds {runs} runs")
    return wholes[0] if wholes else {one["event"]: one["data"] for one in events}


def _after_spaces(text: str, at: int) -> int:
    match = SPACES.match(text, at)
    return match.end() if match else at


def _first(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Let a sum that stands twice be the client's, as from 3.11 on: before, --bidir prints it so.

    What the client sent comes first there.
    """
    told, last = dict(reversed(pairs)), dict(pairs)
    return told | {f"{key}{REVERSE}": last[key] for key in told if told[key] is not last[key]}


def _perftest(text: str) -> MeasuredBy | None:
    head = PERFTEST_HEAD.search(text)
    if head is None:
        return None
    rows = (match.groups() for match in PERFTEST_ROW.finditer(text))
    best = max(rows, key=lambda row: float(row[3]), default=None)
    if best is None:
        raise ValueError("perftest printed no row of figures")
    size, count, _, average, message_mpps = best
    measured = float(average) * (1e9 if head[1] == "Gb/sec" else 8 * MEBI)
    by_messages = float(message_mpps) * 1e6 * int(size) * 8
    doubts = []
    if abs(by_messages - measured) > APART * measured:
        doubts.append(
            f"its messages times their size are {by_messages / 1e9:.3g} Gb/s, and it says "
            f"{measured / 1e9:.3g}"
        )
    conditions = [f"messages of {size} bytes, {count} of them"]
    if "Bidirectional" in text:
        measured /= 2
        conditions.append("half of the sum of both directions, which is what it prints")
    limits = []
    if int(size) < 4096:
        limits.append(f"messages of {size} bytes are bound by messages a second, not by bits")
    pairs = re.search(r"Number of qps\s*:\s*(\d+)", text)
    if pairs is not None:
        conditions.append(f"{pairs[1]} queue pairs" if pairs[1] != "1" else "1 queue pair")
    if int(count) < 1000:
        limits.append(f"{count} iterations are over before the link is warm")
    if "Conflicting CPU frequency" in text:
        doubts.append("the CPU's clock changed meanwhile, which it takes its time from")
    return MeasuredBy(
        tool="perftest", measured_bps=measured, conditions=tuple(conditions), limits=tuple(limits),
        doubts=tuple(doubts),
    )  # fmt: skip


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
        limits.append(f"it ran for {seconds:g} s: slow start and cold caches are in the figure")
    conditions = () if seconds is None else (f"{seconds:g} s",)
    return MeasuredBy(
        tool="netperf", measured_bps=megabits * 1e6, conditions=conditions, limits=tuple(limits)
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
    )
