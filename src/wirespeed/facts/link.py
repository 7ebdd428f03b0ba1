"""The Ethernet link of every port: speed, modes of both ends, FEC, pause, and why it is down."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Self, TypeVar

from wirespeed.facts.ethtool import ethtool_answer
from wirespeed.facts.ports import Ports
from wirespeed.model.capture import Capture, Files
from wirespeed.model.fact import Fact, HostFacts
from wirespeed.model.observed import Absent, Known, Observed, Unreadable, known, read_as
from wirespeed.model.port import Port, PortKind
from wirespeed.model.rule import DoesNotApplyError

T = TypeVar("T")
ATTRIBUTES = ("carrier", "duplex", "flags", "speed")
IFF_UP = 0x1
DETECTED = re.compile(r"(yes|no)(?: \((.*)\))?")
MODE = re.compile(r"(\d{2,7})base[A-Z][A-Za-z0-9_]*(?:/(?:Half|Full))?")
"""`25000baseCR/Full`, `2500baseT/Full`, `100000baseLR4_ER4/Full`, `10000baseR_FEC`."""


@dataclass(frozen=True, slots=True)
class Modes:
    """What one side says that it can do. Names are ethtool's: `25000baseCR/Full`, `RS`."""

    modes: Observed[tuple[str, ...]]
    bps: Observed[tuple[int, ...]]
    """Speeds of those modes, lowest first; of modes whose name is not understood there is none."""
    fec: Observed[tuple[str, ...]]
    """Of our own side, ethtool prints as advertised what is supported."""


@dataclass(frozen=True, slots=True)
class Pause:
    """Flow control by pause frames (IEEE 802.3 annex 31B), as it is set."""

    autonegotiation: Observed[bool]
    receive: Observed[bool]
    """Pause frames of the peer are obeyed."""
    transmit: Observed[bool]


@dataclass(frozen=True, slots=True)
class Driver:
    """`ethtool -i`."""

    name: Observed[str]
    version: Observed[str]
    firmware_version: Observed[str]
    bus_info: Observed[str]


@dataclass(frozen=True, slots=True)
class Link:
    """The link of one netdev."""

    netdev: str
    is_enabled: Observed[bool]
    """Set up by the administrator (IFF_UP)."""
    is_up: Observed[bool]
    """A carrier is there."""
    down_reason: Observed[str]
    """The kernel's words: `No cable`, `Autoneg, No partner detected`. Absent where it has none."""
    link_bps: Observed[int]
    """Absent while it is down, and where the driver knows none, as virtio."""
    is_full_duplex: Observed[bool]
    port_type: Observed[str]
    """`FIBRE`, `Direct Attach Copper`, `Twisted Pair`, …"""
    autonegotiation: Observed[bool]
    supported: Modes
    advertised: Modes
    partner: Modes
    """Absent where the peer told nothing: it is forced, or the driver does not pass it on."""
    partner_autonegotiation: Observed[bool]
    fec_configured: Observed[tuple[str, ...]]
    """`Auto`, `Off`, `RS`, `BaseR`, `LLRS`. Some drivers give what is supported instead."""
    fec_active: Observed[tuple[str, ...]]
    """As above; `Off` or `None` for none."""
    pause: Pause
    driver: Driver

    @property
    def supported_bps(self) -> Observed[tuple[int, ...]]:
        """Every speed that the port can do, lowest first."""
        return self.supported.bps


