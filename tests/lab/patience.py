"""Trials on a machine that is busy with other tests: void ones are tried for longer."""

from wirespeed.host.clock import Deadline
from wirespeed.measure.bench.trial_maker import TrialMaker
from wirespeed.measure.search.measurer import Sample
from wirespeed.model.error import MeasurementError

PATIENCE_S = 120.0


def patiently_measured(maker: TrialMaker, load_pps: float, seconds: float) -> Sample:
    """Measure until a trial is valid. A fault of tester or DUT voids none, and is seen at once."""
    deadline = Deadline(PATIENCE_S)
    while True:
        try:
            return maker.measure(load_pps, seconds, "search")
        except MeasurementError as error:
            if error.what != "trial.never_valid" or deadline.expired:
                raise
