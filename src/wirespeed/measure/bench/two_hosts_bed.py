"""A testbed of two hosts: the tester on one, the forwarder on the other, their ports cabled.

    both started over SSH --> warm-up: addresses learned --> trials --> both ended, and seen to be

The DUT's counters are read before and after each trial, over the same SSH: a counter that cannot
be read ends the trial, and is no zero. A reset ends the forwarder and starts it again at a place of
its own.
"""

from collections.abc import Callable
from contextlib import ExitStack

from wirespeed.host.runner import Runner
from wirespeed.measure.bench.dut import Dut, DutDescription, difference
from wirespeed.measure.bench.program_host import FarHost
from wirespeed.measure.bench.testbed import BedTrial
from wirespeed.measure.bench.tester import Tester, find_tester
from wirespeed.measure.bench.tester_ports import ANY_MAC, Holding, open_request, ports_details
from wirespeed.measure.bench.tester_protocol import (
    OpenedReply,
    OpenRequest,
    PortRequest,
    ProgressReply,
    TrialRequest,
)
from wirespeed.model.frozen import Frozen
from wirespeed.model.trial import DutReading

LINK_WAIT_MS = 60_000
"""The DUT's ports have no link before its forwarder has started, meanwhile: it is sent
there, takes its hugepages, and is given 30 s and more to answer; then links are trained."""
WARM_UP_NUMBER = 10**9
"""A number of its own, so that its late frames are told from those of trial 1."""
_WARM_UP = {
    "number": WARM_UP_NUMBER, "load_pps": 500.0, "seconds": 0.1, "prime": True, "then": None,
}  # fmt: skip


class End(Frozen):
    """One of the two hosts."""

    reach: str
    devices: tuple[str, ...]
    """By the order in which they are cabled; with options for their driver."""
    macs: tuple[str | None, ...]
    """Of the ports, in that order; None where no driver of the kernel knows it."""
    control_cpu: int
    worker_cpus: tuple[int, ...]
    memory_mib: int


class TwoHosts(Frozen):
    """Both ends, and how frames go."""

    tester: End
    dut: End
    streams: tuple[tuple[int, int], ...]
    """Ports of the tester that send, and those that the frames are due at."""
    frame_bytes_max: int
    holding: Holding = Holding()
    """Of the tester's ports."""
    peer_macs: tuple[str, ...] = ()
    """Destinations of the tester's frames, one for each of its ports; empty: the DUT's ports."""


StartDut = Callable[[FarHost], Dut]
"""Starts the forwarder at its place. Raises InputError, MeasurementError."""


class TwoHostsBed:
    """See `Testbed`. Starts when made; `close` leaves nothing running on either host."""

    def __init__(
        self, hosts: TwoHosts, start_dut: StartDut, runners: tuple[Runner, Runner]
    ) -> None:
        """`runners` reach the tester's host, then the DUT's."""
        self._hosts = hosts
        self._start, self._to_dut = start_dut, runners[1]
        self._primed = False
        self._stack = ExitStack()
        try:
            # Closed in the reverse order: the forwarder first, then the tester.
            at = self._stack.enter_context(FarHost(hosts.tester.reach, runners[0]))
            self._place = FarHost(hosts.dut.reach, runners[1])
            self._stack.callback(self._end_dut)
            program = at.program("wirespeed-tester", ours=find_tester())
            self._compiler = at.compiler(program)
            end = hosts.tester
            side = at.side(
                end.devices,
                prefix="wirespeed-tester",
                memory_mib=end.memory_mib,
                control_cpu=end.control_cpu,
                worker_cpus=end.worker_cpus,
            )
            self._tester = Tester(side, self._require_dut, program=program)
            self._stack.callback(self._tester.close)
            ticket = self._tester.begin_open(self._request())
            self._dut = start_dut(self._place)
            self._opened: OpenedReply = self._tester.await_opened(ticket)
        except BaseException:
            self.close()
            raise

    @property
    def dut(self) -> DutDescription:
        """Give the DUT's name, version and command line."""
        return self._dut.description

    @property
    def cpus(self) -> tuple[int, ...]:
        """Give the tester's, where it has some: the DUT's are on another host."""
        cpus = self._hosts.tester.worker_cpus
        return cpus if len(cpus) > 1 else ()

    @property
    def shares_machine(self) -> bool:
        """Say no: its stalls are the DUT's own."""
        return False

    @property
    def streams(self) -> tuple[tuple[int, int], ...]:
        """Ports that send and the ports their frames are due at."""
        return self._hosts.streams

    @property
    def tester_details(self) -> tuple[tuple[str, str], ...]:
        """Label and value for the report, as its ports were opened."""
        hello, end = self._tester.hello, self._hosts.tester
        ports = self._opened.ports
        return (
            ("host", end.reach),
            ("DPDK", hello.dpdk),
            *self._compiler,
            ("instruction set", hello.isa),
            *ports_details(ports, self._hosts.holding),
            ("CPUs", f"{', '.join(map(str, end.worker_cpus))}; control {end.control_cpu}"),
            ("memory", "hugepages" if hello.hugepages else "no hugepages"),
            ("TSC", f"{hello.tsc_hz / 1e6:.0f} MHz"),
        )

    def run(
        self, request: TrialRequest, progress: Callable[[ProgressReply], None] | None = None
    ) -> BedTrial:
        """Make one trial, with the DUT's counters read before and after."""
        self._require_dut()
        dut = self._dut
        dut.start_trial()
        if not self._primed:
            # Frames that learn addresses are in the DUT's counters, so they come before.
            self._tester.trial(request.model_copy(update=_WARM_UP))
            self._primed = True
        before = dut.read()
        result = self._tester.trial(request, progress)
        if self._dut is not dut:
            # One that was started meanwhile counts from its start, and says nothing of this.
            return BedTrial(result=result, dut=DutReading(far=True))
        return BedTrial(result=result, dut=difference(before, dut.read()))

    def reset(self) -> None:
        """See `Resettable`. What was sent there is copied before the forwarder is ended."""
        place = FarHost(self._hosts.dut.reach, self._to_dut)
        try:
            place.like(self._place)
            self._end_dut()
        except BaseException:
            place.close()
            raise
        self._place = place
        self._dut = self._start(place)
        self._dut.start_trial()

    def close(self) -> None:
        """End both, and wait until they are gone; a second call does nothing."""
        self._stack.close()

    def _end_dut(self) -> None:
        """End the forwarder, and wait until it is gone; a second call does nothing."""
        dut: Dut | None = getattr(self, "_dut", None)
        try:
            if dut is not None:
                dut.close()
        finally:
            self._place.close()

    def _require_dut(self) -> None:
        dut: Dut | None = getattr(self, "_dut", None)
        if dut is not None and not dut.alive():
            raise dut.death()

    def _request(self) -> OpenRequest:
        end, macs = self._hosts.tester, self._hosts.peer_macs or self._hosts.dut.macs
        return open_request(
            [
                PortRequest(device=device, peer_mac=mac or ANY_MAC, refused="tester")
                for device, mac in zip(end.devices, macs, strict=True)
            ],
            self._hosts.holding,
            lcores=len(end.worker_cpus),
            frame_bytes_max=self._hosts.frame_bytes_max,
            link_wait_ms=LINK_WAIT_MS,
        )
