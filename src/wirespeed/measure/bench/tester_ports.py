"""The tester's ports: their queues dealt to lcores, and what it is asked to open. Pure."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from wirespeed.measure.bench.tester_protocol import (
    OpenedPort,
    OpenRequest,
    PortRequest,
    WorkerRequest,
)
from wirespeed.model.frozen import Frozen

QUEUES_MAX = 16
"""Of a port of the tester, each way (`CONFIG_QUEUES_MAX`)."""
OF_LCORE_MAX = 32
"""Queues of one lcore, each way (`CONFIG_WORKER_QUEUES_MAX`)."""
SPARE = 4224
"""Buffers of a queue beyond its ring (tester/port.c)."""
BUFFER_BYTES, BESIDE_BYTES = 1024, 384
"""A frame's buffer is of whole KiB, two at least (tester/port.c); its headroom, and DPDK's own
words, rounded up to lines."""
OF_CARD = 4096
"""Descriptors of a card where none are asked for (tester/port.c)."""
LEAST_MIB = 1024
ANY_MAC = "02:00:00:00:00:01"
"""Destination of frames to a port of unknown address: it is to take any."""


class Holding(Frozen):
    """How the tester holds each of its ports; 0 descriptors: 4096 on a card, the vdev's own."""

    queues: Annotated[int, Field(ge=1, le=QUEUES_MAX)] = 1
    rx_descriptors: Annotated[int, Field(ge=0, le=32768)] = 0
    tx_descriptors: Annotated[int, Field(ge=0, le=32768)] = 0
    hardware_stamps: bool = False
    """Latency by the port's own clock; on mlx5 that switches compressed completions off."""


def lcores_of_use(ports: int, holding: Holding) -> int:
    """Give how many lcores have something to do: one sends and one judges for each queue."""
    return 2 * ports * holding.queues


def deal(ports: int, queues: int, lcores: int) -> tuple[WorkerRequest, ...]:
    """Deal the queues of all ports to lcores 1 to `lcores`, in turn.

    One lcore has both ways of a queue, unless there are more lcores than queues: then one sends and
    another judges. Raises ValueError where an lcore had nothing to do, or more than it can have.
    """
    both = [(port, queue) for port in range(ports) for queue in range(queues)]
    if lcores > 2 * len(both):
        raise ValueError(f"{lcores} cores for {len(both)} queues: two of them serve one at most")
    if len(both) > OF_LCORE_MAX * lcores:
        raise ValueError(f"{len(both)} queues for {lcores} cores: {OF_LCORE_MAX} each at most")
    if lcores > len(both):
        turns = [*(("tx", one) for one in both), *(("rx", one) for one in both)]
    else:
        turns = [(way, both[n]) for n in range(len(both)) for way in ("tx", "rx")]
    owned: dict[tuple[int, str], list[tuple[int, int]]] = {}
    for number, (way, one) in enumerate(turns):
        turn = number if lcores > len(both) else number // 2
        owned.setdefault((turn % lcores + 1, way), []).append(one)
    return tuple(
        WorkerRequest(
            lcore=lcore,
            tx=tuple(owned.get((lcore, "tx"), ())),
            rx=tuple(owned.get((lcore, "rx"), ())),
        )
        for lcore in range(1, lcores + 1)
    )


def open_request(
    ports: Sequence[PortRequest],
    holding: Holding,
    *,
    lcores: int,
    frame_bytes_max: int,
    link_wait_ms: int = 10_000,
) -> OpenRequest:
    """Give the request that opens `ports` as they are to be held."""
    held = {
        "tx_queues": holding.queues,
        "rx_queues": holding.queues,
        "tx_descriptors": holding.tx_descriptors,
        "hardware_stamps": holding.hardware_stamps,
        "rx_descriptors": holding.rx_descriptors,
    }
    return OpenRequest(
        ports=tuple(port.model_copy(update=held) for port in ports),
        workers=deal(len(ports), holding.queues, lcores),
        frame_bytes_max=frame_bytes_max,
        link_wait_ms=link_wait_ms,
    )


def memory_mib(ports: int, holding: Holding, *, frame_bytes_max: int) -> int:
    """Give what the EAL needs: a pool for all transmit queues and one for all that receive."""
    rings = (holding.tx_descriptors or OF_CARD) + (holding.rx_descriptors or OF_CARD)
    needed = ports * holding.queues * (rings + 2 * SPARE) * mbuf_bytes(frame_bytes_max)
    return max(LEAST_MIB, LEAST_MIB // 4 + (needed >> 20))


def mbuf_bytes(frame_bytes_max: int) -> int:
    """Give what one frame of the tester takes of a pool."""
    kib = max(2, -(-(frame_bytes_max + 64) // BUFFER_BYTES))
    return kib * BUFFER_BYTES + BESIDE_BYTES


def peers(macs: Sequence[str], ports: int) -> tuple[str, ...]:
    """Give a destination for each port: one for all, or one each, in their order."""
    return tuple(macs) * ports if len(macs) == 1 else tuple(macs)


def ports_details(opened: Sequence[OpenedPort], holding: Holding) -> tuple[tuple[str, str], ...]:
    """Label and value for the report: the ports as the driver gave them."""
    return (
        ("devices", ", ".join(f"{port.device} ({port.driver})" for port in opened)),
        ("queues", f"{holding.queues} of each port, each way"),
        (
            "descriptors",
            ", ".join(f"{p.rx_descriptors} rx, {p.tx_descriptors} tx" for p in opened),
        ),
        ("links", ", ".join(_link(port) for port in opened)),
        ("NUMA nodes", ", ".join(str(p.numa_node) if p.numa_node >= 0 else "none" for p in opened)),
        ("firmware", ", ".join(port.firmware or "not told" for port in opened)),
        ("pause", ", ".join(port.pause or "not told" for port in opened)),
        ("counted for 64 bytes", ", ".join(_counted(port) for port in opened)),
        ("own discards", ", ".join(_discards(port) for port in opened)),
        ("time stamps", "by the ports" if all(p.hardware_stamps for p in opened) else "software"),
    )


COUNTED = {
    # Measured on emulated cards. Of mlx5 and mlx4 by their sources: DPDK counts the frames that
    # pass the program, by their length in memory (mlx5_rx_burst(), mlx5_tx_burst_tmpl()).
    "mlx5_pci": 60,
    "net_mlx4": 60,
    "net_e1000_igb": 60,
    "net_vmxnet3": 60,
    "net_virtio": 60,
    "net_memif": 60,
    "own_memif": 60,
    "net_ring": 60,
    "net_e1000_igb_vf": 64,
    "net_e1000_em": 64,
}
"""Bytes that a driver of DPDK counts for a frame of 64: without its FCS, or with it."""


def _link(port: OpenedPort) -> str:
    return "not told" if port.link_mbps is None else f"{port.link_mbps / 1e3:g} Gb/s"


def _counted(port: OpenedPort) -> str:
    counted = COUNTED.get(port.driver)
    return "not known" if counted is None else str(counted)


def _discards(port: OpenedPort) -> str:
    return f"{len(port.discards_read)} statistics" if port.discards_read else "none told"
