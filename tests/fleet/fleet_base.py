"""The capture of which a fleet of described hosts is made, by number: `fleet_rack` in tools."""

from dataclasses import replace
from pathlib import Path

from described.healthy import kinds
from described.host import capture_of
from fleet_rack import CABLES, FIRMWARE, KERNELS, PLANTED, Planted

CAPTURED = Path(__file__).parents[1] / "facts/samples/captures/mlx5-lab.txt"
"""What `wirespeed capture` read of a lab's host: Debian's mlx5_core 6.1, ethtool, devlink and ip of
a modelled ConnectX, none of it described here."""
OTHERWISE = {
    "kernel.clocksource_not_tsc": None,
    "link.half_duplex": None,
    "offloads.segmentation_off": None,
    "offloads.checksum_off": None,
    "offloads.receive_merging_off": None,
    "errors.physical": (r"rx_crc_errors_phy: 0$", "rx_crc_errors_phy: 200000"),
    "errors.port_buffer": (r"rx_discards_phy: 0$", "rx_discards_phy: 9000000"),
}
"""Causes that can be planted there, and what stands there for what the described host has. Those of
PCI Express and of a CPU's clock cannot: QEMU makes up the one and has not the other. Of two CPUs,
one channel is no cause."""

MODULE = f"""\
\tIdentifier                                : 0x11 (QSFP28)
\tVendor name                               : Mellanox
\tVendor PN                                 : {CABLES[0]}
"""


def base() -> str:
    """Give a healthy host with a cable that has a part number."""
    host = kinds()["epyc_200g"]()
    host.answer("ethtool -m enp65s0np0", MODULE)
    return capture_of(host)


def captured() -> str:
    """Give a host that was read, with the words of the first host for what hosts differ in.

    Its clock is well, too: emulated, it had taken the slow one.
    """
    text = CAPTURED.read_text()
    firmware, clock = "firmware-version: ", "current_clocksource:"
    for own, first in (
        ("6.1.0-56-amd64", KERNELS[0]),
        (f"{firmware}16.35.4030", f"{firmware}{FIRMWARE[0]}"),
        ("MODEL-CR4-1M", CABLES[0]),
        (f"{clock}hpet", f"{clock}tsc"),
    ):
        assert own in text
        text = text.replace(own, first)
    return text


def planted_there() -> tuple[Planted, ...]:
    """Give the causes that a captured host can have."""
    found = []
    for one in PLANTED:
        if one.rule in OTHERWISE:
            pattern, text = OTHERWISE[one.rule] or (one.pattern, one.text)
            found.append(replace(one, pattern=pattern, text=text))
    return tuple(found)
