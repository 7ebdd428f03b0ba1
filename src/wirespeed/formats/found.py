"""What the files of another tool want of one host, gathered while they are read; or an error.

All that a file says is a setting of a port, or a line of what a spec cannot say. What its tool does
not know is an error that names the file, the place in it, what was found and what is expected.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Never

from wirespeed.facts.sriov import MAX_VFS
from wirespeed.formats.wanted import Key, Setting, Value, WantedPort
from wirespeed.model.error import InputError
from wirespeed.model.shown import shown

FLAGS = {"true": True, "yes": True, "on": True, "1": True}
FLAGS |= {"false": False, "no": False, "off": False, "0": False}
NUMBERS = {Key.MTU, Key.RX_RING, Key.TX_RING, Key.CHANNELS, Key.VFS, Key.VLAN, Key.MIN_RATE}
NUMBERS |= {Key.MAX_RATE, Key.REPRESENTOR_MTU, Key.TAG, Key.TAG_MTU}
TEXTS = {Key.ADDRESS, Key.MAC, Key.DRIVER, Key.ESWITCH, Key.BRIDGE, Key.TAG_NETDEV}
TEXTS |= {Key.TAG_ADDRESS}
MAX_NUMBER = 0xFFFF_FFFF
"""No setting of a netdev is longer than 32 bits."""
MOST = 120
"""Characters of a value in a line."""
SECRET = re.compile(r"passw|secret|psk|private|token|credential|auth|(^|[-_])keys?$", re.I)
"""Names of fields whose values are shown nowhere."""
HIDDEN = "(a secret)"


@dataclass(frozen=True, slots=True)
class Source:
    """One document of a file: plain data of YAML, or the text of a unit."""

    where: str
    data: Any

    def refuse(self, path: str, found: object, expected: str) -> Never:
        """Raise InputError `formats.invalid`."""
        raise InputError(
            "formats.invalid",
            where=shown(self.where),
            found=f"{shown(path)}: found {value_words(_kept(path, found))}; expected {expected}",
            so="no spec was made",
            next="correct the file, or take this part out of it",
        )

    def fields(self, path: str, value: Any) -> dict[str, Any]:
        """Give fields by their names."""
        if not isinstance(value, dict):
            self.refuse(path, value, "fields")
        return value

    def items(self, path: str, value: Any) -> list[Any]:
        """Give a list."""
        if not isinstance(value, list):
            self.refuse(path, value, "a list")
        return value

    def known(self, path: str, value: Any, names: Iterable[str]) -> dict[str, Any]:
        """Give fields, none of which is other than `names`."""
        fields = self.fields(path, value)
        for name in fields:
            if name not in set(names):
                self.refuse(f"{path}.{name}", fields[name], f"one of {', '.join(sorted(names))}")
        return fields

    def value(self, path: str, key: Key, value: Any) -> Value:
        """Give the value of a setting, as its kind asks for."""
        if key in TEXTS:
            return value if isinstance(value, str) else self.refuse(path, value, "text")
        if key in NUMBERS:
            text = str(value)
            is_number = not isinstance(value, bool | float) and text.isascii() and text.isdecimal()
            most = MAX_VFS if key is Key.VFS else MAX_NUMBER
            if is_number and len(text.lstrip("0")) <= len(str(most)) and int(text) <= most:
                return int(text)
            kind = f"a whole number of at most {most}" if is_number else "a whole number"
            why = " (TotalVFs has 16 bits in PCI Express)" if is_number and most == MAX_VFS else ""
            return self.refuse(path, value, kind + why)
        flag = FLAGS.get(str(value).lower())
        return self.refuse(path, value, "yes or no") if flag is None else flag


@dataclass(slots=True)
class Found:
    """What is wanted of one host, as far as it was read."""

    name: str
    ports: Sequence[WantedPort]
    """All that the host has."""
    hosts: Sequence[str]
    """Every host that is asked for."""
    settings: dict[tuple[WantedPort, Key, int | None], Setting] = field(default_factory=dict)
    others: list[str] = field(default_factory=list)
    """What a spec cannot say."""
    notes: list[str] = field(default_factory=list)
    netdevs: set[tuple[WantedPort, int]] = field(default_factory=set)
    """VFs that the host's own driver has."""
    _by_netdev: dict[str, WantedPort] = field(init=False, repr=False)
    _by_address: dict[str, WantedPort] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Find a port by either name at once: a file may name each of many thousand times."""
        self._by_netdev = {port.netdev: port for port in reversed(self.ports)}
        self._by_address = {port.pci_address: port for port in reversed(self.ports)}

    def set(
        self, source: Source, path: str, port: WantedPort, key: Key, value: Any, vf: int | None
    ) -> None:
        """Take a setting; if it is given twice, both must be the same."""
        one = Setting(port, key, source.value(path, key, value), vf)
        before = self.settings.setdefault((port, key, vf), one)
        if before != one:
            source.refuse(path, value, f"{before.value}, given elsewhere for the same port")

    def take(
        self, source: Source, path: str, fields: Mapping[str, Any], keys: Mapping[Key, str],
        port: WantedPort, vf: int | None = None,
    ) -> None:  # fmt: skip
        """Take the settings among fields; the others are what a spec cannot say."""
        names = {name: key for key, name in keys.items()}
        for name, value in fields.items():
            if name in names:
                self.set(source, f"{path}.{name}", port, names[name], value, vf)
            else:
                self.unsaid(source, f"{path}.{name}", value)

    def unsaid(self, source: Source, path: str, value: object) -> None:
        """List what a spec cannot say."""
        self.others.append(
            f"{shown(source.where)}: {shown(path)}: {value_words(_kept(path, value))}"
        )

    def named(self, netdev: str) -> WantedPort | None:
        """Give the port of a netdev of the host; None: it has none that is a card's."""
        return self._by_netdev.get(netdev)

    def at(self, source: Source, path: str, address: str) -> WantedPort:
        """Give the port at a PCI address."""
        if address in self._by_address:
            return self._by_address[address]
        has = ", ".join(port.pci_address for port in self.ports) or "none"
        return source.refuse(path, address, f"a port of {self.name}, which has {has}")


def _kept(path: str, value: object) -> object:
    """Give a value without secrets; the path may end with why it is listed, in brackets."""
    name = re.split(r"[. ]", path.partition(" (")[0])[-1]
    return HIDDEN if SECRET.search(name) else _without_secrets(value)


def _without_secrets(value: object) -> object:
    if isinstance(value, dict):
        return {
            name: HIDDEN if SECRET.search(str(name)) else _without_secrets(one)
            for name, one in value.items()
        }
    return [_without_secrets(one) for one in value] if isinstance(value, list) else value


def value_words(value: object) -> str:
    """Give a value as a line has it."""
    text = value if isinstance(value, str) else json.dumps(value, default=str, ensure_ascii=False)
    return shown(text, MOST) if text else "nothing"
