"""A DUT that someone else runs: a host behind real ports. Nothing to start, nothing to read."""

from wirespeed.measure.bench.dut import DutCounters, DutDescription, Expect
from wirespeed.model.error import MeasurementError


class ExternalDut:
    """See `Dut`. `expect` is what the user says it does to a frame."""

    def __init__(self, name: str, expect: Expect, *, version: str = "not told") -> None:
        self._description = DutDescription(
            name=name, version=version, command_line="", expect=expect, cpu=None
        )

    @property
    def description(self) -> DutDescription:
        """Give what the user said of it."""
        return self._description

    def start_trial(self) -> None:
        """Do nothing: it forwards, or the trial will show that it does not."""

    def end_trial(self) -> None:
        """Do nothing."""

    def read(self) -> DutCounters:
        """Read nothing: every count is None."""
        return DutCounters()

    def alive(self) -> bool:
        """Say yes: it cannot be checked from here."""
        return True

    def death(self) -> MeasurementError:
        """Make an error that says that this cannot be known."""
        return MeasurementError(
            "dut.unknown",
            where=self._description.name,
            found="wirespeed does not start this DUT",
            next="check on the DUT itself that it still forwards",
        )

    def close(self) -> None:
        """Do nothing: it is not ours to end."""
