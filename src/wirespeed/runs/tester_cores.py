"""The tester's own cycles a frame on this machine, and the cores that a line rate takes of them."""

from statistics import median

from wirespeed.host.folder import PrivateFolder
from wirespeed.host.procfs import usable_cpus
from wirespeed.measure.bench.cores_needed import LINES, CoresNeeded, cores_needed
from wirespeed.measure.bench.eal_side import EalSide
from wirespeed.measure.bench.tester import Tester
from wirespeed.measure.bench.tester_ports import Holding, open_request
from wirespeed.measure.bench.tester_protocol import PortRequest, TrialRequest
from wirespeed.model.error import MeasurementError
from wirespeed.model.frame_mix import FrameMix, FrameShare
from wirespeed.model.frozen import Frozen

TRIALS = 5
SECONDS = 0.2
FLOWS = 8192
DEVICE = "net_ring0"
MEMORY_MIB = 256


class TesterCycles(Frozen):
    """What one core of the tester spends on a frame that it sends, takes back and judges."""

    frame_bytes: int
    flows: int
    cycles_per_frame: tuple[float, ...]
    """Of each trial, TSC cycles, over a ring in memory that passes pointers."""
    tsc_hz: int
    cpu: int
    driver_cycles: float = 0.0
    """What the user says that the card's driver takes of a frame, both ways."""

    @property
    def typical(self) -> float:
        """Median of the trials, and the driver's."""
        return median(self.cycles_per_frame) + self.driver_cycles

    def needed(self) -> tuple[CoresNeeded, ...]:
        """Give the cores for each line rate."""
        return tuple(
            cores_needed(
                line,
                frame_bytes=self.frame_bytes,
                cycles_per_frame=self.typical,
                tsc_hz=self.tsc_hz,
            )
            for line in LINES
        )


def tester_cycles(frame_bytes: int = 64, driver_cycles: float = 0.0) -> TesterCycles:
    """Measure it on the last CPU that is ours. Raises MeasurementError `tester.*`."""
    cpus = usable_cpus()
    folder = PrivateFolder.create()
    try:
        side = EalSide(
            devices=(DEVICE,),
            file_prefix=f"cores-{folder.path.name.rpartition('-')[2][:8]}",
            runtime_folder=folder.path,
            memory_mib=MEMORY_MIB,
            hugepages=False,
            control_cpu=cpus[0],
            worker_cpus=cpus[-1:],
        )
        with Tester(side) as tester:
            request = open_request(
                [PortRequest(device=DEVICE)],
                Holding(),
                lcores=1,
                frame_bytes_max=max(1518, frame_bytes),
            )
            tester.await_opened(tester.begin_open(request))
            found = [_cycles(tester, number, frame_bytes) for number in range(1, TRIALS + 1)]
            hz = tester.hello.tsc_hz
    finally:
        folder.close()
    return TesterCycles(
        frame_bytes=frame_bytes,
        flows=FLOWS,
        cycles_per_frame=tuple(found),
        tsc_hz=hz,
        cpu=cpus[-1],
        driver_cycles=driver_cycles,
    )


def _cycles(tester: Tester, number: int, frame_bytes: int) -> float:
    mix = FrameMix(shares=(FrameShare(frame_bytes=frame_bytes),))
    result = tester.trial(
        TrialRequest(number=number, mix=mix, flows=FLOWS, load_pps=None, seconds=SECONDS)
    )
    cycles = result.tester.busy_cycles_per_frame
    if cycles is None:
        raise MeasurementError(
            "tester.nothing_offered",
            where=DEVICE,
            found=f"trial {number} sent nothing",
            so="the tester's cycles per frame are not known",
            next="run the same command on an idle machine",
        )
    return cycles
