"""What DPDK's testpmd prints of its forwarding, as `show fwd stats all` or `stop` do. Pure.

    ---------------------- Forward statistics for port 0  ----------------------
    RX-packets: 15979328       RX-dropped: 0             RX-total: 15979328
    TX-packets: 15979264       TX-dropped: 64            TX-total: 15979328
    ----------------------------------------------------------------------------
    …
    CPU cycles/packet=265.40 (total cycles=4240943899 / total macswap packets=15979328) at 2600 MHz

The counts are those since the last `start`. Lines that we do not use are passed over, for drivers
print theirs in between; a block that lacks a line that we use is an error.
"""

import re
from collections.abc import Iterable

from wirespeed.model.frozen import Frozen

_PORT = re.compile(r"-+ Forward statistics for port (\d+) +-+")
_RX = re.compile(r"^\s*RX-packets: (\d+) +RX-dropped: (\d+) +RX-total: (\d+)\s*$")
_TX = re.compile(r"^\s*TX-packets: (\d+) +TX-dropped: (\d+) +TX-total: (\d+)\s*$")
_ALL = re.compile(r"\++ Accumulated forward statistics for all ports *\++")
_CYCLES = re.compile(
    r"CPU cycles/packet=[\d.]+ \((?:total|busy) cycles=(\d+) / total (\S+) packets=(\d+)\)"
    r" at (\d+) MHz"
)
"""`busy cycles` since DPDK 23.03, which count the same: bursts that had packets."""


class PortForwarding(Frozen):
    """One port since the last `start`."""

    port: int
    rx_packets: int
    rx_dropped: int
    """The port's imissed."""
    tx_packets: int
    tx_dropped: int
    """Dropped by the forwarding engine, as the transmit ring was full: in no port's counters."""


class Forwarding(Frozen):
    """All ports since the last `start`."""

    ports: tuple[PortForwarding, ...]
    busy_cycles: int | None
    """None unless `record-core-cycles` is on; it is not printed either when nothing came."""
    busy_packets: int | None
    tsc_mhz: int | None

    @property
    def tx_dropped(self) -> int:
        """Sum over the ports."""
        return sum(port.tx_dropped for port in self.ports)


def parse_forwarding(lines: Iterable[str]) -> Forwarding:
    """Parse the output of one command. ValueError when a port's block is not whole."""
    ports: list[PortForwarding] = []
    cycles: re.Match[str] | None = None
    port: int | None = None
    received: tuple[int, int] | None = None
    for line in lines:
        if found := _PORT.search(line):
            if port is not None:
                raise ValueError(f"no counts for port {port}")
            port, received = int(found[1]), None
        elif _ALL.search(line):
            if port is not None:
                raise ValueError(f"no counts for port {port}")
        elif port is not None and (found := _RX.match(line)):
            received = int(found[1]), int(found[2])
        elif port is not None and received is not None and (found := _TX.match(line)):
            ports.append(
                PortForwarding(
                    port=port,
                    rx_packets=received[0],
                    rx_dropped=received[1],
                    tx_packets=int(found[1]),
                    tx_dropped=int(found[2]),
                )
            )
            port = received = None
        elif found := _CYCLES.search(line):
            cycles = found
    if port is not None or not ports:
        raise ValueError("no forward statistics" if port is None else f"no counts for port {port}")
    return Forwarding(
        ports=tuple(ports),
        busy_cycles=int(cycles[1]) if cycles else None,
        busy_packets=int(cycles[3]) if cycles else None,
        tsc_mhz=int(cycles[4]) if cycles else None,
    )
