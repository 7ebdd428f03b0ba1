"""Tester and DUT, joined and ready: what a series of trials is made on."""

from collections.abc import Callable
from typing import Protocol, runtime_checkable

from wirespeed.measure.bench.dut import DutDescription
from wirespeed.measure.bench.tester_protocol import ProgressReply, ResultReply, TrialRequest
from wirespeed.model.frozen import Frozen
from wirespeed.model.trial import DutReading


class BedTrial(Frozen):
    """One trial's two accounts: the tester's and the DUT's."""

    result: ResultReply
    dut: DutReading


class Testbed(Protocol):
    """A DUT and a tester that can reach it. Errors are MeasurementError or InputError."""

    @property
    def dut(self) -> DutDescription:
        """The DUT on it."""
        ...

    @property
    def cpus(self) -> tuple[int, ...]:
        """CPUs of the hot loops, the tester's first, the DUT's last; empty if not all are here."""
        ...

    @property
    def tester_details(self) -> tuple[tuple[str, str], ...]:
        """Label and value for the report: DPDK, instruction set, devices, lcores."""
        ...

    @property
    def shares_machine(self) -> bool:
        """Whether DUT and tester run on one machine: its stalls then hit both."""
        ...

    @property
    def streams(self) -> tuple[tuple[int, int], ...]:
        """Ports that send and the ports their frames are due at."""
        ...

    def run(
        self, request: TrialRequest, progress: Callable[[ProgressReply], None] | None = None
    ) -> BedTrial:
        """Make one trial, with the DUT's counters read before and after."""
        ...

    def close(self) -> None:
        """Leave nothing running."""
        ...


@runtime_checkable
class Resettable(Protocol):
    """A testbed that can end its DUT and start it again while the tester sends."""

    def reset(self) -> None:
        """Return when it forwards again. Raises MeasurementError `dut.*`, InputError."""
        ...
