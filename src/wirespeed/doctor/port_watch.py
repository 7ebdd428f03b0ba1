"""Ports watched: what two readings of a host's counters say of each. Pure.

The counters are the kernel's, of /sys/class/net/NETDEV/statistics: bytes without FCS, as the driver
counts them (https://docs.kernel.org/networking/statistics.html).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from wirespeed.model.ceiling import Direction, Ledger
from wirespeed.model.units import load_bps_l1

FCS_BYTES = 4
NEAR = 0.9
"""Share of a ceiling from which its element is said to limit the port."""
DROPS = (
    "rx_missed_errors", "rx_fifo_errors", "rx_over_errors", "rx_crc_errors", "rx_dropped",
    "rx_errors", "tx_fifo_errors", "tx_dropped", "tx_errors",
)  # fmt: skip
"""The more exact before those that may count the same frame."""
UNHANDLED = "rx_dropped"
"""Beside frames for which there was no room, it counts those of a protocol that nothing here takes:
STP, LLDP, a foreign VLAN (https://docs.kernel.org/networking/statistics.html; Red Hat solution
657483)."""
UNHANDLED_PER_S, UNHANDLED_SHARE = 100, 0.001
"""Below either, `UNHANDLED` is taken as such frames, and limits nothing."""
COUNTS = ("rx_bytes", "tx_bytes", "rx_packets", "tx_packets", *DROPS)
STATES = {"operstate": "link", "speed": "speed", "mtu": "MTU"}
"""Files whose change is told, and the name that it is told by."""
ASKS = "cat /proc/net/dev >/dev/null; sleep 0.1"
"""An mlx5 gives what the reading before made the driver ask the card for, in the background
(mlx5e_get_stats() in en_main.c): what it gives else may be of hours ago."""
SCRIPT = f"""\
{ASKS}
[ $# -gt 0 ] || for folder in /sys/class/net/*/device; do
	[ -e "$folder" ] || continue
	netdev=${{folder%/device}}
	set -- "$@" "${{netdev##*/}}"
done
for netdev; do
	folder=/sys/class/net/$netdev
	[ -d "$folder" ] || continue
	read -r uptime idle </proc/uptime
	printf 'netdev %s\\nuptime %s\\n' "$netdev" "$uptime"
	for name in {" ".join(COUNTS)}; do
		{{ read -r value <"$folder/statistics/$name"; }} 2>/dev/null &&
			printf '%s %s\\n' "$name" "$value"
	done
	for name in {" ".join(STATES)} carrier_changes; do
		{{ read -r value <"$folder/$name"; }} 2>/dev/null && printf '%s %s\\n' "$name" "$value"
	done
done
:
"""
"""POSIX shell; its arguments are netdevs, none for every one that has a device."""
LINE = re.compile(r"([a-z_]+) (\S{1,40})", re.A)


@dataclass(frozen=True, slots=True)
class Standing:
    """One port at one moment."""

    uptime_s: float
    counts: Mapping[str, int]
    states: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Flow:
    """What one direction of a port carried between two readings."""

    bps_l1: float
    share: float | None
    """Of the ceiling; None where no ceiling is known."""
    element: str
    """What bounds the direction; empty where no ceiling is known."""


@dataclass(frozen=True, slots=True)
class Watched:
    """One port between two readings."""

    receive: Flow
    transmit: Flow
    limited_by: str
    """A drop counter that rose, an element that is near its ceiling, or that there is none."""
    changes: tuple[str, ...]
    """What is not as it was in the reading before."""


def parse_standings(text: str) -> dict[str, Standing]:
    """Read what `SCRIPT` printed; a port without a time is left out."""
    found: dict[str, Standing] = {}
    for block in re.split(r"^netdev ", text, flags=re.M)[1:]:
        netdev, _, rest = block.partition("\n")
        values = {match[1]: match[2] for match in map(LINE.fullmatch, rest.split("\n")) if match}
        counts = {
            name: int(values[name])
            for name in (*COUNTS, "carrier_changes")
            if values.get(name, "").isdecimal() and values[name].isascii()
        }
        if re.fullmatch(r"\d+\.\d+", values.get("uptime", ""), re.A):
            states = {name: values[name] for name in STATES if name in values}
            found[netdev] = Standing(float(values["uptime"]), counts, states)
    return found


def watched(before: Standing, after: Standing, ledger: Ledger | None) -> Watched | None:
    """Say what a port did between two readings; None: no time passed, or a counter is missing."""
    seconds = after.uptime_s - before.uptime_s
    if seconds <= 0:
        return None
    rises = {
        name: after.counts[name] - before.counts[name]
        for name in after.counts
        if name in before.counts
    }
    receive = _flow(rises, "rx", seconds, ledger, Direction.RECEIVE)
    transmit = _flow(rises, "tx", seconds, ledger, Direction.TRANSMIT)
    if receive is None or transmit is None:
        return None
    changes = tuple(_changes(before, after, rises.get("carrier_changes", 0)))
    return Watched(receive, transmit, _limit(after, rises, seconds, receive, transmit), changes)


def _flow(
    rises: Mapping[str, int], way: str, seconds: float, ledger: Ledger | None, direction: Direction
) -> Flow | None:
    count, frames = rises.get(f"{way}_bytes"), rises.get(f"{way}_packets")
    # A driver that was loaded again counts from 0.
    if count is None or frames is None or count < 0 or frames < 0:
        return None
    mean = count / frames + FCS_BYTES if frames else 0.0
    bps_l1 = load_bps_l1(frames / seconds, mean)
    bound = None if ledger is None else ledger.bound(direction)
    if bound is None or bound.load_bps_l1.low <= 0:
        return Flow(bps_l1, None, "")
    return Flow(bps_l1, bps_l1 / bound.load_bps_l1.low, bound.element)


def _limit(
    after: Standing, rises: Mapping[str, int], seconds: float, receive: Flow, transmit: Flow
) -> str:
    if after.states.get("operstate") in ("down", "lowerlayerdown"):
        return "link down"
    for name in DROPS:
        if rises.get(name, 0) > 0 and not _is_chatter(name, rises, seconds):
            return f"{name} {rises[name] / seconds:.3g}/s"
    near = [flow for flow in (receive, transmit) if flow.share is not None and flow.share >= NEAR]
    if near:
        return max(near, key=lambda flow: flow.share or 0.0).element
    if receive.share is None and transmit.share is None:
        return "ceiling not known"
    return "the traffic"


def _is_chatter(name: str, rises: Mapping[str, int], seconds: float) -> bool:
    """Whether a counter rose by no more than what a network sends to everybody."""
    return name == UNHANDLED and (
        rises[name] < UNHANDLED_PER_S * seconds
        or rises[name] < UNHANDLED_SHARE * rises.get("rx_packets", 0)
    )


def _changes(before: Standing, after: Standing, flaps: int) -> list[str]:
    found = [
        f"{said} {before.states[name]} -> {after.states[name]}"
        for name, said in STATES.items()
        if name in before.states and name in after.states
        and before.states[name] != after.states[name]
    ]  # fmt: skip
    if flaps > 1:
        # More than one change of state within a reading shows in no state.
        found.append(f"link changed {flaps} times")
    return found
