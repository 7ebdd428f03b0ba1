"""Two fast cards of Windows that receive on the same cores, or on core 0 as everything does."""

from collections.abc import Iterator, Sequence
from itertools import combinations

from wirespeed.model.finding import ByHand, Danger, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import known
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule
from wirespeed.model.shown import shown
from wirespeed.model.symptom import Symptom
from wirespeed.platforms.windows.facts.windows_adapters import WindowsAdapter
from wirespeed.platforms.windows.facts.windows_behind import receiving_cards
from wirespeed.platforms.windows.facts.windows_host import WindowsHost, require_windows
from wirespeed.platforms.windows.facts.windows_queues import RSS_SOURCE, Spread, WindowsQueues

LEAST = 8
GROUP = 64
"""Processors of a group: with more, a number stands for one in each group."""


def _check(exam: HostExam) -> Iterator[Finding]:
    host = exam.host
    require_windows(host)
    cards = receiving_cards(host)
    if len(cards) < 2:
        raise DoesNotApplyError("fewer than two cards of 10 Gb/s or more are up")
    ranges = []
    for card in cards:
        spread = known(host[WindowsQueues].rss_of(card.guid), f"RSS of {card.name}")
        if known(spread.is_enabled, f"whether RSS of {card.name} is on"):
            ranges.append((card, _range(card, spread)))
    for one, other in combinations(ranges, 2):
        if set(one[1]) & set(other[1]):
            yield _finding(exam, (one, other))


def _finding(exam: HostExam, both: Sequence[tuple[WindowsAdapter, range]]) -> Finding:
    return exam.finding(
        Severity.NOTE,
        tuple(
            Evidence(
                found=f"{shown(card.name, 60)}: processors {cores[0]} to {cores[-1]}",
                source=RSS_SOURCE,
            )
            for card, cores in both
        ),
        so="both cards may receive on the same cores, which then limit both together",
        where=shown(both[0][0].name, 60),
        remedies=(
            Remedy(
                text="give each card its own range with Set-NetAdapterRss -BaseProcessorNumber and "
                f"-MaxProcessorNumber{_example(exam)}, each on its card's NUMA node, and leave "
                "core 0 to Windows; the links drop",
                danger=Danger.DROPS_LINK,
                by_hand=ByHand.FIND_FIRST,
            ),
        ),
        unpriced="it costs once these cores are full: look at the busiest core while both cards "
        "receive, with Get-CimInstance Win32_PerfFormattedData_PerfOS_Processor",
    )


def _example(exam: HostExam) -> str:
    """Two halves, where one group has all processors, and half of them leaves room for core 0."""
    processors = known(exam.host[WindowsHost].processors, "how many processors Windows has")
    if not LEAST <= processors <= GROUP:
        return ""
    half = processors // 2
    return f", for example 2 to {half - 1} and {half} to {processors - 1}"


def _range(card: WindowsAdapter, spread: Spread) -> range:
    base = known(spread.base_processor, f"base processor of {card.name}")
    last = known(spread.max_processor, f"last processor of {card.name}")
    return range(base, max(base, last) + 1)


RULE = HostRule(
    slug="windows.rss_ports_share_cores",
    title="RSS of two cards uses the same CPUs (Windows)",
    why="By default every card's RSS starts at core 0, so two busy ports load the same cores "
    "first. In the SMB document, separate ranges, with each card on another socket, lowered "
    "CPU use from 22 to 12 % and from 24 to 8 %; the throughput stayed the same or fell.",
    source="`High performance live migration done right means using SMB Direct`; "
    "https://learn.microsoft.com/powershell/module/netadapter/set-netadapterrss",
    explains=(Symptom.LOW_FIGURE,),
    check=_check,
)
