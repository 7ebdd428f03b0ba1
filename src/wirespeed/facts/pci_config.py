"""What PCI Express functions are set to, read from their configuration space.

The kernel gives the first 64 bytes to everybody and the rest to root. What is there is laid out
in the PCI Express Base Specification 5.0, section 7; include/uapi/linux/pci_regs.h names it.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import ClassVar, Self, TypeVar

from wirespeed.model.capture import Capture, Section
from wirespeed.model.fact import Fact
from wirespeed.model.observed import Absent, Known, Observed, Unreadable

T = TypeVar("T")

PUBLIC_BYTES = 64
CONVENTIONAL_BYTES = 256
EXTENDED_BYTES = 4096
STATUS, STATUS_CAPABILITIES = 0x06, 0x10
FIRST_CAPABILITY = 0x34
PCI_EXPRESS, ACCESS_CONTROL = 0x10, 0x000D
MOST_CHARACTERS = 4 * EXTENDED_BYTES
"""Two digits and a space for each byte, and room to spare."""
MOST_CAPABILITIES = (CONVENTIONAL_BYTES - PUBLIC_BYTES) // 4
MOST_EXTENDED = (EXTENDED_BYTES - CONVENTIONAL_BYTES) // 8
SIZES = (128, 256, 512, 1024, 2048, 4096)
"""Encodings 0 to 5 of payload and read request; 6 and 7 are reserved."""
PORT_TYPES = {
    0: "endpoint", 1: "legacy endpoint", 4: "root port", 5: "upstream port", 6: "downstream port",
    7: "bridge to PCI", 8: "bridge from PCI", 9: "integrated endpoint", 10: "event collector",
}  # fmt: skip
SLOT_IMPLEMENTED = 0x100
"""PCI Express Capabilities, section 7.5.3.2."""
ASPM = ("disabled", "L0s", "L1", "L0s and L1")


@dataclass(frozen=True, slots=True)
class PcieSettings:
    """What one function can do and is set to."""

    port_type: Observed[str]
    has_slot: Observed[bool]
    """Of a root or downstream port: what is below it is in a slot, and not on the board."""
    max_payload_supported_bytes: Observed[int]
    max_payload_bytes: Observed[int]
    """Largest data of one write or completion that it sends and takes, as set."""
    max_read_request_bytes: Observed[int]
    """Most that it asks for in one read, as set."""
    relaxed_ordering: Observed[bool]
    extended_tags: Observed[bool]
    """It may have 256 reads under way and not only 32."""
    aspm: Observed[str]
    """Link states that it may enter to save power: `disabled`, `L0s`, `L1`, `L0s and L1`."""
    acs_redirects: Observed[bool]
    """Requests from one device to another are sent up to the root complex."""


@dataclass(frozen=True, slots=True)
class PciConfig(Fact):
    """Settings of every function on the way from a network card to its root port."""

    by_address: dict[str, PcieSettings]

    script: ClassVar[str] = """\
for address in $hops; do
	run pci-config "$address" od -An -v -tx1 "/sys/bus/pci/devices/$address/config"
done
"""

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read one hex dump for each function."""
        found = capture.sections("pci-config")
        return cls({address: _settings(section) for address, section in found.items()})

    def of(self, pci_address: str) -> PcieSettings:
        """Give those of one function; all unreadable where the capture has none."""
        found = self.by_address.get(pci_address)
        if found is not None:
            return found
        return _all(Unreadable("the capture has no such section", f"lspci -vv -s {pci_address}"))


def capability(config: bytes, wanted: int) -> int | None:
    """Give the offset of a capability of the first 256 bytes, None when there is none."""
    if len(config) <= FIRST_CAPABILITY or not config[STATUS] & STATUS_CAPABILITIES:
        return None
    offset = config[FIRST_CAPABILITY] & 0xFC
    for _ in range(MOST_CAPABILITIES):
        if not PUBLIC_BYTES <= offset < len(config) - 1:
            return None
        if config[offset] == wanted:
            return offset
        offset = config[offset + 1] & 0xFC
    return None


