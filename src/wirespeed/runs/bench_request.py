"""What `wirespeed measure rfc2544` and `single-core` are asked for."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from wirespeed.measure.bench.dut import Expect

RFC2544_SIZES = "64,128,256,512,1024,1280,1518"
"""The published report's sizes: RFC 2544 section 9.1 for Ethernet, without its 1024-to-1280 gap."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchRequest:
    """What is to be measured, and with what; the fields are the options of the command."""

    out: Path
    duts: tuple[str, ...] = ("testpmd-macswap",)
    wire: str = "vhost"
    frame_bytes: str = RFC2544_SIZES
    flows: int = 8192
    method: str = "informed"
    width: float = 0.005
    trial_seconds: float = 1.0
    confirm_seconds: float = 60.0
    confirmations: int = 1
    repeats: int = 1
    windowed: bool | None = None
    """None: in a demo, and nowhere else."""
    burst: int = 32
    gap_limit_ms: float = 10.0
    stalled_share: float = 0.05
    max_load: float | None = None
    ports: tuple[str, ...] = ()
    expect: Expect = "as-sent"
    peer_macs: tuple[str, ...] = ()
    way_back: Literal["other", "same"] | None = None
    cores: str | None = None
    queues: int = 1
    rx_descriptors: int = 0
    tx_descriptors: int = 0
    hardware_stamps: bool = False
    ladder: bool = False
    back_to_back: int = 0
    recoveries: int = 0
    overload_seconds: float = 60.0
    resets: int = 0
    soak_seconds: float = 0.0
    bidirectional: bool = False
    link_gbps: float | None = None
    hugepages: bool = False
    resume: bool = False
    as_json: bool = False
    demo: bool = False
    single_core: bool = False
