"""What the kernel said when it refused a network card, or a part of one."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.facts.module import (
    COMPLAINTS,
    DRIVERS_TOO,
    LAG_WORDS,
    REFUSALS,
    RESETS,
    RESETS_TOO,
    TABLES,
    VF_REFUSALS,
    VFS_TOO,
    log_of,
)
from wirespeed.facts.ports import Ports
from wirespeed.model.capture import Capture
from wirespeed.model.fact import Fact
from wirespeed.model.observed import Absent, Known, Observed, Unreadable, known
from wirespeed.model.port import Port

VF_BARS = re.compile(
    r"BAR (?:[7-9]|1[0-2])\b|\bVF BAR\b|not enough MMIO resources for SR-IOV|VFs \(bus"
)
"""BARs 7 to 12 are those of the VFs (drivers/pci/pci.h, PCI_IOV_RESOURCES)."""
HARMLESS = re.compile(r"\bBAR 6\b|\[io\b")
"""BAR 6 is the option ROM, which nothing reads after the BIOS; no card of today needs I/O ports."""
REFUSAL = re.compile("|".join(REFUSALS))
RESET = re.compile("|".join(RESETS))
VF_REFUSAL = re.compile("|".join(VF_REFUSALS))
TABLE_NAMES = ("nf_conntrack", "neighbour")
LAG = re.compile("|".join(LAG_WORDS))
LAG_FAILED = re.compile(LAG_WORDS[1])
PACKAGE_LOADED = re.compile(r"DDP package.*(?:successfully loaded|already present)")
PACKAGE = re.compile(r"[Ss]afe [Mm]ode|DDP package")
"""What ice says of its package before it has it, or has it again, is of the past."""
BAR_ASSIGNED = re.compile(r": ((?:VF )?BAR \d+)(?: \[[^]]*\])?: (?:re)?assigned\b")
"""The kernel tries again with what found no room at first: pci_assign_unassigned_root_bus_resources
of drivers/pci/setup-bus.c."""
MODULE_REFUSED = re.compile(COMPLAINTS[1])
"""Of a port without a driver: with the module in it, the driver does not start the function."""
BUS_ERROR = re.compile(
    r"([0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f]): (?:AER: )?PCIe Bus Error: "
    r"severity=([A-Z][a-z]+(?: \([A-Za-z-]+\))?), type=([A-Z][A-Za-z ]{3,40}),"
)
CHANGING = re.compile(r"^\[[ \d.]+\] ?|\(pid \d+\)")
MOST_SHOWN = 4
LONGEST = 240


@dataclass(frozen=True, slots=True)
class DriverLog(Fact):
    """Refusals by the PCI address of the function that they are about, the newest last."""

    refusals: dict[str, tuple[str, ...]]
    vf_refusals: dict[str, tuple[str, ...]]
    """What the driver of a PF refused to its VFs, by the PF's address."""
    resets: dict[str, tuple[str, ...]]
    """Messages that a card was stopped, reset or lacks power, each as often as it came."""
    lag: dict[str, tuple[str, ...]]
    """What mlx5 said of hardware LAG, by the address of the card's first port; each word once."""
    bus_errors: dict[str, dict[tuple[str, str], int]]
    """By the address of a function or bridge: severity and layer of each PCI Express error that
    the kernel reported, and how often, of the last 50."""
    tables: dict[str, int]
    """How often the kernel said of a table of its own that it is full and packets are dropped, of
    the last 50: `nf_conntrack`, `neighbour`."""
    log: Observed[str]
    """Known when the kernel's messages could be read; those at boot may be gone from them."""
    vf_log: Observed[str]
    """The same, of a collector that reads what is about VFs."""
    reset_log: Observed[str]
    """The same, of a collector that reads what is about resets."""

    script: ClassVar[str] = ""
    """The lines come with those about modules: the messages are read once."""

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read the section `module-messages` once more, for what is about drivers."""
        ports = Ports.parse(capture).ports
        log = _since(log_of(capture), DRIVERS_TOO, "modules alone")
        vf_log = _since(log, VFS_TOO, "cards alone")
        addresses = {p.pci_address for p in ports if p.pci_address}
        bare = {p.pci_address for p in ports if p.pci_address and p.driver is None}
        lines = log.value.splitlines() if isinstance(log, Known) else []
        return cls(
            refusals=_by_address((line for line in lines if _refuses(line, bare)), addresses),
            resets=_each(filter(RESET.search, lines), ports),
            reset_log=_since(vf_log, RESETS_TOO, "refusals alone"),
            vf_refusals=_by_address(filter(VF_REFUSAL.search, lines), addresses),
            bus_errors=_bus_errors(lines),
            tables={
                name: count
                for name, pattern in zip(TABLE_NAMES, TABLES, strict=True)
                if (count := sum(bool(re.search(pattern, line)) for line in lines))
            },
            lag=_by_address(filter(LAG.search, lines), addresses),
            log=log,
            vf_log=vf_log,
        )

    def of(self, port: Port) -> Observed[tuple[str, ...]]:
        """Give the refusals of one port; Absent: the kernel logged none."""
        return _last(_found(self.refusals, port, self.log))

    def of_vfs(self, port: Port) -> Observed[tuple[str, ...]]:
        """Give what the port's driver refused to its VFs; Absent: nothing."""
        return _last(_found(self.vf_refusals, port, self.vf_log))

    def resets_of(self, port: Port) -> Observed[tuple[str, ...]]:
        """Give what the driver said of stops and resets of a port; Absent: nothing."""
        return _found(self.resets, port, self.reset_log)

    def warnings_of(self, port: Port, pattern: re.Pattern[str]) -> tuple[str, ...]:
        """Give those of these lines that have a pattern. Raises CannotTellError."""
        said = self.resets_of(port)
        lines = () if isinstance(said, Absent) else known(said, "what drivers said")
        return tuple(line for line in lines if pattern.search(line))

    def is_lag_active(self, addresses: Iterable[str]) -> Known[bool] | None:
        """Whether the last attempt to make ports one succeeded; None: the log tells of none.

        The driver says which port carries what before it asks the firmware, and then only if that
        failed.
        """
        said = [line for address in addresses for line in self.lag.get(address, ())]
        return Known(not LAG_FAILED.search(said[-1]), "dmesg") if said else None

    def has_no_room_for_vfs(self, address: str) -> bool:
        """Whether the kernel found no room for the BARs of a function's VFs."""
        return any(VF_BARS.search(line) for line in self.refusals.get(address, ()))


