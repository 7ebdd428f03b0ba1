"""Trials of a command of the user's, each on disk before the next begins."""

import json
import sys
from collections.abc import Callable, Mapping

from wirespeed.host.clock import monotonic_s, utc_now
from wirespeed.host.runner import Completed, Runner
from wirespeed.measure.workload.figure import Place, Reading, figure_pattern, read_figure
from wirespeed.measure.workload.watch import CounterSource, watched
from wirespeed.model.error import MeasurementError
from wirespeed.model.shown import shown
from wirespeed.model.workload_trial import Workload, WorkloadTrial

FIND_S = 10.0
"""For the user's pattern: `(a+)+$` takes twice as long with each letter more."""
FIND = """\
import json, re, sys
pattern, text = json.load(sys.stdin)
found = None
for match in re.compile(pattern, re.MULTILINE).finditer(text):
    found = [match.start(1), match[1]] if match[1] is not None else found
json.dump(found, sys.stdout)
"""


def run_trials(
    workload: Workload,
    numbers: range,
    runner: Runner,
    hosts: Mapping[str, CounterSource],
    record: Callable[[WorkloadTrial], None],
) -> None:
    """Run the command once for each number, one after the other.

    A run that fails is a trial that failed. Raises InputError `command.missing`, and
    MeasurementError `figure.not_found` after a run that ended well without a figure,
    `figure.too_slow` where the pattern does not come to an end.
    """
    pattern = figure_pattern(workload.figure)
    for number in numbers:
        started_at, started = utc_now(), monotonic_s()
        completed: Completed | None = None
        with watched(hosts) as uses:
            try:
                completed = runner.run(workload.argv, timeout_s=workload.limit_seconds)
                seconds = completed.duration_s
            except MeasurementError as error:
                seconds = monotonic_s() - started
                reading = Reading(None, failed="; ".join(filter(None, (error.found, error.so))))
        if completed is not None:
            reading = read_figure(completed, pattern, bounded_by(runner))
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


def bounded_by(runner: Runner) -> Callable[[str, str], Place | None]:
    """Find a figure in a process of its own, which ends when its time is up.

    Python's expressions cannot be stopped in this one. Raises MeasurementError `figure.too_slow`.
    """

    def find(pattern: str, text: str) -> Place | None:
        argv = (sys.executable, "-I", "-S", "-c", FIND)
        try:
            said = runner.run(argv, stdin=json.dumps((pattern, text)), timeout_s=FIND_S)
        except MeasurementError:
            said = None
        if said is None or said.returncode:
            raise MeasurementError(
                "figure.too_slow",
                where="--figure",
                found=f"{shown(pattern, 80)!r} did not come to an end within {FIND_S:g} s in "
                f"{len(text)} characters of output",
                so="no trial of this command would give a figure",
                next="give a pattern without a repetition of a repetition, such as (a+)+",
            )
        found = json.loads(said.output)
        return found and Place(*found)

    return find


def _silent(workload: Workload, reading: Reading) -> MeasurementError:
    printed = "\n".join(reading.said) or "(nothing)"
    return MeasurementError(
        "figure.not_found",
        where=workload.argv[0],
        found=f"{reading.failed}; the end of its output:\n{printed}",
        so="no trial of this command would give a figure",
        next=f"change --figure (now {workload.figure!r}) so that its group matches the figure",
    )
