"""Speed and width of a PCI Express link from the configuration space, as `lspci` decodes them.

Kernels before 4.13 have no `current_link_speed` in sysfs, some later ones say `Unknown` in it. The
registers say the same: PCI Express Base Specification 5.0, sections 7.5.3.6 and 7.5.3.8, and
include/uapi/linux/pci_regs.h (PCI_EXP_LNKCAP, PCI_EXP_LNKSTA).
"""

from dataclasses import dataclass

from wirespeed.facts.pci_config import PCI_EXPRESS, PUBLIC_BYTES, capability, config_bytes
from wirespeed.model.capture import Section
from wirespeed.model.observed import Absent, Known, Observed, Unreadable

LINK_CAPABILITIES, LINK_STATUS = 0x0C, 0x12
GT_PER_S = {1: 2.5, 2: 5.0, 3: 8.0, 4: 16.0, 5: 32.0, 6: 64.0}
WIDTHS = (1, 2, 4, 8, 12, 16, 32)


@dataclass(frozen=True, slots=True)
class LinkRegisters:
    """What one end of a link can do, and what the link came up with."""

    gt_per_s: Observed[float]
    lanes: Observed[int]
    max_gt_per_s: Observed[float]
    max_lanes: Observed[int]


def link_registers(section: Section | None, address: str) -> LinkRegisters:
    """Decode a dump; Absent for a function without the capability or without a link."""
    would_tell = f"lspci -vv -s {address}"
    if section is None:
        return _all(Unreadable("the capture has no configuration space of it", would_tell))
    text = section.text(would_tell)
    if not isinstance(text, Known):
        return _all(text)
    config = config_bytes(text.value)
    if config is None or set(config) == {0xFF}:
        return _all(Unreadable("its configuration space makes no sense", would_tell))
    if len(config) <= PUBLIC_BYTES:
        return _all(Unreadable("needs root: only 64 bytes of it were given", would_tell))
    express = capability(config, PCI_EXPRESS)
    if express is None:
        return _all(Absent(would_tell, "it has no PCI Express capability"))
    now_speed, now_width = _pair(config, express + LINK_STATUS, f"setpci -s {address} CAP_EXP+12.w")
    max_speed, max_width = _pair(
        config, express + LINK_CAPABILITIES, f"setpci -s {address} CAP_EXP+c.l"
    )
    return LinkRegisters(now_speed, now_width, max_speed, max_width)


def _pair(config: bytes, at: int, source: str) -> tuple[Observed[float], Observed[int]]:
    """Bits 3:0 are the speed and 9:4 the width, in the capability and the status alike."""
    word = config[at : at + 2]
    if len(word) < 2:
        cut = Unreadable("its configuration space is cut off", source)
        return cut, cut
    value = int.from_bytes(word, "little")
    gt_per_s, width = GT_PER_S.get(value & 0xF), value >> 4 & 0x3F
    if value & 0x3FF == 0:
        none = Absent(source, "its registers hold no link: speed 0, width 0")
        return none, none
    return (
        Known(gt_per_s, source)
        if gt_per_s is not None
        else Unreadable(f"speed {value & 0xF} is reserved", source),
        Known(width, source)
        if width in WIDTHS
        else Unreadable(f"width {width} is reserved", source),
    )


def _all(why: Absent | Unreadable) -> LinkRegisters:
    return LinkRegisters(why, why, why, why)