def _bus_errors(lines: Iterable[str]) -> dict[str, dict[tuple[str, str], int]]:
    found: dict[str, dict[tuple[str, str], int]] = {}
    for match in filter(None, map(BUS_ERROR.search, lines)):
        counts = found.setdefault(match[1], {})
        counts[match[2], match[3]] = counts.get((match[2], match[3]), 0) + 1
    return found


def _since(log: Observed[str], mark: str, about: str) -> Observed[str]:
    if isinstance(log, Known) and mark not in log.value.splitlines():
        return Unreadable(f"a former version of the collector read it for {about}", log.source)
    return log


def _found(
    by_address: dict[str, tuple[str, ...]], port: Port, log: Observed[str]
) -> Observed[tuple[str, ...]]:
    found = by_address.get(port.pci_address or "")
    if found:
        return Known(found, "dmesg")
    return log if isinstance(log, Unreadable) else Absent("dmesg", "no refusal")


def _last(messages: Observed[tuple[str, ...]]) -> Observed[tuple[str, ...]]:
    if not isinstance(messages, Known):
        return messages
    return Known(messages.value[-MOST_SHOWN:], messages.source)


def _each(lines: Iterable[str], ports: Iterable[Port]) -> dict[str, tuple[str, ...]]:
    """Give each address its messages, by the address or the netdev that they name."""
    address_of = {
        name: port.pci_address
        for port in ports
        if port.pci_address
        for name in (port.pci_address, port.netdev)
        if name
    }
    found: dict[str, list[str]] = {}
    for line in lines:
        for address in dict.fromkeys(address_of[name] for name in _names(line, address_of)):
            found.setdefault(address, []).append(_message(line))
    return {address: tuple(messages) for address, messages in found.items()}


def _refuses(line: str, bare: Iterable[str]) -> bool:
    if MODULE_REFUSED.search(line):
        return bool(_names(line, bare))
    return bool(REFUSAL.search(line)) and not HARMLESS.search(line)


def _names(line: str, addresses: Iterable[str]) -> list[str]:
    return [a for a in addresses if re.search(rf"\b{re.escape(a)}\b", line)]


def _by_address(lines: Iterable[str], addresses: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Give each address its messages; what differs by time and process alone is said once."""
    found: dict[str, dict[str, str]] = {}
    for line in lines:
        for address in _names(line, addresses):
            if past := _past(line):
                before = found.get(address, {})
                found[address] = {k: v for k, v in before.items() if not past.search(k)}
                continue
            messages = found.setdefault(address, {})
            # The newest stands last, also where it was said before.
            messages.pop(CHANGING.sub("", line), None)
            messages[CHANGING.sub("", line)] = _message(line)
    return {address: tuple(messages.values()) for address, messages in found.items() if messages}


def _past(line: str) -> re.Pattern[str] | None:
    """Give what finds the earlier messages that a line makes void; None: it is no such line."""
    if PACKAGE_LOADED.search(line):
        return PACKAGE
    placed = BAR_ASSIGNED.search(line)
    return re.compile(rf": {placed[1]}\b") if placed else None


def _message(line: str) -> str:
    """Give a line without its time; one that is too long, up to its last whole word."""
    text = re.sub(r"^\[[ \d.]+\] ?", "", line).strip()
    return text if len(text) <= LONGEST else f"{text[:LONGEST].rpartition(' ')[0]} …"
