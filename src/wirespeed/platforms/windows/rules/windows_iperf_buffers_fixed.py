"""An old build of iperf3 for Windows, whose sockets have buffers of a fixed size."""

import re
from collections.abc import Iterator

from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule
from wirespeed.model.shown import shown
from wirespeed.model.symptom import Symptom
from wirespeed.platforms.windows.facts.windows_adapters import WindowsAdapters
from wirespeed.platforms.windows.facts.windows_host import is_only_windows, require_windows
from wirespeed.rules.measured_far_below_ceiling import FAR_SHARE

OLD = re.compile(r"iperf 3\.[01](?:\.\d+)?(?![.\d])")
"""3.1.3 is of June 2016, and the last of its builds that is spread; Cygwin's buffers are tuned
since May 2017."""
BUFFER_BYTES = 212_992
"""What cygwin1.dll set for both buffers of a socket before it."""
LOW_SHARE, HIGH_SHARE = 0.7, 1.05
"""Of what the buffers carry: below, something else is the bound; above, they are others."""
ENOUGH_BYTES = 4 << 20


def _check(exam: HostExam) -> Iterator[Finding]:
    require_windows(exam.host)
    run = exam.question.measured_by
    if run is None or not OLD.fullmatch(run.tool):
        raise DoesNotApplyError("no figure of iperf3 before 3.2 was given")
    if "UDP" in run.conditions:
        raise DoesNotApplyError("the run is of UDP, which has no window")
    if not is_only_windows(exam.host.capture):
        raise DoesNotApplyError("the run is of the Linux in this Windows")
    speeds = [one.shown_bps or 0 for one in exam.host[WindowsAdapters].cards() if one.is_up]
    if run.measured_bps >= FAR_SHARE * min(speeds, default=0):
        return
    rtt_s, streams = exam.question.rtt_s, run.streams or 1
    seen = Evidence(found=f"{shown(run.tool, 40)} measured it", source="as you gave it")
    if rtt_s is None:
        yield _finding(exam, Severity.NOTE, (seen,), "")
        return
    most_bps = streams * 8 * BUFFER_BYTES / rtt_s
    if not LOW_SHARE * most_bps <= run.measured_bps <= HIGH_SHARE * most_bps:
        return
    of = "" if streams == 1 else f" in each of {streams} streams"
    carried = Evidence(
        found=f"{run.measured_bps / 1e6:.4g} Mb/s were measured: {BUFFER_BYTES} bytes each "
        f"{1e3 * rtt_s:g} ms{of} are {most_bps / 1e6:.4g}",
        source="as you gave it",
    )
    enough = f" ({8 * ENOUGH_BYTES / rtt_s / 1e9:.3g} Gb/s a stream over {1e3 * rtt_s:g} ms)"
    yield _finding(exam, Severity.RISK, (seen, carried), enough)


def _finding(
    exam: HostExam, severity: Severity, seen: tuple[Evidence, ...], enough: str
) -> Finding:
    return exam.finding(
        severity,
        seen,
        so="builds of that age for Windows give each socket buffers of a fixed size, "
        f"{BUFFER_BYTES} bytes in most, and so switch autotuning off: they measure that size, "
        "divided by the round trip, and not the path",
        remedies=(
            Remedy(
                text="measure with a build of iperf3 from 3.7 on, or with Microsoft's ntttcp",
                by_hand=ByHand.SOFTWARE,
            ),
            Remedy(
                text=f"with that build, set larger buffers: `iperf3 -c PEER -w 4M`{enough}",
                by_hand=ByHand.WORKLOAD,
            ),
        ),
        unpriced="programs of Windows itself tune their buffers: a copy may be faster",
    )


RULE = HostRule(
    slug="windows.iperf_buffers_fixed",
    title="Old iperf3 measured its own fixed buffers (Windows)",
    why="iperf3 for Windows is built with Cygwin. Until 2017 cygwin1.dll set the buffers of each "
    "socket itself, and Windows tunes none that a program sets. 3.1.3 of 2016 is still the one "
    "that most people find. Over 28 ms it shows 60 Mb/s, on whatever link.",
    source="https://techcommunity.microsoft.com/t5/networking-blog/"
    "windows-network-performance-suffering-from-bad-buffering/ba-p/339668; "
    "https://github.com/esnet/iperf/issues/463; https://github.com/esnet/iperf/issues/481",
    explains=(Symptom.LOW_FIGURE,),
    check=_check,
)
