"""The capture of which a fleet of described hosts is made, by number: `fleet_rack` in tools."""

from described.healthy import kinds
from described.host import capture_of
from fleet_rack import CABLES

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
