"""The two generators: ours and testpmd's own, on the same CPUs and kinds of device."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench_pairs import DisturbedError
from wirespeed.host import procfs
from wirespeed.host.clock import monotonic_s, sleep_s
from wirespeed.host.folder import PrivateFolder
from wirespeed.lab.placement import Placement, place
from wirespeed.measure.bench.dpdk_process import DpdkProcess
from wirespeed.measure.bench.eal_side import EalSide
from wirespeed.measure.bench.tester import Tester
from wirespeed.measure.bench.tester_ports import Holding, open_request
from wirespeed.measure.bench.tester_protocol import PortRequest, ResultReply, TrialRequest
from wirespeed.measure.bench.testpmd import Ports, argv
from wirespeed.measure.bench.testpmd_output import Forwarding, parse_forwarding
from wirespeed.model.frame_mix import FrameMix
from wirespeed.model.frozen import Frozen

FLOWS = 8192
BURST = 64
FRAME_BYTES_MAX = 1518
MAX_AWAY = 0.01
"""Share of a sample's time that its core may have been taken away."""
_WARM_UP_S = 0.2
_START_S = 30.0
_END = "# end of command"


def placement() -> Placement:
    """Where generator and DUT run on this machine."""
    return place([procfs.read_topology(cpu) for cpu in procfs.usable_cpus()])


def eal_side(folder: Path, prefix: str, device: str, cpu: int, control_cpu: int) -> EalSide:
    """One program without hugepages, on one CPU."""
    return EalSide(
        devices=(device,),
        file_prefix=prefix,
        runtime_folder=folder,
        memory_mib=512,
        hugepages=False,
        single_file_segments=device.startswith("net_memif"),
        control_cpu=control_cpu,
        worker_cpus=(cpu,),
    )


@contextmanager
def on_one_core(*devices: str) -> Iterator[tuple[EalSide, ...]]:
    """Give one side for each device, all for the same CPU: they take turns."""
    places = placement()
    with PrivateFolder.create() as folder:
        yield tuple(
            eal_side(folder.path, f"bench{i}", device, places.tester_cpus[0], places.control_cpu)
            for i, device in enumerate(devices)
        )


@contextmanager
def tester(
    side: EalSide,
    *,
    isa: str | None = None,
    descriptors: int = 0,
    queues: int = 1,
    lcores: int = 1,
) -> Iterator[Tester]:
    """Start ours, its port's queues dealt to `lcores`; `isa` as WIRESPEED_ISA has it."""
    before = os.environ.pop("WIRESPEED_ISA", None)
    if isa is not None:
        os.environ["WIRESPEED_ISA"] = isa
    try:
        started = Tester(side)
    finally:
        os.environ.pop("WIRESPEED_ISA", None)
        if before is not None:
            os.environ["WIRESPEED_ISA"] = before
    with started:
        held = Holding(queues=queues, rx_descriptors=descriptors, tx_descriptors=descriptors)
        port = PortRequest(device=side.devices[0])
        request = open_request([port], held, lcores=lcores, frame_bytes_max=FRAME_BYTES_MAX)
        started.await_opened(started.begin_open(request))
        yield started


class Trials:
    """Trials at all that the tester can send."""

    def __init__(self, started: Tester, *, prime: bool, cpus: tuple[int, ...] = ()) -> None:
        self._tester, self._prime, self._cpus = started, prime, cpus
        self._number = 0

    def run(self, seconds: float, flows: int = FLOWS) -> ResultReply:
        """Make one of 64-byte frames. Raises DisturbedError if it is void."""
        self._number += 1
        result = self._tester.trial(
            TrialRequest(
                number=self._number,
                mix=FrameMix.parse("64"),
                flows=flows,
                load_pps=None,
                seconds=seconds,
                burst_frames=BURST,
                prime=self._prime,
                cpus=self._cpus,
            )
        )
        if not result.valid:
            raise DisturbedError("; ".join(result.invalid_reasons))
        return result


def cycles_per_frame(result: ResultReply) -> float:
    """All TSC cycles of the core over the frames offered: for one core that does everything."""
    offered = sum(stream.offered_frames for stream in result.streams)
    return result.tester.tsc_hz * result.measured_seconds / offered


class PeerRun(Frozen):
    """What testpmd generated in one sample."""

    sent_pps: float
    received_pps: float
    cycles_per_packet: float
    """Its own count, over the packets that the port took."""
    refused_share: float


class Peer:
    """testpmd as a generator. Idle until `run`."""

    def __init__(self, side: EalSide, mode: str, *options: str, mbufs: int = 32768) -> None:
        line = argv(side, mode, ports=Ports(), mbufs=mbufs, burst=BURST)
        # 60 bytes: 64 with the FCS, as ours.
        self._process = DpdkProcess([*line, "--txpkts=60", *options], side, quit_line="quit")
        try:
            self._command("set record-core-cycles on")
        except BaseException:
            self.close()
            raise

    @property
    def command_line(self) -> str:
        """As it was started, without the EAL's part."""
        return "dpdk-testpmd … -- " + self._process.command_line.partition(" -- ")[2]

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.child.pid

    def run(self, seconds: float) -> PeerRun:
        """Generate. Raises DisturbedError if its core was taken away."""
        self._process.await_link(_START_S)
        self._command("start")
        sleep_s(_WARM_UP_S)
        began, before = monotonic_s(), self._process.read()
        sleep_s(seconds)
        took, after = monotonic_s() - began, self._process.read()
        forwarding = self._stop()
        away_ns = (
            (after.cpu_wait_ns or 0)
            - (before.cpu_wait_ns or 0)
            + (after.steal_ns or 0)
            - (before.steal_ns or 0)
        )
        if away_ns > MAX_AWAY * took * 1e9:
            raise DisturbedError(f"testpmd's core was taken away for {away_ns / 1e6:.1f} ms")
        if not forwarding.busy_cycles or not forwarding.busy_packets:
            raise DisturbedError("testpmd counted no cycles")
        sent = sum(port.tx_packets for port in forwarding.ports)
        return PeerRun(
            sent_pps=(after.ports[0].opackets - before.ports[0].opackets) / took,
            received_pps=(after.ports[0].ipackets - before.ports[0].ipackets) / took,
            cycles_per_packet=forwarding.busy_cycles / forwarding.busy_packets,
            refused_share=forwarding.tx_dropped / (sent + forwarding.tx_dropped),
        )

    def close(self) -> None:
        """End it."""
        self._process.child.close()

    def __enter__(self) -> "Peer":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _stop(self) -> Forwarding:
        return parse_forwarding(self._command("stop"))

    def _command(self, line: str) -> list[str]:
        """Testpmd echoes what it reads: a comment's echo ends what stands before it."""
        self._process.child.write_line(line)
        self._process.child.write_line(_END)
        return self._process.read_until(re.compile(f"{_END}$"), _START_S)
