"""What proves a set-up: the measurements that a spec asks for."""

from typing import Annotated

from pydantic import Field, StrictBool, StrictInt

from wirespeed.model.frozen import Frozen
from wirespeed.model.spec.names import Mtu, Number


class Iperf3Spec(Frozen):
    """Streams and MTUs to go through."""

    mtu: tuple[Mtu, ...] = (1500, 9000)
    streams: tuple[Annotated[StrictInt, Field(ge=1, le=128)], ...] = (2, 6)
    bidirectional: StrictBool = True
    runs: Annotated[StrictInt, Field(ge=1, le=100)] = 3
    seconds: Annotated[StrictInt, Field(ge=1, le=3600)] = 10
    """Of one run; whole ones, as iperf3 takes them."""


class PingSpec(Frozen):
    """Flood ping."""

    count: Annotated[StrictInt, Field(ge=1, le=10**7)] = 10000
    warmup: Annotated[StrictInt, Field(ge=0, le=100)] = 1
    runs: Annotated[StrictInt, Field(ge=1, le=100)] = 3


class Rfc2544Spec(Frozen):
    """Zero-loss search."""

    frame_bytes: tuple[Annotated[StrictInt, Field(ge=64, le=9600)], ...] = (
        64, 128, 256, 512, 1024, 1280, 1518,
    )  # fmt: skip
    flows: Annotated[StrictInt, Field(ge=1, le=2**24)] = 8192
    seconds: Annotated[Number, Field(gt=0, le=86400)] = 60
    """Of the trial that confirms."""
    trial_seconds: Annotated[Number, Field(gt=0, le=86400)] = 1
    """Of a trial of the search."""
    width: Annotated[Number, Field(gt=0, lt=1)] = 0.005
    """The search stops when (upper - lower) / upper is no more than this."""
    max_load_pps: Annotated[Number, Field(gt=0)] | None = None
    """Offer no more; None: the line rate, or what the tester can send."""
    link_gbps: Annotated[Number, Field(gt=0, le=10**4)] | None = None
    """Line rate of each link; None: it bounds nothing."""
    single_core: StrictBool = False
    """After each search: a trial at line rate (else `max_load_pps`, else all that the tester
    sends): what is forwarded of it on average, cycles a packet and the core's clock."""
    ladder: StrictBool = False
    """After each search: latency and loss at each tenth of the throughput, and above it."""
    back_to_back: Annotated[StrictInt, Field(ge=0, le=1000)] = 0
    """After each search: searches for the longest burst without loss (RFC 9004)."""
    recoveries: Annotated[StrictInt, Field(ge=0, le=100)] = 0
    """After each search: how long frames are still lost once an overload ends (26.5), so often."""
    overload_seconds: Annotated[Number, Field(ge=0.1, le=3000)] = 60
    """Of that overload; RFC 2544 asks for 60 or more."""
    resets: Annotated[StrictInt, Field(ge=0, le=100)] = 0
    """After each search: how long nothing is forwarded when the forwarder is ended and started
    again (26.6), so often."""
    soak_seconds: Annotated[Number, Field(ge=0, le=31 * 86400)] = 0
    """After each search: trials at the throughput, for so long."""
    gap_limit_ms: Annotated[Number, Field(gt=0, le=10**4)] = 10
    """A trial is void when a loop of the tester was away for longer at once."""
    stalled_share: Annotated[Number, Field(ge=0.001, le=1)] = 0.05
    """And when it was away for a larger share of the trial in all."""


class FailoverSpec(Frozen):
    """A paced flow while each port in turn is lost and comes back."""

    load_pps: Annotated[StrictInt, Field(ge=10, le=100_000)] = 1000
    seconds: Annotated[Number, Field(ge=1, le=3600)] = 10
    """How long a port is away, and how long the flow goes on after it is back."""


class IsolationSpec(Frozen):
    """Forged frames between guests that must not reach each other."""

    frames: Annotated[StrictInt, Field(ge=1, le=10**6)] = 200
    """Of each kind, between each two guests."""


class MeasureSpec(Frozen):
    """What proves it."""

    iperf3: Iperf3Spec = Iperf3Spec()
    ping: PingSpec = PingSpec()
    failover: FailoverSpec = FailoverSpec()
    isolation: IsolationSpec = IsolationSpec()
    rfc2544: Rfc2544Spec | None = None
