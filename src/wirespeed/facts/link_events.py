"""When links of this host's ports went down, as the kernel's log has it, by the time of day."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.facts.ports import Ports
from wirespeed.model.capture import Capture
from wirespeed.model.fact import Fact
from wirespeed.model.observed import CannotTellError, Known, Observed, read_as

DOWN = r"[Ll]ink \(is \)\{0,1\}[Dd]own"
"""`Link down` (mlx5), `Link Down` (mlx4), `link down` (sfc, cxgb4), `NIC Link is Down` (Intel's,
bnxt, bnx2x, nfp), `Link is down` (tg3, qede), `Link is Down` (the kernel's phylink and phylib)."""
MOST = 200
"""Lines that the collector prints, the newest."""
STARTING_S = 180.0
"""After the kernel's start: links come up, and are set up anew, on every host."""
DRIFT = 1e-4
"""Of the age of a message: the log's own clock is not disciplined, as the time of day is. The
crystal of a PC is good to 50 ppm or so."""
WORD = re.compile(r"[^\s:()]+")


@dataclass(frozen=True, slots=True)
class LinkDown:
    """A link went down once."""

    netdev: str
    at: float
    """Seconds since 1970, by this host's clock."""
    within_s: float
    """So far it may have been before or after."""


@dataclass(frozen=True, slots=True)
class LinkLog:
    """What the log still has."""

    downs: tuple[LinkDown, ...]
    """In their order, each second of a netdev once; without those while the host started."""
    seconds: float
    """Time before the reading that the log covers."""


@dataclass(frozen=True, slots=True)
class LinkEvents(Fact):
    """From the journal, which has the time of day; where there is none, from the kernel's ring."""

    log: Observed[LinkLog]

    script: ClassVar[str] = rf"""link_messages() {{
	read -r uptime idle </proc/uptime
	while read -r key value rest; do
		[ "$key" != btime ] || printf 'clock %s %s\n' "$value" "$uptime"
	done </proc/stat
	found=
	if [ -d /run/log/journal ] || [ -d /var/log/journal ]; then
		found=$($limit journalctl -k -q --no-pager -o short-unix 2>/dev/null |
			sed -n -e '1s/^\([0-9.]*\) .*/since \1/p' \
				-e 's/^\([0-9.]*\) [^ ]* kernel: \(.*{DOWN}.*\)/at \1 \2/p')
	fi
	if [ -z "$found" ]; then
		found=$($limit dmesg) || return
		found=$(printf '%s\n' "$found" |
			sed -n -e '1s/^\(\[ *[0-9.]*\]\) .*/since \1/p' -e '/{DOWN}/p')
	fi
	printf '%s\n' "$found" | head -n 1
	printf '%s\n' "$found" | sed 1d | tail -n {MOST}
}}
show link-messages - link_messages
"""

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read the clocks, and a message a line that names a port's netdev."""
        try:
            netdevs = frozenset(p.netdev for p in Ports.parse(capture).ports if p.netdev)
        except CannotTellError:
            netdevs = frozenset()
        text = capture.text("link-messages", "journalctl -k -o short-unix; dmesg")
        return cls(read_as(text, lambda said: _log(said, netdevs)))

    @property
    def known(self) -> LinkLog | None:
        """The log where it could be read, else None."""
        return self.log.value if isinstance(self.log, Known) else None


def _log(text: str, netdevs: frozenset[str]) -> LinkLog:
    first, _, rest = text.partition("\n")
    clock = re.fullmatch(r"clock (\d{1,12}) (\d{1,12}(?:\.\d{1,9})?)", first.strip())
    if clock is None:
        raise ValueError(f"{first[:40]!r} is not the clock")
    # The kernel cuts the second of its start off (proc(5), btime).
    uptime = float(clock[2])
    now = float(clock[1]) + 0.5 + uptime
    lines = rest.splitlines()
    found: dict[tuple[str, int], LinkDown] = {}
    times = [at for at, _, _ in _messages(lines[:1], now, uptime)]
    for at, within_s, message in _messages(lines[1:], now, uptime):
        times.append(at)
        if at < now - uptime + STARTING_S:
            continue
        for netdev in netdevs.intersection(WORD.findall(message)):
            found.setdefault((netdev, int(at)), LinkDown(netdev, at, within_s))
    # The log begins there; of many messages only the newest came.
    since = times[1] if len(lines) > MOST else min(times, default=now)
    downs = sorted(found.values(), key=lambda one: (one.at, one.netdev))
    return LinkLog(tuple(downs), max(now - since, 1.0))


def _messages(lines: list[str], now: float, uptime: float) -> Iterator[tuple[float, float, str]]:
    for line in lines:
        if match := re.match(r"(?:at|since) (\d{1,12}\.\d{1,9})(.*)", line):
            yield float(match[1]), 0.5, match[2]
        elif match := re.match(r"(?:since )?\[ *(\d{1,12}\.\d{1,9})\](.*)", line):
            age = max(0.0, uptime - float(match[1]))
            # The start is known to the second.
            yield now - age, 0.5 + DRIFT * age, match[2]
