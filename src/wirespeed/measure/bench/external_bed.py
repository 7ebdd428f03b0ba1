"""A testbed with a DUT that someone else runs: the tester's own ports, and nothing to start.

Not proven on hardware: here it has only been run on vdevs.
"""

from collections.abc import Callable

from wirespeed.host.folder import PrivateFolder
from wirespeed.measure.bench.dut import Dut, DutDescription, difference
from wirespeed.measure.bench.eal_side import VDEVS, EalSide
from wirespeed.measure.bench.testbed import BedTrial
from wirespeed.measure.bench.tester import Tester
from wirespeed.measure.bench.tester_ports import (
    Holding,
    memory_mib,
    open_request,
    peers,
    ports_details,
)
from wirespeed.measure.bench.tester_protocol import (
    OpenedReply,
    OpenRequest,
    PortRequest,
    ProgressReply,
    TrialRequest,
)
from wirespeed.model.frozen import Frozen


class ExternalPorts(Frozen):
    """The tester's ports and how frames find their way between them."""

    devices: tuple[str, ...]
    streams: tuple[tuple[int, int], ...]
    """Ports that send and the ports their frames are due at."""
    peer_macs: tuple[str, ...]
    """Destination of the frames: of all ports, or of each."""
    control_cpu: int
    worker_cpus: tuple[int, ...]
    """Queues are dealt to them in turn."""
    hugepages: bool
    frame_bytes_max: int
    holding: Holding = Holding()
    inside: tuple[str, ...] = ()
    """Words that the tester's command begins with, where its ports are in a namespace."""


class ExternalBed:
    """See `Testbed`. Opens the ports when made; use `close`."""

    def __init__(self, dut: Dut, ports: ExternalPorts) -> None:
        self._dut, self._ports = dut, ports
        self._primed = False
        self._folder = PrivateFolder.create()
        self._tester: Tester | None = None
        try:
            self._tester = Tester(
                EalSide(
                    devices=ports.devices,
                    file_prefix=f"tester-{self._folder.path.name.rpartition('-')[2][:8]}",
                    runtime_folder=self._folder.path,
                    memory_mib=memory_mib(
                        len(ports.devices), ports.holding, frame_bytes_max=ports.frame_bytes_max
                    ),
                    hugepages=ports.hugepages,
                    control_cpu=ports.control_cpu,
                    worker_cpus=ports.worker_cpus,
                    inside=ports.inside,
                )
            )
            ticket = self._tester.begin_open(self._request())
            self._opened: OpenedReply = self._tester.await_opened(ticket)
        except BaseException:
            self.close()
            raise

    @property
    def dut(self) -> DutDescription:
        """Give what the user said of it."""
        return self._dut.description

    @property
    def cpus(self) -> tuple[int, ...]:
        """CPUs of the tester's loops."""
        return self._ports.worker_cpus if len(self._ports.worker_cpus) > 1 else ()

    @property
    def shares_machine(self) -> bool:
        """Say no: its stalls are the DUT's own."""
        return False

    @property
    def streams(self) -> tuple[tuple[int, int], ...]:
        """Ports that send and the ports their frames are due at."""
        return self._ports.streams

    @property
    def tester_details(self) -> tuple[tuple[str, str], ...]:
        """Label and value for the report."""
        hello = self._started.hello
        return (
            ("DPDK", hello.dpdk),
            ("instruction set", hello.isa),
            *ports_details(self._opened.ports, self._ports.holding),
            ("CPUs", ", ".join(map(str, self._ports.worker_cpus))),
            ("memory", "hugepages" if self._ports.hugepages else "no hugepages"),
            ("priority", self._started.priority),
            ("TSC", f"{hello.tsc_hz / 1e6:.0f} MHz"),
        )

    def run(
        self, request: TrialRequest, progress: Callable[[ProgressReply], None] | None = None
    ) -> BedTrial:
        """Make one trial; the first one learns the addresses that frames come back with."""
        before = self._dut.read()
        first = request.model_copy(update={"prime": not self._primed})
        result = self._started.trial(first, progress)
        self._primed = True
        return BedTrial(result=result, dut=difference(before, self._dut.read()))

    def close(self) -> None:
        """End the tester; a second call does nothing."""
        tester, self._tester = self._tester, None
        try:
            if tester is not None:
                tester.close()
        finally:
            self._folder.close()

    def _request(self) -> OpenRequest:
        ports = self._ports
        return open_request(
            [
                PortRequest(
                    device=device,
                    peer_mac=mac,
                    # A card that takes no more is the tester's limit, and so is a socket, which the
                    # tester's own thread empties; a virtual ring is the DUT's.
                    refused="dut" if _is_ring_of_dut(device) else "tester",
                )
                for device, mac in zip(
                    ports.devices, peers(ports.peer_macs, len(ports.devices)), strict=True
                )
            ],
            ports.holding,
            lcores=len(ports.worker_cpus),
            frame_bytes_max=ports.frame_bytes_max,
        )

    @property
    def _started(self) -> Tester:
        if self._tester is None:
            raise AssertionError("the testbed is closed")
        return self._tester


def _is_ring_of_dut(device: str) -> bool:
    return device.startswith(VDEVS) and not device.startswith("net_af_packet")
