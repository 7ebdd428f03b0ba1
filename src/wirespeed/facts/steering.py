"""Which queue a frame goes to: the RSS table of the card, XPS and RPS of the kernel."""

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Self, TypeVar

from wirespeed.facts.cpu_list import parse_cpu_mask
from wirespeed.facts.ethtool import NOT_SUPPORTED, ethtool_answer
from wirespeed.model.capture import Capture, Files
from wirespeed.model.fact import Fact
from wirespeed.model.observed import Absent, Known, Observed, Unreadable, read_as

ATTRIBUTES = ("xps_cpus", "rps_cpus", "rps_flow_cnt", "threaded")
QUEUE_FILE = re.compile(
    r"^(?:grep: )?"
    r"(/sys/class/net/([^/\s]+)/queues/[rt]x-(\d{1,5})/(xps_cpus|rps_cpus|rps_flow_cnt)):",
    re.M,
)
ENTRIES = re.compile(r"\s*\d+:((?:\s+\d{1,5})+)\s*")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class NetdevSteering:
    """RSS, XPS and RPS of one netdev."""

    rss_entries: Observed[dict[int, int]]
    """Receive queue: how many entries of the indirection table name it. Queues without are left
    out. Absent: the card has no table."""
    rx_rings: Observed[int]
    """Receive queues that the table can name."""
    has_hash_key: Observed[bool]
    """The key itself is not kept: who knows it can aim all frames at one queue."""
    hash_function: Observed[str]
    """`toeplitz`, `xor` or `crc32`: the one that is on."""
    hashes_udp_ports: Observed[bool]
    """Of UDP over IPv4; False: all UDP between two hosts, their tunnels too, is one flow to it."""
    is_napi_threaded: Observed[bool]
    """Kernel threads poll the queues, not the core of the interrupt. Absent before Linux 5.12."""
    xps_cpus: dict[int, Observed[frozenset[int]]]
    """Transmit queue: the CPUs that use it. Empty: XPS is not set, a hash of the flow chooses."""
    rps_cpus: dict[int, Observed[frozenset[int]]]
    """Receive queue: the CPUs that its frames are handed to. Empty: the one of the interrupt."""
    rps_flow_count: dict[int, Observed[int]]
    """Receive queue: entries of its table of flows. 0: RFS is off."""


