"""Who is told what a campaign does."""

from wirespeed.measure.bench.tester_protocol import ProgressReply
from wirespeed.measure.search.search import Observer, Progress
from wirespeed.model.frame_mix import FrameMix
from wirespeed.model.trial import Outcome, Trial


class Listener:
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.started: list[int] = []
        self.announced: list[Progress] = []

    def search_started(self, number: int, dut: str, mix: FrameMix) -> None:
        self.started.append(number)

    def search_observer(self) -> Observer:
        return self.announced.append

    def trial_progress(self, progress: ProgressReply) -> None:
        pass

    def trial_ended(self, trial: Trial) -> None:
        pass

    def search_ended(self, outcome: Outcome) -> None:
        pass
