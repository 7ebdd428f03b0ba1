"""What iperf3 and iperf 2 print of a run, as JSON or as text: the figure, and what limits it. Pure.

iperf_api.c, iperf_print_results; iperf_locale.c and units.c of iperf3; RELNOTES.md of 3.16;
Reporter.c and Locale.c of iperf 2. Bits are counted by 1000, bytes by 1024.
"""

import json
import re
from collections.abc import Iterator, Sequence
from ipaddress import ip_address
from typing import Any, NamedTuple

from wirespeed.model.network_trial import streams_share_a_thread
from wirespeed.model.question import MeasuredBy

REVERSE = "_bidir_reverse"
"""What iperf3 adds to the name of a sum for what the server sent."""
MAX_EVENTS = 100_000
"""One a second is printed by `iperf3 --json-stream`: a day has 86,400."""
SPACES = re.compile(r"\s*+")
SHORT_S = 5.0
FULL_PERCENT = 90.0
"""Of one core: a thread that has no more of it was the bound."""
APART = 0.02
"""Two figures of one run that differ by more contradict each other."""
SHORT = "it ran for {:g} s: slow start and cold caches are in the figure"
BOTH_WAYS = "both directions at once, the client's sending given"
ROW = re.compile(
    r"^\[ *(?P<id>\d{1,6}|SUM)\](?:\[(?P<way>[TR]X)-[CS]\])? +(?P<start>\d[\d.]*) *- *"
    r"(?P<end>\d[\d.]*) +sec +[\d.]+ [KMGT]?Bytes +(?P<figure>[\d.]+) (?P<scale>[KMGT]?)"
    r"(?P<unit>bits|Bytes)/sec(?P<rest>[^\n]*)$",
    re.M,
)
CONNECTED = re.compile(
    r"^\[ *(\d{1,6})\](?:\[[TR]X-[CS]\])? local (\S+) port \d+ connected (?:to|with) (\S+) port",
    re.M,
)
VERSION = re.compile(r"^iperf (?:version )?\d+\.\d+\S*", re.M)
IPERF3 = ("iperf Done.", "Bitrate", "Cwnd", "sender", "receiver", "Connecting to host")
"""What iperf 2 does not print."""
LOST = re.compile(r"(\d+)/ *(\d+) \(")
RESENT = re.compile(r" *(\d+) ")
CPU = re.compile(r"(sender|receiver) ([\d.]+)% \(")
POWERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}


def iperf3_json(text: str) -> MeasuredBy | None:
    """Read what iperf3 prints with --json or --json-stream. None where it is neither."""
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
        limits.append(SHORT.format(seconds))
    if resent := int(end.get("sum_sent", {}).get("retransmits", 0)):
        conditions.append(f"{resent} segments sent again")
    if is_udp and float(total.get("lost_percent", 0)) > 0:
        conditions.append(f"{float(total['lost_percent']):.2g} % of the datagrams lost")
    if is_bidir:
        conditions.append(BOTH_WAYS)
    return MeasuredBy(
        tool=version, measured_bps=measured, conditions=tuple(conditions), limits=tuple(limits),
        doubts=tuple(doubts), streams=streams, addresses=tuple(_addresses_of(told)),
    )  # fmt: skip


def _addresses_of(told: dict[str, Any]) -> Iterator[str]:
    """Give the addresses of the first connection's two ends."""
    for one in told["start"].get("connected", [])[:1]:
        yield from (host for key in ("local_host", "remote_host") if (host := _address(one[key])))


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


class Row(NamedTuple):
    """A line of figures."""

    id: str
    way: str
    """`TX` or `RX` as the client sees it where both directions were measured; else empty."""
    start_s: float
    end_s: float
    bps: float
    rest: str
    """What follows: retransmissions or loss, and whose figure it is."""

    @property
    def seconds(self) -> float:
        """How long it is about."""
        return self.end_s - self.start_s