@dataclass(frozen=True, slots=True)
class Steering(Fact):
    """Steering of every port's netdev."""

    netdevs: dict[str, NetdevSteering]
    files: Files
    """Those of `queues`, for what is asked about a netdev that has none."""

    # The key is left out on the host already; a capture may be shown to others.
    script: ClassVar[str] = """\
rss() {
	table=$($limit ethtool -x "$1") || {
		status=$?
		printf '%s\\n' "$table"
		return "$status"
	}
	printf '%s\\n' "$table" | sed 's/^[0-9a-f][0-9a-f]:[0-9a-f:]*$/not read/'
}
list_queue_files() (
	set +f
	for netdev in $port_netdevs; do
		cd "/sys/class/net/$netdev/queues" || continue
		printf '%s\\0' "/sys/class/net/$netdev/threaded"
		for path in tx-*/xps_cpus rx-*/rps_cpus rx-*/rps_flow_cnt; do
			printf '%s\\0' "/sys/class/net/$netdev/queues/$path"
		done
	done
)
for netdev in $port_netdevs; do
	show ethtool-rss "$netdev" rss "$netdev"
	run ethtool-udp-hash "$netdev" ethtool -n "$netdev" rx-flow-hash udp4
done
list_queue_files 2>/dev/null | files queues -
"""

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read `ethtool-rss` and `ethtool-udp-hash` of each netdev, and the files of `queues`."""
        files = capture.files("queues", ATTRIBUTES)
        section = capture.section("queues")
        # A file that cannot be read has no line in the output, only one among the errors.
        listed = f"{section.output}\n{section.errors}" if section else ""
        paths: dict[str, _Paths] = {}
        for path, netdev, queue, attribute in QUEUE_FILE.findall(listed):
            paths.setdefault(netdev, {}).setdefault(attribute, {})[int(queue)] = path
        netdevs = paths.keys() | capture.sections("ethtool-rss").keys()
        netdevs |= capture.sections("ethtool-udp-hash").keys()
        found = {n: _read(capture, n, paths.get(n, {}), files) for n in netdevs}
        return cls(found, files)

    def of(self, netdev: str) -> NetdevSteering:
        """Steering of one netdev; unreadable where it was not asked about."""
        nothing = Capture([], complete=False)
        return self.netdevs.get(netdev) or _read(nothing, netdev, {}, self.files)


_Paths = dict[str, dict[int, str]]
"""Attribute: queue: path."""


def _read(capture: Capture, netdev: str, paths: _Paths, files: Files) -> NetdevSteering:
    answer = ethtool_answer(capture, "ethtool-rss", netdev, "-x")
    return NetdevSteering(
        rss_entries=_table(answer),
        rx_rings=_rx_rings(answer),
        has_hash_key=_has_key(answer),
        hash_function=_hash_function(answer),
        hashes_udp_ports=_hashes_ports(capture, netdev),
        is_napi_threaded=read_as(files[f"/sys/class/net/{netdev}/threaded"], _is_threaded),
        xps_cpus=_by_queue(paths.get("xps_cpus", {}), files, parse_cpu_mask),
        rps_cpus=_by_queue(paths.get("rps_cpus", {}), files, parse_cpu_mask),
        rps_flow_count=_by_queue(paths.get("rps_flow_cnt", {}), files, int),
    )


def _by_queue(
    paths: dict[int, str], files: Files, convert: Callable[[str], T]
) -> dict[int, Observed[T]]:
    return {queue: read_as(files[path], convert) for queue, path in sorted(paths.items())}


def _part(answer: Observed[str], header: str) -> Observed[str]:
    """Lines below a header that starts with `header`, up to the next line that is not indented."""
    if not isinstance(answer, Known):
        return answer
    match = re.search(
        rf"^{header}[^\n]*\n((?:[ \t]+[^\n]*\n?|[0-9a-f:]+\n?|not read\n?)*)", answer.value, re.M
    )
    if match is None or not match[1].strip():
        return Absent(answer.source, NOT_SUPPORTED)
    return Known(match[1], answer.source)


def _table(answer: Observed[str]) -> Observed[dict[int, int]]:
    def count(lines: str) -> dict[int, int]:
        entries: Counter[int] = Counter()
        for line in lines.splitlines():
            if match := ENTRIES.fullmatch(line):
                entries.update(int(queue) for queue in match[1].split())
        if not entries:
            raise ValueError("a table without entries")
        return dict(sorted(entries.items()))

    return read_as(_part(answer, "RX flow hash indirection table"), count)


def _rx_rings(answer: Observed[str]) -> Observed[int]:
    if not isinstance(answer, Known):
        return answer
    match = re.search(r"with (\d{1,5}) RX ring", answer.value)
    if match is None:
        return Unreadable("it does not say how many rings there are", answer.source)
    return Known(int(match[1]), answer.source)


def _has_key(answer: Observed[str]) -> Observed[bool]:
    if not isinstance(answer, Known):
        return answer
    return Known(isinstance(_part(answer, "RSS hash key"), Known), answer.source)


def _hash_function(answer: Observed[str]) -> Observed[str]:
    lines = _part(answer, "RSS hash function")
    if not isinstance(lines, Known):
        return lines
    match = re.search(r"^[ \t]+([\w-]+): on$", lines.value, re.M)
    if match is None:
        return Absent(lines.source, "none is on")
    return Known(match[1], lines.source)


def _hashes_ports(capture: Capture, netdev: str) -> Observed[bool]:
    """`L4 bytes 0 & 1 [TCP/UDP src port]` and its like; `None` where nothing is hashed."""
    section = "ethtool-udp-hash"
    source = f"ethtool -n {netdev} rx-flow-hash udp4"
    answer = ethtool_answer(capture, section, netdev, "-n", "rx-flow-hash", "udp4")
    if not isinstance(answer, Known):
        return answer
    _, header, fields = answer.value.partition("Hash flow key:")
    if not header:
        return Unreadable("it names no fields", source)
    if fields.split() == ["None"]:
        return Absent(source, "the card does not say what it hashes")
    return Known("L4 bytes" in fields, source)


def _is_threaded(text: str) -> bool:
    return int(text) != 0
