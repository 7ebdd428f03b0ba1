"""A testbed whose DUT is this machine's kernel: the tester's ports are ends of veth pairs."""

from collections.abc import Callable

from wirespeed.host import procfs
from wirespeed.lab.placement import place
from wirespeed.measure.bench.dut import DutDescription
from wirespeed.measure.bench.external_bed import ExternalBed, ExternalPorts
from wirespeed.measure.bench.kernel_path import KERNEL_DUTS, PORTS, KernelPath
from wirespeed.measure.bench.testbed import BedTrial
from wirespeed.measure.bench.tester_protocol import ProgressReply, TrialRequest

PEER_MAC = "02:00:00:00:00:01"
"""Of nobody: both bridges flood it, and each has one other port."""
RING = "blocksz=16384,framesz=2048,framecnt=4096"
"""Of af_packet, for each direction of each port: 8 MB. What comes while its thread is away waits
here, as the tester's own rings do elsewhere."""
MOST_AT_ONCE = 8
"""Frames that the kernel is handed in one call. It takes them one by one within the tester's own
turn, and a turn of more than 50 us is a stall."""


class KernelBed:
    """See `Testbed`. Starts when made; `close` leaves nothing running and no namespace."""

    def __init__(self, dut: str, *, frame_bytes_max: int) -> None:
        places = place([procfs.read_topology(cpu) for cpu in procfs.usable_cpus()])
        self._path = KernelPath(
            KERNEL_DUTS[dut], cpu=places.dut_cpu, frame_bytes_max=frame_bytes_max
        )
        try:
            self._bed = ExternalBed(
                self._path,
                ExternalPorts(
                    devices=tuple(
                        f"net_af_packet{number},iface={port},{RING}"
                        for number, port in enumerate(PORTS)
                    ),
                    streams=((0, 1),),
                    peer_macs=(PEER_MAC,),
                    control_cpu=places.control_cpu,
                    worker_cpus=places.tester_cpus,
                    hugepages=False,
                    frame_bytes_max=frame_bytes_max,
                    inside=self._path.inside,
                ),
            )
        except BaseException:
            self._path.close()
            raise
        both = (places.tester_cpus[0], places.dut_cpu)
        self._cpus = both if both[0] != both[1] else ()

    @property
    def dut(self) -> DutDescription:
        """Give the path and the kernel's version."""
        return self._path.description

    @property
    def inside(self) -> tuple[str, ...]:
        """Words that a command begins with to run at the near end of the path."""
        return self._path.inside

    @property
    def cpus(self) -> tuple[int, ...]:
        """CPU of the tester's loop, then the one that packets are steered to."""
        return self._cpus

    @property
    def shares_machine(self) -> bool:
        """Say yes: both run here."""
        return True

    @property
    def streams(self) -> tuple[tuple[int, int], ...]:
        """Out at one port, back at the other."""
        return self._bed.streams

    @property
    def tester_details(self) -> tuple[tuple[str, str], ...]:
        """Label and value for the report."""
        return self._bed.tester_details

    def run(
        self, request: TrialRequest, progress: Callable[[ProgressReply], None] | None = None
    ) -> BedTrial:
        """Make one trial, with the kernel's counters read before and after."""
        burst = min(request.burst_frames, MOST_AT_ONCE)
        return self._bed.run(request.model_copy(update={"burst_frames": burst}), progress)

    def close(self) -> None:
        """End the tester, then let the namespaces go; a second call does nothing."""
        try:
            self._bed.close()
        finally:
            self._path.close()