def iperf_text(text: str) -> MeasuredBy | None:
    """Read what iperf3 or iperf 2 print without --json. None where it is neither's."""
    rows = [_row(match) for match in ROW.finditer(text)]
    if not rows:
        return None
    is_iperf3 = any(word in text for word in IPERF3)
    ways = [row for row in rows if row.way != "RX"]
    chosen = _summary(ways, "receiver") or _summary(ways, "sender") or _longest(ways)
    seconds, measured = max(row.seconds for row in chosen), sum(row.bps for row in chosen)
    connected = CONNECTED.findall(text)
    streams = len({row.id for row in ways if row.id != "SUM"})
    is_udp = "Lost/Total" in text or "UDP port" in text
    version = VERSION.search(text)
    tool = version[0].strip() if version else ("iperf3" if is_iperf3 else "iperf 2")
    conditions = ["UDP" if is_udp else "TCP", f"{seconds:g} s"]
    conditions.append("1 stream" if streams == 1 else f"{streams} streams")
    conditions += _conditions(text, ways, chosen)
    limits = list(_limits(text, tool, streams if is_iperf3 else 0))
    if seconds < SHORT_S:
        limits.append(SHORT.format(seconds))
    return MeasuredBy(
        tool=tool,
        measured_bps=measured,
        conditions=tuple(conditions),
        limits=tuple(limits),
        streams=streams,
        addresses=tuple(filter(None, map(_address, connected[0][1:] if connected else ()))),
    )


def _row(match: re.Match[str]) -> Row:
    base = 1000 if match["unit"] == "bits" else 1024
    bps = float(match["figure"]) * base ** POWERS[match["scale"]]
    bps *= 1 if match["unit"] == "bits" else 8
    start_s, end_s = float(match["start"]), float(match["end"])
    return Row(match["id"], match["way"] or "", start_s, end_s, bps, match["rest"])


def _summary(rows: Sequence[Row], whose: str) -> list[Row]:
    """Give the rows at the end that are the sender's or the receiver's: their sum, or each."""
    own = [row for row in rows if row.rest.rstrip().endswith(whose)]
    return [row for row in own if row.id == "SUM"][:1] or own


def _longest(rows: Sequence[Row]) -> list[Row]:
    """Without such rows: what covers all of the time, or else the mean of the seconds.

    iperf 2 prints a row of the whole at the end. What was pasted may have no end.
    """
    if not rows:
        raise ValueError("it has no row of what the client sent")
    sums = [row for row in rows if row.id == "SUM"] or list(rows)
    last_s = max(row.end_s for row in sums)
    first_s = min(row.start_s for row in sums)
    whole = [row for row in sums if row.start_s == first_s and row.end_s >= 0.95 * last_s]
    if whole:
        return whole
    bits = sum(row.bps * row.seconds for row in sums)
    length_s = last_s - first_s
    return [sums[0]._replace(start_s=first_s, end_s=last_s, bps=bits / length_s)]


def _conditions(text: str, rows: Sequence[Row], chosen: Sequence[Row]) -> Iterator[str]:
    if "Reverse mode, remote host" in text:
        yield "the far end sent"
    if any(row.way for row in rows):
        yield BOTH_WAYS
    sent = _summary(rows, "sender")
    resent = sum(int(match[1]) for row in sent if (match := RESENT.match(row.rest)))
    if "Retr" in text and resent:
        yield f"{resent} segments sent again"
    lost = [match for row in chosen if (match := LOST.search(row.rest))]
    total = sum(int(match[2]) for match in lost)
    if total and (gone := sum(int(match[1]) for match in lost)):
        yield f"{100 * gone / total:.2g} % of the datagrams lost"
    if not any(row.rest.rstrip().endswith(("sender", "receiver")) for row in chosen):
        yield "of the rows that are there" if len(rows) > len(chosen) else "of its only row"


def _limits(text: str, tool: str, streams: int) -> Iterator[str]:
    """Give what of iperf3's threads may have been the bound; `streams` 0: it is iperf 2's."""
    if not streams:
        return
    version = re.search(r"\d+\.\d+", tool)
    if streams > 1 and version is None:
        yield (
            f"all {streams} streams share one thread before iperf3 3.16, and its text has no "
            "version (`iperf3 --version`)"
        )
    elif streams > 1 and streams_share_a_thread(tool):
        yield f"all {streams} streams share one thread before iperf3 3.16"
    shares = {whose: float(share) for whose, share in CPU.findall(text)}
    if streams == 1 and not shares:
        yield "one stream, and how busy its thread was is not in its text (`iperf3 -V` shows it)"
    for whose, share in shares.items():
        if share >= FULL_PERCENT and (streams == 1 or streams_share_a_thread(tool)):
            yield f"the {whose}'s one thread took {share:.0f} % of a core"


def _address(text: str) -> str:
    """Give an IP address without its zone; empty where it is none."""
    bare = text.partition("%")[0]
    try:
        return str(ip_address(bare))
    except ValueError:
        return ""
