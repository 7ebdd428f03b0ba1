"""Trials of a command of the user's, each on disk before the next begins."""

from collections.abc import Callable, Mapping

from wirespeed.host.clock import monotonic_s, utc_now
from wirespeed.host.runner import Runner
from wirespeed.measure.workload.figure import Reading, figure_pattern, read_figure
from wirespeed.measure.workload.watch import CounterSource, watched
from wirespeed.model.error import MeasurementError
from wirespeed.model.workload_trial import Workload, WorkloadTrial


def run_trials(
    workload: Workload,
    numbers: range,
    runner: Runner,
    hosts: Mapping[str, CounterSource],
    record: Callable[[WorkloadTrial], None],
) -> None:
    """Run the command once for each number, one after the other.

    A run that fails is a trial that failed. Raises InputError `command.missing`, and
    MeasurementError `figure.not_found` after a run that ended well without a figure.
    """
    pattern = figure_pattern(workload.figure)
    for number in numbers:
        started_at, started = utc_now(), monotonic_s()
        with watched(hosts) as uses:
            try:
                completed = runner.run(workload.argv, timeout_s=workload.limit_seconds)
                seconds = completed.duration_s
                reading = read_figure(completed, pattern)
            except MeasurementError as error:
                seconds = monotonic_s() - started
                reading = Reading(None, failed="; ".join(filter(None, (error.found, error.so))))
        record(
            WorkloadTrial(
                label=workload.label,
                number=number,
                started_at=started_at,
                seconds=seconds,
                figure=reading.figure,
                line=reading.line,
                failed=reading.failed,
                said=reading.said,
                hosts=tuple(uses),
            )
        )
        if reading.is_silent:
            raise _silent(workload, reading)


def _silent(workload: Workload, reading: Reading) -> MeasurementError:
    printed = "\n".join(reading.said) or "(nothing)"
    return MeasurementError(
        "figure.not_found",
        where=workload.argv[0],
        found=f"{reading.failed}; the end of its output:\n{printed}",
        so="no trial of this command would give a figure",
        next=f"change --figure (now {workload.figure!r}) so that its group matches the figure",
    )
