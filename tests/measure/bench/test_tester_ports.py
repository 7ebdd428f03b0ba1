"""Queues dealt to cores; counts that are exact over many of them; cores that a line rate takes."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from wirespeed.host.clock import Deadline
from wirespeed.host.folder import PrivateFolder
from wirespeed.host.procfs import usable_cpus
from wirespeed.measure.bench.cores_needed import LINES, Line, cores_needed
from wirespeed.measure.bench.dut import DutCounters, difference
from wirespeed.measure.bench.eal_side import EalSide
from wirespeed.measure.bench.l3fwd import START_S
from wirespeed.measure.bench.tester import Tester
from wirespeed.measure.bench.tester_ports import (
    Holding,
    deal,
    memory_mib,
    open_request,
    peers,
    ports_details,
)
from wirespeed.measure.bench.tester_protocol import (
    OpenedPort,
    PortRequest,
    ResultReply,
    StreamRequest,
    TrialRequest,
)
from wirespeed.measure.bench.two_hosts_bed import LINK_WAIT_MS
from wirespeed.measure.bench.windowed_sum import sum_ports
from wirespeed.model.frame_mix import FrameMix, FrameShare
from wirespeed.model.trial import PortCounters

MAC, OTHER = "02:00:00:00:00:02", "02:00:00:00:00:03"


@pytest.mark.parametrize("ports", [1, 2])
@pytest.mark.parametrize("queues", [1, 2, 7, 16])
@pytest.mark.parametrize("lcores", [1, 2, 3, 16])
def test_every_queue_has_one_core_each_way_and_every_core_something_to_do(
    ports: int, queues: int, lcores: int
):
    if lcores > 2 * ports * queues:
        with pytest.raises(ValueError, match="two of them serve one at most"):
            deal(ports, queues, lcores)
        return
    workers = deal(ports, queues, lcores)
    every = sorted((port, queue) for port in range(ports) for queue in range(queues))
    assert sorted(one for worker in workers for one in worker.tx) == every
    assert sorted(one for worker in workers for one in worker.rx) == every
    assert [worker.lcore for worker in workers] == list(range(1, lcores + 1))
    loads = [len(worker.tx) + len(worker.rx) for worker in workers]
    assert min(loads) > 0
    assert max(loads) - min(loads) <= 2


def test_two_cores_have_a_port_each_and_two_of_one_queue_a_way_each():
    assert [(w.tx, w.rx) for w in deal(2, 1, 2)] == [(((0, 0),),) * 2, (((1, 0),),) * 2]
    assert [(w.tx, w.rx) for w in deal(1, 1, 2)] == [(((0, 0),), ()), ((), ((0, 0),))]


def test_more_queues_than_a_core_can_have_are_refused():
    with pytest.raises(ValueError, match="33 queues for 1 cores: 32 each at most"):
        deal(3, 11, 1)


def test_a_port_is_asked_for_as_it_is_to_be_held():
    holding = Holding(queues=4, rx_descriptors=512, tx_descriptors=2048)
    ports = [
        PortRequest(device=f"net_ring{number}", peer_mac=mac)
        for number, mac in enumerate(peers((MAC, OTHER), 2))
    ]
    request = open_request(ports, holding, lcores=2, frame_bytes_max=1518)
    assert [port.peer_mac for port in request.ports] == [MAC, OTHER]
    assert {(p.tx_queues, p.rx_queues) for p in request.ports} == {(4, 4)}
    assert {(p.rx_descriptors, p.tx_descriptors) for p in request.ports} == {(512, 2048)}
    assert peers((MAC,), 2) == (MAC, MAC)


class Patient(Tester):
    """Keeps for how long an answer is waited for."""

    def __init__(self) -> None:
        self.waits_s = 0.0

    def _ask(self, *_: object) -> int:
        return 1

    def _await(self, ticket: int, kind: Any, deadline: Deadline, progress: Any = None) -> Any:
        self.waits_s = deadline.timeout_s


def test_a_forwarder_that_takes_its_time_is_waited_for_by_every_port():
    """A port without a driver has no link: the tester's waits until the forwarder has started."""
    ports = [PortRequest(device=f"0000:3b:00.{number}") for number in (0, 1)]
    request = open_request(
        ports, Holding(), lcores=1, frame_bytes_max=1518, link_wait_ms=LINK_WAIT_MS
    )
    assert LINK_WAIT_MS / 1000 >= 2 * START_S
    tester = Patient()
    tester.await_opened(tester.begin_open(request))
    # The tester waits for one port's link after the other's (open_ports() in tester/main.c).
    assert tester.waits_s > 2 * LINK_WAIT_MS / 1000


def test_memory_grows_with_what_is_held():
    assert memory_mib(2, Holding(), frame_bytes_max=1518) == 1024
    # 2 ports x 16 queues x (2 rings of 8192 + 2 x 4224 spare) x 2432 B = 1843 MiB
    big = Holding(queues=16, rx_descriptors=8192, tx_descriptors=8192)
    assert memory_mib(2, big, frame_bytes_max=1518) == 256 + 1843


