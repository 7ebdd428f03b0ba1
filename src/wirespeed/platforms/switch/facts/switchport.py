"""A port of a switch as every kind's parser gives it, and the facts of all switches of a capture.

What the far end of a host's port is comes with `doctor HOST --far-end …`, or alone, as the capture
of a switch. Its sections, each with the switch's name as the subject:

    switch-kind              `dell_os6`
    switch-cable             `eth0 Te1/0/1`: what the user said is plugged in where
    switch-seconds           `60`: so much later the section with the counters was read again, as
                             switch-interfaces-again or switch-counters-again
    switch-status, switch-interfaces, switch-autoneg, switch-counters, switch-fec, switch-lldp
                             what its commands printed; COMMANDS has them by kind
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

from wirespeed.model.capture import Capture
from wirespeed.model.fact import Fact
from wirespeed.model.observed import Absent, CannotTellError, Observed, Unreadable, known
from wirespeed.model.switch_kind import PORT, SwitchKind, same_port
from wirespeed.platforms.switch.facts.switchport_json import eos, nxos
from wirespeed.platforms.switch.facts.switchport_linux import cumulus, sonic
from wirespeed.platforms.switch.facts.switchport_os6 import os6
from wirespeed.platforms.switch.facts.switchport_os10 import os9, os10
from wirespeed.platforms.switch.facts.switchport_port import Ports, SwitchPort

COMMANDS: dict[SwitchKind, dict[str, str]] = {
    SwitchKind.DELL_OS6: {
        "status": "show interfaces status",
        "lldp": "show lldp remote-device all",
    },
    SwitchKind.DELL_OS9: {"interfaces": "show interfaces", "lldp": "show lldp neighbors"},
    SwitchKind.DELL_OS10: {"interfaces": "show interface", "lldp": "show lldp neighbors"},
    SwitchKind.SONIC: {
        "status": "show interfaces status",
        "autoneg": "show interfaces autoneg status",
        "counters": "show interfaces counters",
        "lldp": "show lldp table",
    },
    SwitchKind.CUMULUS: {
        "interfaces": "nv show interface -o json",
        "lldp": "lldpcli show neighbors -f json",
    },
    SwitchKind.EOS: {
        "interfaces": "show interfaces | json",
        "fec": "show interfaces error-correction | json",
        "lldp": "show lldp neighbors detail | json",
    },
    SwitchKind.NXOS: {
        "interfaces": "show interface | json",
        "lldp": "show lldp neighbors detail | json",
    },
}
"""What is asked of a switch to read its ports, by the section that holds the answer."""
PARSERS: dict[SwitchKind, Callable[[dict[str, Observed[str]]], Ports]] = {
    SwitchKind.DELL_OS6: os6,
    SwitchKind.DELL_OS9: os9,
    SwitchKind.DELL_OS10: os10,
    SwitchKind.SONIC: sonic,
    SwitchKind.CUMULUS: cumulus,
    SwitchKind.EOS: eos,
    SwitchKind.NXOS: nxos,
}
COUNTED: dict[SwitchKind, str] = {
    kind: "counters" if kind is SwitchKind.SONIC else "interfaces"
    for kind in SwitchKind
    if kind is not SwitchKind.DELL_OS6
}
"""The section that has the counters of damaged frames; what OS6 prints has none."""
MAX_PORTS = 4096
MAX_CABLE = 512
CABLE = re.compile(rf"(?P<netdev>\S.*?) (?P<port>{PORT.pattern})")
"""Adapters of Windows have names with blanks in them."""


@dataclass(frozen=True, slots=True)
class Switch:
    """One switch."""

    kind: SwitchKind
    ports: Observed[tuple[SwitchPort, ...]]
    cables: tuple[tuple[str, str], ...]
    """Netdev of the host, or adapter of Windows, and port of the switch, as the user said."""

    later: Observed[tuple[SwitchPort, ...]] = field(default=Absent("", "read once"))
    """The same ports `seconds` later, for what is counted."""
    seconds: int = 0

    def port(self, name: str) -> SwitchPort:
        """Give one by any of its names. Raises CannotTellError."""
        for one in known(self.ports, "the ports of the switch"):
            if same_port(one.name, name):
                return one
        source = next(iter(COMMANDS[self.kind].values()))
        raise CannotTellError(f"the switch shows no port {name}", source)


@dataclass(frozen=True, slots=True)
class Switches(Fact):
    """All switches of a capture by their names; none in that of a host alone."""

    by_name: dict[str, Switch]

    script: ClassVar[str] = ""

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read each by its kind; one of an unknown kind is left out."""
        found = {}
        for name, section in capture.sections("switch-kind").items():
            kind = section.output.strip()
            if kind not in set(SwitchKind):
                continue
            found[name] = _switch(capture, name, SwitchKind(kind))
        return cls(found)


def _switch(capture: Capture, name: str, kind: SwitchKind) -> Switch:
    said = {key: capture.text(f"switch-{key}", line, name) for key, line in COMMANDS[kind].items()}
    cable = capture.section("switch-cable", name)
    lines = cable.output.splitlines() if cable is not None else []
    found = Switch(kind, _ports(kind, said), tuple(_cables(lines)))
    seconds = capture.section("switch-seconds", name)
    counted = COUNTED.get(kind, "")
    if seconds is None or not counted or not re.fullmatch(r"[0-9]{1,5}\s*", seconds.output):
        return found
    line = COMMANDS[kind][counted]
    again = {**said, counted: capture.text(f"switch-{counted}-again", line, name)}
    return replace(found, later=_ports(kind, again), seconds=int(seconds.output))


def _ports(kind: SwitchKind, said: dict[str, Observed[str]]) -> Observed[tuple[SwitchPort, ...]]:
    source = next(iter(COMMANDS[kind].values()))
    try:
        return PARSERS[kind](said)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        return Unreadable(f"it makes no sense: {str(error)[:80]}", source)


def _cables(lines: list[str]) -> Iterator[tuple[str, str]]:
    for line in lines[:MAX_PORTS]:
        if match := CABLE.fullmatch(line[:MAX_CABLE]):
            yield match["netdev"], match["port"]
