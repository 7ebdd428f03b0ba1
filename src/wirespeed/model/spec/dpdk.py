"""What a spec of the approach dpdk wants: a forwarder, its ports, and the settings of its hosts.

dpdk:     {forwarder: testpmd-macswap, driver: vfio-pci, memory_mib: 1024,
hugepages: {page_kib: 2048, count: 1024}}
profile:  {rt_throttling: false, irqbalance: false, pause: false, governor: performance}
"""

from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, StrictBool, StrictInt, model_validator

from wirespeed.model.frozen import Frozen
from wirespeed.model.spec.esxi import cpus
from wirespeed.model.spec.names import whole

TESTPMD, COMMAND = "testpmd", "command"
L3FWD_LPM, L3FWD_EM = "l3fwd-lpm", "l3fwd-em"
TO_SENDER = ("testpmd-io", "testpmd-macswap", "testpmd-5tswap")
"""Forwarders whose frames are addressed as sent, or to where they came from."""
EAL = "{eal}"
_DEVARG = r"[A-Za-z0-9_]{1,40}=[A-Za-z0-9_.:-]{1,80}"
DEVARGS = rf"^{_DEVARG}(,{_DEVARG})*$"
KERNEL_PARAMETER = r"^[A-Za-z0-9_.]{1,60}(=[A-Za-z0-9_.,:/@+-]{1,200})?$"


class Role(StrEnum):
    """What a host does."""

    TESTER = "tester"
    """It sends frames, and judges what comes back."""
    DUT = "dut"
    """It forwards them: the device under test."""


class PortDriver(StrEnum):
    """Who has a port while DPDK drives it."""

    VFIO_PCI = "vfio-pci"
    """The port leaves the kernel."""
    KERNEL = "kernel"
    """DPDK drives it beside the kernel's driver (bifurcated: mlx5)."""


class HugepagesSpec(Frozen):
    """Pages that a program's memory is made of."""

    page_kib: Annotated[Literal[2048, 1048576], BeforeValidator(whole)] = 2048
    count: Annotated[StrictInt, Field(ge=1, le=1 << 20)]
    """On each host, on the node of its first port where that is known."""


Forwarder = Literal[
    "testpmd-io", "testpmd-mac", "testpmd-macswap", "testpmd-5tswap", "l3fwd-lpm", "l3fwd-em",
    "command",
]  # fmt: skip
Expect = Literal["as-sent", "macswap", "5tswap", "mac", "routed"]
Descriptors = Annotated[StrictInt, Field(ge=32, le=32768)]


MAC = r"^([0-9a-f]{2}:){5}[0-9a-f]{2}$"


class TesterSpec(Frozen):
    """How the tester holds its ports."""

    queues: Annotated[StrictInt, Field(ge=1, le=16)] = 1
    """Of each port, each way: flows are dealt to them."""
    rx_descriptors: Descriptors | None = None
    tx_descriptors: Descriptors | None = None
    """Of each queue; None: 4096, or what its card has."""
    hardware_stamps: StrictBool = False
    """Latency by the ports' own clocks; a ConnectX then sends no compressed completions."""
    peer_macs: tuple[Annotated[str, Field(pattern=MAC)], ...] = ()
    """Destinations of its frames, one for each of its ports; empty: those of the DUT's ports."""


class DpdkSpec(Frozen):
    """The forwarder of the DUT, and how both ends hold their ports."""

    forwarder: Forwarder = "testpmd-macswap"
    command: Annotated[str, Field(pattern=r"^[ -~]{1,2000}$")] | None = None
    """Of `forwarder: command`: a program of the user's own, with `{eal}` where the EAL's options
    go. Its words are split as a shell does; no shell runs it."""
    expect: Expect | None = None
    """How the user's own program hands a frame back."""
    driver: PortDriver = PortDriver.VFIO_PCI
    devargs: Annotated[str, Field(pattern=DEVARGS)] | None = None
    """Options of the DUT's ports for their driver in DPDK: `mprq_en=1,rxqs_min_mprq=1`."""
    way_back: Literal["other", "same"] = "other"
    """Frames come back at the other port, or at the one that they left by."""
    bidirectional: StrictBool = False
    """With `way_back: other`: both ports send at once."""
    queues: Annotated[StrictInt, Field(ge=1, le=64)] = 1
    """Of each port of the DUT, both ways."""
    rx_descriptors: Descriptors = 1024
    tx_descriptors: Descriptors = 1024
    """Of each queue of the DUT."""
    tester: TesterSpec = TesterSpec()
    burst: Annotated[StrictInt, Field(ge=1, le=128)] = 32
    """Of the tester: frames sent at once. Of testpmd and l3fwd: frames taken at once."""
    realtime_priority: Annotated[StrictInt, Field(ge=1, le=99)] | None = None
    """Of the forwarder (chrt --fifo); None: an ordinary thread."""
    environment: dict[
        Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9_]{0,60}$")],
        Annotated[str, Field(pattern=r"^[A-Za-z0-9_./:,-]{0,100}$")],
    ] = Field(default_factory=dict)
    """Of the forwarder: `MLX5_SHUT_UP_BF: "0"`."""
    hugepages: HugepagesSpec
    memory_mib: Annotated[StrictInt, Field(ge=64, le=1 << 20)] = 1024
    """That each program takes of them."""

    @model_validator(mode="after")
    def _command_goes_with_its_forwarder(self) -> Self:
        own = self.forwarder == COMMAND
        if own != (self.command is not None) or own != (self.expect is not None):
            raise ValueError("`command` and `expect` belong to `forwarder: command`, both")
        if self.command is not None and EAL not in self.command.split():
            raise ValueError(f"command: no word of it is {EAL}, where the EAL's options go")
        if self.bidirectional and self.way_back == "same":
            raise ValueError("bidirectional: with `way_back: same` each port sends already")
        have = self.hugepages.page_kib * self.hugepages.count >> 10
        if self.memory_mib > have:
            raise ValueError(f"memory_mib: {self.memory_mib} of {have} MiB of hugepages")
        return self


class ProfileSpec(Frozen):
    """Settings of a host that forwards or measures; what is not named stays as it is."""

    kernel_parameters: tuple[Annotated[str, Field(pattern=KERNEL_PARAMETER)], ...] = ()
    """For the next boot: `intel_pstate=disable`, `iommu=pt`."""
    isolate: StrictBool = False
    """Cores of the host are kept free of all else: isolcpus, nohz_full, rcu_nocbs, written as its
    own kernel reads them."""
    rt_throttling: StrictBool | None = None
    """Whether real-time threads are stopped for 5 % of each second."""
    zone_reclaim: StrictBool | None = None
    swappiness: Annotated[StrictInt, Field(ge=0, le=200)] | None = None
    governor: Annotated[str, Field(pattern=r"^[a-z_]{1,15}$")] | None = None
    irqbalance: StrictBool | None = None
    """Whether it runs."""
    ban_cores: StrictBool = False
    """irqbalance moves no interrupt to the host's `cores`, and goes on with all others."""
    interrupts: Literal["far-node", "other-cores"] | None = None
    """Of every port that stays with the kernel: to the CPUs of the other nodes, or to those that do
    not poll."""
    pause: StrictBool | None = None
    """Of every port; with vfio-pci, as it stands when the port leaves the kernel."""
    max_read_request_bytes: Literal[128, 256, 512, 1024, 2048, 4096] | None = None
    """Of every port."""


HostCpus = Annotated[str, BeforeValidator(cpus)]
