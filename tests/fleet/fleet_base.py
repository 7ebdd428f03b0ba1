"""The capture of which a fleet of described hosts is made, by number: `fleet_rack` in tools."""

from pathlib import Path

from described.healthy import kinds
from described.host import capture_of
from fleet_rack import CABLES, FIRMWARE, KERNELS

CAPTURED = Path(__file__).parents[1] / "facts/samples/captures/igb-lab.txt"
"""What the collector printed on a host of the lab: Debian's kernel and drivers, QEMU's cards."""

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
    """Give a host that was read, with its kernel and firmware called as those of the first host."""
    text = CAPTURED.read_text()
    firmware = "firmware-version: "
    for own, first in (
        ("6.12.95+deb12-amd64", KERNELS[0]),
        (f"{firmware}2.1.0", f"{firmware}{FIRMWARE[0]}"),
    ):
        assert own in text
        text = text.replace(own, first)
    return text
