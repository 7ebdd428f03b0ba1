"""A figure that is what Windows lets through beside a program of multimedia."""

from collections.abc import Iterator

from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Known, known
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule
from wirespeed.model.symptom import Symptom
from wirespeed.platforms.windows.facts.windows_adapters import WindowsAdapters
from wirespeed.platforms.windows.facts.windows_host import is_only_windows, require_windows
from wirespeed.platforms.windows.facts.windows_tcp import (
    DEFAULT_THROTTLING,
    THROTTLING_SOURCE,
    WindowsTcp,
)
from wirespeed.rules.measured_far_below_ceiling import FAR_SHARE

LEAST_BYTES, MOST_BYTES = 1300, 1518
"""Of a packet as a figure counts it: payload with some headers more, and some acknowledgements
less, up to the whole frame of an MTU of 1500."""


def _check(exam: HostExam) -> Iterator[Finding]:
    require_windows(exam.host)
    measured_bps = exam.question.measured_bps
    if measured_bps is None:
        raise DoesNotApplyError("no measured figure was given: give it with --measured")
    if not is_only_windows(exam.host.capture):
        raise DoesNotApplyError("the figure is of the Linux in this Windows")
    index = exam.host[WindowsTcp].throttling
    limit = index.value if isinstance(index, Known) else DEFAULT_THROTTLING
    speeds = [a.shown_bps or 0 for a in exam.host[WindowsAdapters].cards() if a.is_up]
    if limit is None or not _is_of(measured_bps, limit, max(speeds, default=0)):
        return
    known(index, "how far Windows throttles packets beside multimedia")
    yield exam.finding(
        Severity.RISK,
        (
            Evidence(
                found=f"{measured_bps / 1e6:.4g} Mb/s were measured: {limit} full packets a "
                f"millisecond are {_bps(limit, LEAST_BYTES) / 1e6:.0f} to "
                f"{_bps(limit, MOST_BYTES) / 1e6:.0f}",
                source="as you gave it",
            ),
            Evidence(
                found=f"NetworkThrottlingIndex lets {limit} packets a millisecond pass",
                source=THROTTLING_SOURCE,
            ),
        ),
        so=f"while a program plays sound or video, Windows takes in no more than {limit} packets a "
        "millisecond of other traffic",
        remedies=(
            Remedy(
                text="close every program that plays sound or video, and measure again: if the "
                "figure rises, set NetworkThrottlingIndex to 0xffffffff and start Windows again",
                by_hand=ByHand.WORKLOAD,
            ),
        ),
        unpriced="it holds only while such a program runs, which is not seen from here",
    )


def _is_of(measured_bps: float, limit: int, link_bps: int) -> bool:
    low, high = _bps(limit, LEAST_BYTES), _bps(limit, MOST_BYTES)
    return low <= measured_bps <= high and high < FAR_SHARE * link_bps


def _bps(limit: int, packet_bytes: int) -> int:
    return limit * 1000 * 8 * packet_bytes


RULE = HostRule(
    slug="windows.network_throttled",
    title="Figure is what Windows leaves beside multimedia (Windows)",
    why="While a program of multimedia plays, Windows takes in ten packets of other traffic a "
    "millisecond: some 120 Mb/s, whatever the link. The registry's NetworkThrottlingIndex sets "
    "the number, and 0xffffffff switches the limit off.",
    source="https://support.microsoft.com/help/948066 (10 packets per millisecond; 1 to 70, or "
    "0xffffffff)",
    explains=(Symptom.LOW_FIGURE,),
    check=_check,
)