@dataclass(frozen=True, slots=True)
class Links(Fact):
    """The link of every port that has a netdev."""

    by_netdev: dict[str, Link]

    # Text, not --json: it is the same in every version and never translated, while the JSON of
    # `ethtool DEV` came with 6.10 and has `auto-negotiation` inverted there.
    script: ClassVar[str] = """\
link_files() {
	for netdev in $port_netdevs; do
		for attribute in ATTRIBUTES; do
			printf '%s\\0' "/sys/class/net/$netdev/$attribute"
		done
	done
}
link_files | files link -

for netdev in $port_netdevs; do
	run ethtool "$netdev" ethtool "$netdev"
	run ethtool-a "$netdev" ethtool -a "$netdev"
	run ethtool-fec "$netdev" ethtool --show-fec "$netdev"
	run ethtool-i "$netdev" ethtool -i "$netdev"
done
""".replace("ATTRIBUTES", " ".join(ATTRIBUTES))

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read `ethtool DEV` and its kin, and sysfs for what it has without ethtool."""
        files = capture.files("link", ATTRIBUTES)
        return cls(
            {
                port.netdev: _link(capture, files, port.netdev)
                for port in Ports.parse(capture).ports
                if port.netdev
            }
        )


class _Lines:
    """`Name: value` lines of a tool, with what hangs below a value taken to it."""

    def __init__(self, text: Observed[str]) -> None:
        self._text = text
        self._values: dict[str, str] = {}
        name = ""
        for line in text.value.splitlines() if isinstance(text, Known) else ():
            before, colon, after = line.partition(":")
            if colon:
                name = before.strip()
                self._values[name] = after.strip()
            elif name and line.strip():
                self._values[name] += " " + line.strip()

    def __getitem__(self, name: str) -> Observed[str]:
        """Give a value; Absent where the tool has no such line, or nothing in it."""
        if not isinstance(self._text, Known):
            return self._text
        value = self._values.get(name)
        if value is None:
            return Absent(self._text.source, f"no line `{name}:`")
        if value in ("", "Not reported") or value.startswith("Unknown!"):
            return Absent(self._text.source, f"`{name}: {value}`")
        return Known(value, self._text.source)


def _link(capture: Capture, files: Files, netdev: str) -> Link:
    def lines(name: str, option: str) -> _Lines:
        return _Lines(ethtool_answer(capture, name, netdev, option))

    def sysfs(attribute: str) -> Observed[str]:
        return files[f"/sys/class/net/{netdev}/{attribute}"]

    settings = _Lines(capture.text("ethtool", f"ethtool {netdev}", netdev))
    pause = lines("ethtool-a", "-a")
    fec = lines("ethtool-fec", "--show-fec")
    driver = lines("ethtool-i", "-i")
    detected = settings["Link detected"]
    return Link(
        netdev=netdev,
        is_enabled=read_as(sysfs("flags"), lambda flags: bool(int(flags, 16) & IFF_UP)),
        is_up=_better(read_as(detected, _is_up), _carrier(sysfs("carrier"))),
        down_reason=_down_reason(detected),
        link_bps=_better(read_as(settings["Speed"], _bps), _sysfs_bps(sysfs("speed"))),
        is_full_duplex=_better(
            read_as(settings["Duplex"], _is_full), _sysfs_duplex(sysfs("duplex"))
        ),
        port_type=settings["Port"],
        autonegotiation=read_as(settings["Auto-negotiation"], _switch),
        supported=_modes(settings, "Supported"),
        advertised=_modes(settings, "Advertised"),
        partner=_modes(settings, "Link partner advertised"),
        partner_autonegotiation=read_as(
            settings["Link partner advertised auto-negotiation"], _switch
        ),
        # Called so since ethtool 6.0; `Configured FEC encodings` before.
        fec_configured=_words(
            _better(fec["Supported/Configured FEC encodings"], fec["Configured FEC encodings"])
        ),
        fec_active=_words(_better(fec["Active FEC encoding"], fec["Active FEC encodings"])),
        pause=Pause(
            autonegotiation=read_as(pause["Autonegotiate"], _switch),
            receive=read_as(pause["RX"], _switch),
            transmit=read_as(pause["TX"], _switch),
        ),
        driver=Driver(
            name=driver["driver"],
            version=driver["version"],
            firmware_version=driver["firmware-version"],
            bus_info=driver["bus-info"],
        ),
    )


def _better(first: Observed[T], second: Observed[T]) -> Observed[T]:
    """Give what is known; else what is said to be absent rather than what could not be read."""
    for kind in (Known, Absent):
        for observed in (first, second):
            if isinstance(observed, kind):
                return observed
    return first


def _modes(settings: _Lines, whose: str) -> Modes:
    modes = _words(settings[f"{whose} link modes"])
    return Modes(modes, read_as(modes, modes_bps), _words(settings[f"{whose} FEC modes"]))


def _words(text: Observed[str]) -> Observed[tuple[str, ...]]:
    return read_as(text, lambda value: tuple(value.split()))


def _switch(text: str) -> bool:
    if text.lower() in ("on", "yes"):
        return True
    if text.lower() in ("off", "no"):
        return False
    raise ValueError(repr(text))


def _is_up(text: str) -> bool:
    match = DETECTED.fullmatch(text)
    if match is None:
        raise ValueError(repr(text))
    return match[1] == "yes"


def _down_reason(detected: Observed[str]) -> Observed[str]:
    if not isinstance(detected, Known):
        return detected
    match = DETECTED.fullmatch(detected.value)
    if match is None or match[2] is None:
        return Absent(detected.source, "the driver gives no reason")
    return Known(match[2], detected.source)


def _bps(text: str) -> int:
    match = re.fullmatch(r"(\d{1,7})Mb/s", text)
    if match is None:
        raise ValueError(repr(text))
    return int(match[1]) * 10**6


def _is_full(text: str) -> bool:
    words = {"full": True, "half": False}
    if text.lower() not in words:
        raise ValueError(repr(text))
    return words[text.lower()]


def _carrier(text: Observed[str]) -> Observed[bool]:
    """Reading it of a port that is set down fails: `Invalid argument`."""
    if isinstance(text, Unreadable) and "Invalid argument" in text.reason:
        return Known(False, text.source)
    return read_as(text, lambda value: _switch({"0": "off", "1": "on"}.get(value, value)))


def _sysfs_bps(text: Observed[str]) -> Observed[int]:
    """Mb/s; -1 where the driver knows none, an error while the port is set down."""
    if isinstance(text, Unreadable) and "Invalid argument" in text.reason:
        return Absent(text.source, "the port is down")
    if isinstance(text, Known) and text.value in ("-1", "0", "65535", "4294967295"):
        return Absent(text.source, f"the driver knows no speed ({text.value})")
    return read_as(text, lambda value: _bps(f"{value}Mb/s"))


def _sysfs_duplex(text: Observed[str]) -> Observed[bool]:
    if isinstance(text, Unreadable) and "Invalid argument" in text.reason:
        return Absent(text.source, "the port is down")
    if isinstance(text, Known) and text.value == "unknown":
        return Absent(text.source, "the driver knows no duplex")
    return read_as(text, _is_full)


def mode_bps(mode: str) -> int | None:
    """Speed of a mode: its number is in Mb/s. None for a name that is no mode."""
    match = MODE.fullmatch(mode)
    return int(match[1]) * 10**6 if match else None


def modes_bps(modes: Iterable[str]) -> tuple[int, ...]:
    """Every speed that a list of modes holds, lowest first; unknown names have none."""
    return tuple(sorted({bps for mode in modes if (bps := mode_bps(mode)) is not None}))


def link_of(host: HostFacts, port: Port) -> Link:
    """Give the link of a port. Raises DoesNotApplyError where none can be looked at."""
    if port.netdev is None:
        raise DoesNotApplyError(f"it has no netdev: the driver is {port.driver or 'none'}")
    if port.kind in (PortKind.VIRTIO, PortKind.HYPERV):
        raise DoesNotApplyError("a virtual card has no link of its own")
    return host[Links].by_netdev[port.netdev]


def link_that_is_up(host: HostFacts, port: Port) -> Link:
    """Give the link of a port. Raises DoesNotApplyError likewise, and where it is down."""
    link = link_of(host, port)
    if not known(link.is_up, f"whether {port.name} has a carrier"):
        raise DoesNotApplyError("the link is down")
    return link


def best_bps(host: HostFacts, ports: Iterable[Port]) -> Known[int] | None:
    """Give the speed of the fastest of these links; where none has a link, what they support.

    None: neither is known.
    """
    links = [link for p in ports if (link := host[Links].by_netdev.get(p.netdev or ""))]
    rates_bps = [bps for link in links if isinstance(bps := link.link_bps, Known)]
    modes = [m for link in links if isinstance(m := link.supported_bps, Known) and m.value]
    rates_bps = rates_bps or [Known(m.value[-1], m.source) for m in modes]
    return max(rates_bps, key=lambda bps: bps.value, default=None)
