"""What is said to `wirespeed-tester` and what it answers: docs/tester-protocol.md, version 1."""

from typing import Any, Literal

from wirespeed.measure.bench.dut import Expect
from wirespeed.model.frame_mix import FrameMix
from wirespeed.model.frozen import Frozen
from wirespeed.model.trial import Departure, Latency, PortCounters, StreamCounts, TesterHealth

VERSION = 1

_EXPECT: dict[Expect, str] = {
    # MAC addresses are learned from the first frames that come back.
    "as-sent": "as-sent",
    "mac": "as-sent",
    "macswap": "as-sent",
    "5tswap": "5tswap",
    "routed": "routed",
}


class PortRequest(Frozen):
    """One port to open: any EAL device string."""

    device: str
    tx_queues: int = 1
    rx_queues: int = 1
    tx_descriptors: int = 0
    rx_descriptors: int = 0
    peer_mac: str = "02:00:00:00:00:01"
    hardware_stamps: bool = False
    """Arrivals are stamped by the port; on mlx5 that switches compressed completions off."""
    refused: Literal["dut", "tester"] = "dut"
    """Whose loss a frame is that the port did not take: a virtual wire's full ring is the DUT's
    input queue; a card that takes no more is the tester's limit."""


class WorkerRequest(Frozen):
    """One lcore and the queues that are its own, as (port, queue)."""

    lcore: int
    tx: tuple[tuple[int, int], ...] = ()
    rx: tuple[tuple[int, int], ...] = ()


class OpenRequest(Frozen):
    """Ports, and who serves their queues."""

    ports: tuple[PortRequest, ...]
    workers: tuple[WorkerRequest, ...]
    frame_bytes_max: int = 1518
    link_wait_ms: int = 10000

    @property
    def links_wait_s(self) -> float:
        """Give how long it may wait for links in all: for one port after the other."""
        return len(self.ports) * self.link_wait_ms / 1000


class StreamRequest(Frozen):
    """Frames from one port that are due back at another, or at the same."""

    tx_port: int = 0
    rx_port: int = 0


class Then(Frozen):
    """The load that follows within the same trial."""

    after_seconds: float
    pps: float
    """All streams together."""


class TrialRequest(Frozen):
    """One load, once."""

    number: int
    mix: FrameMix
    streams: tuple[StreamRequest, ...] = (StreamRequest(),)
    flows: int
    load_pps: float | None
    """All streams together; None: as fast as the tester can."""
    seconds: float
    burst_frames: int = 32
    expect: Expect = "as-sent"
    prime: bool = False
    gap_limit_ms: float = 10.0
    stalled_share: float = 0.05
    """Share of the trial for which a loop of the tester may be away in all."""
    settle_ms: float = 200.0
    windows: int = 0
    """Parts of which each is sent, drained and accounted for before the next; 0: in one go."""
    link_look_ms: int = 0
    """How often the ports' links are read while it sends: a virtual one then takes a DUT that comes
    again. 0: never."""
    then: Then | None = None
    """Not with windows, nor with a load of None."""
    cpus: tuple[int, ...] = ()
    watch: tuple[tuple[int, int], ...] = ()
    """Process and thread of the DUT, where it polls on this machine."""

    def body(self) -> dict[str, Any]:
        """Give it as the protocol has it, without the envelope."""
        body = self.model_dump(mode="json", exclude={"mix", "load_pps", "expect", "then"})
        if self.then is not None:
            body["then"] = self.then.model_dump()
        body["mix"] = [share.model_dump() for share in self.mix.shares]
        body["load"] = {"max": True} if self.load_pps is None else {"pps": self.load_pps}
        body["expect"] = _EXPECT[self.expect]
        return body


class Envelope(Frozen):
    """What every reply starts with."""

    v: Literal[1]
    id: int


class HelloReply(Envelope):
    """Who the tester is."""

    event: Literal["hello"]
    dpdk: str
    isa: str
    tsc_hz: int
    hugepages: bool


class OpenedPort(Frozen):
    """A port as it was opened."""

    port: int
    device: str
    driver: str
    mac: str
    link_up: bool
    link_mbps: int | None
    numa_node: int
    tx_descriptors: int
    rx_descriptors: int
    hardware_stamps: bool
    pool_bytes: int
    firmware: str | None = None
    pause: Literal["none", "rx", "tx", "full"] | None = None
    """None: the driver does not tell."""
    discards_read: tuple[str, ...] = ()
    """Extended statistics of the driver's that void a trial when they rise."""


class OpenedReply(Envelope):
    """All ports, in the order of the request."""

    event: Literal["opened"]
    ports: tuple[OpenedPort, ...]


class ProgressReply(Envelope):
    """Once a second while a trial runs."""

    event: Literal["progress"]
    seconds: float
    offered_frames: int
    received_frames: int


class WindowReply(Frozen):
    """One window of a trial that is made of some. All its frames are accounted for."""

    measured_seconds: float
    drain_ns: int
    streams: tuple[StreamCounts, ...]
    stalled_ns: int
    gap_ns_max: int
    watched_away_ns: tuple[int | None, ...] = ()
    watched_drain_away_ns: tuple[int | None, ...] = ()
    invalid_reasons: tuple[str, ...] = ()
    """Why this window is void; what voids the whole run is not repeated here."""

    @property
    def offered_frames(self) -> int:
        """Frames handed to the wire."""
        return sum(stream.offered_frames for stream in self.streams)

    @property
    def missing_frames(self) -> int:
        """Frames that did not come back."""
        return sum(stream.missing_frames for stream in self.streams)

    @property
    def away_ns(self) -> int:
        """Longest time for which one that is watched was away while frames were sent."""
        return max((ns for ns in self.watched_away_ns if ns is not None), default=0)

    @property
    def drain_away_ns(self) -> int:
        """The same, from then until the last frame was back."""
        return max((ns for ns in self.watched_drain_away_ns if ns is not None), default=0)


class Change(Frozen):
    """A load that changed within the trial."""

    at_ns: int
    last_loss_ns: int
    """From there to the departure of the last frame that was lost; 0: none was, after it."""


class ResultReply(Envelope):
    """What a trial counted."""

    event: Literal["result"]
    number: int
    measured_seconds: float
    drain_ns: int = 0
    """From the last departure to the last frame that came back."""
    streams: tuple[StreamCounts, ...]
    latency: Latency | None
    """None: no sound frame came back, or a port that stamps arrivals stamped none of them."""
    departure: Departure
    tester: TesterHealth
    silence_ns_max: int
    silence_ns_sum: int
    quiet_ns_max: int
    """Longest time between two frames that came."""
    quiet_ns_last: int
    """From the last frame that came to the end of sending."""
    watched_away_ns: tuple[int | None, ...] = ()
    """Of each that was watched, while frames were sent: time in which it would have run and did
    not; None: unknown."""
    watched_drain_away_ns: tuple[int | None, ...] = ()
    """The same, from then until all had settled."""
    counters: tuple[PortCounters, ...]
    """The tester's own ports, as differences over the trial."""
    change: Change | None = None
    state_bytes: int
    windows: tuple[WindowReply, ...] = ()
    """Fewer than asked for where frames of the last one did not come back."""
    valid: bool
    invalid_reasons: tuple[str, ...]


class CountersReply(Envelope):
    """Counters since the ports were started."""

    event: Literal["counters"]
    ports: tuple[PortCounters, ...]


class ByeReply(Envelope):
    """The answer to `quit`."""

    event: Literal["bye"]


class ErrorReply(Envelope):
    """A request that could not be carried out."""

    event: Literal["error"]
    what: str
    where: str
    found: str
    next: str