def extended_capability(config: bytes, wanted: int) -> int | None:
    """Give the offset of a capability beyond the first 256 bytes, None when there is none."""
    offset = CONVENTIONAL_BYTES
    for _ in range(MOST_EXTENDED):
        if not CONVENTIONAL_BYTES <= offset <= len(config) - 4:
            return None
        header = int.from_bytes(config[offset : offset + 4], "little")
        if header in (0, 0xFFFFFFFF):
            return None
        if header & 0xFFFF == wanted:
            return offset
        offset = header >> 20 & 0xFFC
    return None


def config_bytes(dump: str) -> bytes | None:
    """Read what `od -An -v -tx1` prints; None when it is no such thing, or too long or short."""
    if len(dump) > MOST_CHARACTERS:
        return None
    try:
        config = bytes.fromhex(dump)
    except ValueError:
        return None
    return config if PUBLIC_BYTES <= len(config) <= EXTENDED_BYTES else None


def _settings(section: Section) -> PcieSettings:
    address = section.subject
    would_tell = f"lspci -vv -s {address}"
    text = section.text(would_tell)
    if not isinstance(text, Known):
        return _all(text)
    config = config_bytes(text.value)
    if config is None:
        return _all(Unreadable("the dump of its configuration space makes no sense", would_tell))
    if set(config) == {0xFF}:
        return _all(Unreadable("it reads as all ones: off, or gone from the bus", would_tell))
    if len(config) <= PUBLIC_BYTES:
        return _all(Unreadable("needs root: only 64 bytes of it were given", would_tell))
    return _decoded(config, address, would_tell)


def _decoded(config: bytes, address: str, would_tell: str) -> PcieSettings:
    express = capability(config, PCI_EXPRESS)
    if express is None:
        return _all(Absent(would_tell, "it has no PCI Express capability"))

    def field(at: int, name: str, convert: Callable[[int], T | None]) -> Observed[T]:
        source = f"setpci -s {address} CAP_EXP+{at:x}.w"
        word = config[express + at : express + at + 2]
        value = convert(int.from_bytes(word, "little")) if len(word) == 2 else None
        if value is None:
            return Unreadable(f"its {name} makes no sense: {word.hex() or 'cut off'}", source)
        return Known(value, source)

    return PcieSettings(
        port_type=field(0x2, "port type", lambda w: PORT_TYPES.get(w >> 4 & 0xF)),
        has_slot=field(0x2, "slot", lambda w: bool(w & SLOT_IMPLEMENTED)),
        max_payload_supported_bytes=field(0x4, "payload capability", lambda w: _size(w & 7)),
        max_payload_bytes=field(0x8, "payload size", lambda w: _size(w >> 5 & 7)),
        max_read_request_bytes=field(0x8, "read request size", lambda w: _size(w >> 12 & 7)),
        relaxed_ordering=field(0x8, "relaxed ordering", lambda w: bool(w & 0x10)),
        extended_tags=field(0x8, "extended tags", lambda w: bool(w & 0x100)),
        aspm=field(0x10, "link control", lambda w: ASPM[w & 3]),
        acs_redirects=_acs(config, address, would_tell),
    )


def _acs(config: bytes, address: str, would_tell: str) -> Observed[bool]:
    if len(config) <= CONVENTIONAL_BYTES:
        return Unreadable("its extended configuration space was not given", would_tell)
    at = extended_capability(config, ACCESS_CONTROL)
    if at is None or at + 8 > len(config):
        return Absent(would_tell, "it has no access control services")
    redirects = 0x04  # P2P Request Redirect
    return Known(bool(config[at + 6] & redirects), f"setpci -s {address} ECAP_ACS+6.w")


def _size(encoding: int) -> int | None:
    return SIZES[encoding] if encoding < len(SIZES) else None


def _all(why: Absent | Unreadable) -> PcieSettings:
    return PcieSettings(**dict.fromkeys((f.name for f in fields(PcieSettings)), why))
