"""What the user asks of the doctor: what the ports are for, and how traffic looks."""

from enum import StrEnum

from wirespeed.model.frozen import Frozen


class Purpose(StrEnum):
    """What a port is for. A rule that does not apply to it says so."""

    DPDK = "dpdk"
    TCP = "tcp"
    LATENCY = "latency"
    STORAGE = "storage"
    GUESTS = "guests"


class MeasuredBy(Frozen):
    """A run of a tool that the user gave: its figure, and what the tool itself limits."""

    tool: str
    """With its version where it prints one: `iperf 3.12`."""
    measured_bps: float
    """Bits per second of goodput, in one direction."""
    conditions: tuple[str, ...] = ()
    """How it was measured: `8 streams`, `10 s`."""
    limits: tuple[str, ...] = ()
    """What of the tool may have been the bound, and not the path."""
    streams: int | None = None
    """Connections, or queue pairs, at once; None: its output does not say."""
    addresses: tuple[str, ...] = ()
    """IP addresses of its two ends, where it prints them."""
    doubts: tuple[str, ...] = ()
    """What in its own output contradicts the figure."""


class Question(Frozen):
    """What is asked about a host. None: the user did not say, and nothing is assumed for it."""

    purpose: Purpose | None = None
    frame_bytes: int = 1518
    """With FCS: the size that ceilings are computed for."""
    frame_of_mtu: bool = False
    """Nobody named a size: full frames of the MTU that the ports have, where they have one."""
    bidirectional: bool = False
    """Ceilings are those of both directions carrying as much at once."""
    rtt_s: float | None = None
    """Round-trip time to the peer, seconds."""
    peer: str | None = None
    """IP address that the traffic goes to."""
    ports: tuple[str, ...] = ()
    """Netdevs or PCI addresses asked about; empty: all of them."""
    measured_bps: float | None = None
    """A figure that somebody measured in one direction, bits per second of goodput."""
    measured_by: MeasuredBy | None = None
    """The run that the figure is of."""
    workload: str | None = None
    """Name of the process whose threads do the work, as in /proc/PID/comm."""
    wanted: tuple[str, ...] = ()
    """Advanced properties that the user set on Windows: `*LsoV2IPv4=1`, keyword and value."""

    @property
    def purposes(self) -> frozenset[Purpose]:
        """What the ports are for: as the user said, else by what the question is about.

        Only a connection waits for a round trip: who gives one asks about TCP.
        """
        if self.purpose is not None:
            return frozenset({self.purpose})
        return frozenset() if self.rtt_s is None else frozenset({Purpose.TCP})
