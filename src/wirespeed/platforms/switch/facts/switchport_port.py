"""The model that the outputs of every kind of switch are read into."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from wirespeed.model.observed import Absent, Known, Observed, Unreadable
from wirespeed.model.switch_kind import same_port

G = 10**9
NAMED_BPS = {
    "gi": G, "te": 10 * G, "fo": 40 * G, "tw": 25 * G, "tf": 25 * G, "hu": 100 * G,
}  # fmt: skip
NOBODY = Absent("", "no neighbor")
APART = Absent("", "each kind of error has its own count")
BPS = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,3})?) ?(G|M)(?:b?(?:it)?(?:/s|ps)?)?", re.I)


@dataclass(frozen=True, slots=True)
class Neighbor:
    """What LLDP reports at a port of the port at the other end of its cable."""

    system: str
    """Empty where it tells none, as many hosts do that no agent runs on."""
    port: str
    """A name, or a MAC address."""
    port_text: str = ""
    """Its description; a Linux host gives its netdev."""


@dataclass(frozen=True, slots=True)
class SwitchPort:
    """One port of a switch."""

    name: str
    """As the switch calls it."""
    is_enabled: Observed[bool]
    is_up: Observed[bool]
    link_bps: Observed[int]
    """What the link runs at. Absent: it is down."""
    set_bps: Observed[int]
    """What the port is set to, where the kind shows that. Absent: whatever is negotiated."""
    autonegotiation: Observed[bool]
    fec: Observed[str]
    """As ethtool has it: `auto`, `off`, `rs`, `baser`."""
    mtu_bytes: Observed[int]
    """As the switch counts: most count the Ethernet header too, 9216 for 9000 of a host."""
    fcs_errors: Observed[int]
    runts: Observed[int]
    symbol_errors: Observed[int]
    input_errors: Observed[int]
    """Damaged frames of all kinds in one count. Absent: the kind counts them apart, as above."""
    neighbors: Observed[tuple[Neighbor, ...]]


Ports = Observed[tuple[SwitchPort, ...]]


def without_negotiation(port: SwitchPort) -> str:
    """Say why a port does not negotiate: where its kind shows no setting, that is not known."""
    if isinstance(port.set_bps, Unreadable):
        return "does not negotiate"
    at = f" to {port.set_bps.value / 1e9:g} Gb/s" if isinstance(port.set_bps, Known) else ""
    return f"is set by hand{at}"


def not_shown(command: str) -> Unreadable:
    """Give the placeholder for a value that this kind's commands do not show."""
    return Unreadable("what was asked of the switch does not show it", command)


def bps_of(text: str) -> int:
    """Read `10G`, `1000 Mb/s`, `10 Gb/s`, `10000 Mbit`. Raises ValueError."""
    match = BPS.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text[:40]!r} is not a speed of a link")
    return int(float(match[1]) * (G if match[2].upper() == "G" else 10**6))


def counted(text: object, source: str) -> Observed[int]:
    """Read a counter as JSON or text has it."""
    word = str(text)
    if isinstance(text, bool) or not re.fullmatch(r"[0-9]{1,20}", word):
        return Unreadable(f"{word[:40]!r} is not a count", source)
    return Known(int(word), source)


def chosen(text: object, words: dict[str, str], source: str) -> Observed[str]:
    """Give our word for the switch's; Unreadable for one that is not known."""
    word = str(text).strip().lower()
    if word in words:
        return Known(words[word], source)
    return Unreadable(f"{word[:40]!r} is not understood", source)


def on_off(text: object, source: str) -> Observed[bool]:
    """Read `on`, `off` and their like."""
    word = str(text).strip().lower()
    if word in ("on", "auto", "enabled", "success", "true"):
        return Known(True, source)
    if word in ("off", "disabled", "false"):
        return Known(False, source)
    return Unreadable(f"{word[:40]!r} is neither on nor off", source)


def with_neighbors(
    ports: Iterable[SwitchPort], heard: Observed[list[tuple[str, Neighbor]]]
) -> Iterator[SwitchPort]:
    """Add to each port what it hears."""
    for port in ports:
        if not isinstance(heard, Known):
            yield replace(port, neighbors=heard)
            continue
        mine = tuple(n for name, n in heard.value if same_port(name, port.name))
        none = Absent(heard.source, "no neighbor")
        yield replace(port, neighbors=Known(mine, heard.source) if mine else none)


def most_bps(name: str) -> int | None:
    """Give what a port can do by its name, as Dell's and others' names tell; None: it does not."""
    word = name.lower()
    return next((bps for start, bps in NAMED_BPS.items() if word.startswith(start)), None)
