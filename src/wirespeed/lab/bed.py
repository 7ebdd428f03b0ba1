"""A testbed in memory: tester and DUT started, joined by a wire, and warmed up."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from wirespeed.host.clock import Deadline, sleep_s
from wirespeed.lab.wire import MEMIFS, RING_FRAMES, Wire, open_wire
from wirespeed.measure.bench.dut import Dut, DutDescription, difference
from wirespeed.measure.bench.duts import start_dut
from wirespeed.measure.bench.testbed import BedTrial
from wirespeed.measure.bench.tester import Tester
from wirespeed.measure.bench.tester_ports import mbuf_bytes
from wirespeed.measure.bench.tester_protocol import (
    OpenRequest,
    PortRequest,
    ProgressReply,
    TrialRequest,
    WorkerRequest,
)
from wirespeed.model.error import InputError, MeasurementError
from wirespeed.model.frame_mix import FrameMix, FrameShare
from wirespeed.model.trial import DutReading

WARM_UP_NUMBER = 10**9
"""A number of its own, so that its late frames are told from those of trial 1."""
_TESTER_MAC = "02:00:00:00:00:02"
"""What a DUT writes as destination when it writes one; the tester's port takes any."""
_DEATH_S = 0.5
_WARM_UP = TrialRequest(
    number=WARM_UP_NUMBER,
    mix=FrameMix(shares=(FrameShare(frame_bytes=64),)),
    flows=1,
    load_pps=100_000,
    seconds=0.02,
    prime=True,
    settle_ms=50,
)