@pytest.mark.parametrize(
    ("driver", "counted"),
    # Of mlx5 and mlx4: PKT_LEN() of the mbuf, without the FCS (mlx5_rx.c, mlx4_rxtx.c).
    [("mlx5_pci", "60"), ("net_mlx4", "60"), ("net_e1000_igb", "60"), ("net_new", "not known")],
)
def test_the_record_says_what_a_driver_counts_for_64_bytes(driver: str, counted: str):
    port = OpenedPort(
        port=0, device="0000:3b:00.0", driver=driver, mac=MAC, link_up=True, link_mbps=100_000,
        numa_node=0, tx_descriptors=4096, rx_descriptors=4096, hardware_stamps=False, pool_bytes=0,
    )  # fmt: skip
    assert dict(ports_details([port], Holding()))["counted for 64 bytes"] == counted


@pytest.mark.parametrize(
    ("line", "mpps", "cores"),
    # 10^9 bit/s over 84 bytes of 8 bits; 40 cycles of 2 GHz are 50 Mpps a core.
    [
        (LINES[0], 148.809524, 3),
        (LINES[1], 297.619048, 6),
        (LINES[2], 595.238095, 12),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_a_line_rate_takes_its_frames_times_cycles(line: Line, mpps: float, cores: int):
    needed = cores_needed(line, frame_bytes=64, cycles_per_frame=40, tsc_hz=2e9)
    assert needed.pps == pytest.approx(mpps * 1e6)
    assert needed.cores == cores


@pytest.fixture(name="folder")
def _folder() -> Iterator[Path]:
    folder = PrivateFolder.create()
    yield folder.path
    folder.close()


def run(
    folder: Path, devices: tuple[str, ...], queues: int, streams: tuple[tuple[int, int], ...]
) -> ResultReply:
    """10,000 frames of 1000 flows on two cores; the machine may stand still."""
    cpus = usable_cpus()
    # As many lcores as queues: net_ring has one ring for each lcore of the EAL.
    lcores = [cpus[number % len(cpus)] for number in range(max(2, queues))]
    side = EalSide(
        devices=devices,
        file_prefix=folder.name.rpartition("-")[2][:8],
        runtime_folder=folder,
        memory_mib=1024,
        hugepages=False,
        control_cpu=cpus[0],
        worker_cpus=tuple(lcores),
    )
    ports = [PortRequest(device=device) for device in devices]
    with Tester(side) as tester:
        request = open_request(ports, Holding(queues=queues), lcores=2, frame_bytes_max=1518)
        tester.await_opened(tester.begin_open(request))
        return tester.trial(
            TrialRequest(
                number=1,
                mix=FrameMix(shares=(FrameShare(frame_bytes=64),)),
                streams=tuple(StreamRequest(tx_port=tx, rx_port=rx) for tx, rx in streams),
                flows=1000,
                load_pps=50_000,
                seconds=0.2,
                prime=True,
                gap_limit_ms=10_000,
                stalled_share=1,
            )
        )


def assert_exact(result: ResultReply, queues: int) -> None:
    assert sum(stream.intended_frames for stream in result.streams) == 10_000
    for stream in result.streams:
        assert stream.in_order_frames == stream.offered_frames - stream.refused_frames
        others = (
            stream.reordered_frames,
            stream.duplicated_frames,
            stream.corrupted_frames,
            stream.misdelivered_frames,
            stream.foreign_frames,
        )
        assert others == (0,) * 5
    assert not [r for r in result.invalid_reasons if "flow_at_two_queues" in r], queues


@pytest.mark.dpdk
@pytest.mark.parametrize("queues", [2, 16])
def test_counts_are_exact_over_queues_of_a_ring_on_two_cores(folder: Path, queues: int):
    assert_exact(run(folder, ("net_ring0",), queues, ((0, 0),)), queues)


@pytest.mark.dpdk
@pytest.mark.parametrize("client", ["net_memif1,role=client,id=0,socket-abstract=no", "own_memif0"])
@pytest.mark.parametrize("queues", [2, 16])
def test_counts_are_exact_over_queues_of_memif_both_ways_on_two_cores(
    folder: Path, queues: int, client: str
):
    """Both ends are ours: the frames of one come in at the other."""
    server = f"net_memif0,role=server,id=0,socket={folder}/m,socket-abstract=no"
    devices = (server, f"{client},socket={folder}/m")
    assert_exact(run(folder, devices, queues, ((0, 1), (1, 0))), queues)


def test_discards_are_added_over_windows_and_a_forwarder_has_none():
    counts = dict.fromkeys(PortCounters.model_fields.keys() - {"discards"}, 0)
    one = PortCounters(**counts, discards={"rx_phy_crc_errors": 2})
    other = PortCounters(**counts, discards={"rx_phy_crc_errors": 3, "rx_phy_discard_packets": 1})
    (added,) = sum_ports([(one,), (other,)])
    assert added.discards == {"rx_phy_crc_errors": 5, "rx_phy_discard_packets": 1}
    read = difference(DutCounters(ports=(one,)), DutCounters(ports=(other,)))
    assert [port.discards for port in read.ports] == [{}]
