"""What is the same in every DUT that is a DPDK program which we start."""

from wirespeed.host.closing import Closing
from wirespeed.measure.bench.dpdk_process import DpdkProcess
from wirespeed.measure.bench.dut import DutDescription
from wirespeed.model.error import MeasurementError


class DpdkDut(Closing):
    """The half of a `Dut` that needs only its process; a subclass makes it forward and reads it."""

    _description: DutDescription
    """Set by the subclass as soon as the program answers."""

    def __init__(self, process: DpdkProcess) -> None:
        self._process = process

    @property
    def description(self) -> DutDescription:
        """Give name, version and command line."""
        return self._description

    def tell(self, *details: tuple[str, str]) -> None:
        """Add to what never changes while it runs."""
        described = self._description
        self._description = described.model_copy(update={"details": (*described.details, *details)})

    @property
    def pid(self) -> int:
        """Give its process id."""
        return self._process.child.pid

    def alive(self) -> bool:
        """Tell whether the process runs."""
        return self._process.child.alive()

    def death(self) -> MeasurementError:
        """Make the error that says how it ended."""
        return self._process.child.death()

    def close(self) -> None:
        """End it: 2 s to quit if it knows how to, 2 s for TERM, then KILL; again: a no-op."""
        self._process.child.close()