class VirtualBed:
    """See `Testbed`. Starts when made; `close` leaves nothing running and no file."""

    def __init__(self, dut: str, wire: str, *, flows: int, frame_bytes_max: int) -> None:
        self._name, self._flows, self._frame_bytes_max = dut, flows, frame_bytes_max
        self._wire: Wire = open_wire(
            wire, frame_bytes_max=frame_bytes_max, tester_memory_mib=_memory_mib(frame_bytes_max)
        )
        self._tester: Tester | None = None
        self._dut: Dut | None = None
        try:
            with self._deaths_come_first():
                self._join(dut, frame_bytes_max)
                self._started_dut.start_trial()
                expect = self._started_dut.description.expect
                self._started_tester.trial(_WARM_UP.model_copy(update={"expect": expect}))
        except BaseException:
            self.close()
            raise

    @property
    def dut(self) -> DutDescription:
        """Give the DUT's name, version and command line."""
        return self._started_dut.description

    @property
    def cpus(self) -> tuple[int, ...]:
        """CPU of the tester's loop, then the DUT's."""
        cpus = (self._wire.tester.worker_cpus[0], self._wire.dut.worker_cpus[0])
        return cpus if cpus[0] != cpus[1] else ()

    @property
    def shares_machine(self) -> bool:
        """Say yes: both run here."""
        return True

    @property
    def streams(self) -> tuple[tuple[int, int], ...]:
        """One port, out and back."""
        return ((0, 0),)

    @property
    def tester_details(self) -> tuple[tuple[str, str], ...]:
        """Label and value for the report."""
        tester, side = self._started_tester, self._wire.tester
        return (
            ("DPDK", tester.hello.dpdk),
            ("instruction set", tester.hello.isa),
            ("device", ", ".join(side.devices)),
            ("lcores", side.lcores()),
            ("queues", "1 tx, 1 rx"),
            ("memory", "hugepages" if side.hugepages else "no hugepages"),
            ("priority", tester.priority),
            ("TSC", f"{tester.hello.tsc_hz / 1e6:.0f} MHz"),
            *(("warning", warning) for warning in self._wire.warnings),
        )

    @property
    def tester_pid(self) -> int:
        """Process id of the tester."""
        return self._started_tester.pid

    def run(
        self, request: TrialRequest, progress: Callable[[ProgressReply], None] | None = None
    ) -> BedTrial:
        """Make one trial, with the DUT's counters read before and after."""
        dut = self._started_dut
        with self._deaths_come_first():
            # Or the DUT would wait for its link until it gives up.
            self._require_tester()
            dut.start_trial()
            before = dut.read()
            watch = () if before.thread is None else (before.thread,)
            watched = request.model_copy(update={"watch": watch})
            result = self._started_tester.trial(watched, progress)
            if self._dut is not dut:
                # One that was started meanwhile counts from its start, and says nothing of this.
                return BedTrial(result=result, dut=DutReading())
            return BedTrial(result=result, dut=difference(before, dut.read()))

    def reset(self) -> None:
        """End the DUT and start it again. Raises InputError `dut.no_reset` on memif."""
        if self._wire.kind in MEMIFS:
            raise InputError(
                "dut.no_reset",
                where=self._name,
                found=f"--wire {self._wire.kind}: its server must be there first, and here it goes",
                next="--wire vhost",
            )
        self._started_dut.close()
        self._start_dut(self._name, self._frame_bytes_max)
        self._started_dut.start_trial()

    def close(self) -> None:
        """End DUT, tester and wire, in the order that the wire needs; a second call is a no-op."""
        dut, self._dut = self._dut, None
        tester, self._tester = self._tester, None
        try:
            if dut is not None:
                # A memif server that still polls crashes now and then when its client leaves.
                dut.close()
        finally:
            try:
                if tester is not None:
                    tester.close()
            finally:
                self._wire.close()

    @contextmanager
    def _deaths_come_first(self) -> Iterator[None]:
        """Tell as a death what it broke: a socket, a link, a trial without answers."""
        try:
            yield
        except MeasurementError as error:
            raise self._cause(error) from None

    def _cause(self, error: MeasurementError) -> MeasurementError:
        """Find the death behind an error; of two, the one that the other followed.

        A process loses its sockets and its threads some time before it has ended. And one that
        polls a memif reads memory that is unmapped when its peer goes: it may follow it, with a
        SIGSEGV, before the peer has ended itself.
        """
        deadline = Deadline(_DEATH_S)
        while True:
            deaths = [self._tester_death(), self._dut_death()]
            causes = [d for d in deaths if d is not None and not _may_have_followed(d)]
            if causes:
                return causes[0]
            if deadline.expired:
                return next((d for d in deaths if d is not None), error)
            sleep_s(0.01)

    def _tester_death(self) -> MeasurementError | None:
        ended = self._tester is not None and not self._tester.alive()
        return self._tester.death() if self._tester is not None and ended else None

    def _dut_death(self) -> MeasurementError | None:
        ended = self._dut is not None and not self._dut.alive()
        return self._dut.death() if self._dut is not None and ended else None

    def _require_tester(self) -> None:
        if (death := self._tester_death()) is not None:
            raise death

    def _require_dut(self) -> None:
        if (death := self._dut_death()) is not None:
            raise death

    def _join(self, dut: str, frame_bytes_max: int) -> None:
        side = self._wire.tester
        request = OpenRequest(
            ports=(
                PortRequest(
                    device=side.devices[0],
                    tx_descriptors=RING_FRAMES,
                    rx_descriptors=RING_FRAMES,
                ),
            ),
            workers=(WorkerRequest(lcore=1, tx=((0, 0),), rx=((0, 0),)),),
            frame_bytes_max=frame_bytes_max,
        )
        if self._wire.kind in MEMIFS:
            self._start_dut(dut, frame_bytes_max)
            self._tester = Tester(side, self._require_dut)
            self._tester.await_opened(self._tester.begin_open(request))
        else:
            # The tester serves the socket and waits inside for the DUT that connects to it.
            self._tester = Tester(side, self._require_dut)
            ticket = self._tester.begin_open(request)
            self._start_dut(dut, frame_bytes_max)
            self._tester.await_opened(ticket)

    def _start_dut(self, name: str, frame_bytes_max: int) -> None:
        self._dut = start_dut(
            name,
            self._wire.dut,
            flows=self._flows,
            tester_mac=_TESTER_MAC,
            frame_bytes_max=frame_bytes_max,
        )

    @property
    def _started_dut(self) -> Dut:
        if self._dut is None:
            raise AssertionError("the testbed is closed")
        return self._dut

    @property
    def _started_tester(self) -> Tester:
        if self._tester is None:
            raise AssertionError("the testbed is closed")
        return self._tester


def _memory_mib(frame_bytes_max: int) -> int:
    """EAL memory for two pools of a ring and a quarter each, with room for the rest."""
    return 128 + 2 * (RING_FRAMES * 5 // 4 + 1024) * mbuf_bytes(frame_bytes_max) // 2**20


def _may_have_followed(death: MeasurementError) -> bool:
    return "killed by SIGSEGV" in death.found or "killed by SIGBUS" in death.found
