"""Two fast cards of Windows that receive on the same cores, or on core 0 as everything does."""

from collections.abc import Iterator

from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import known
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule
from wirespeed.model.shown import shown
from wirespeed.model.symptom import Symptom
from wirespeed.platforms.windows.facts.windows_adapters import WindowsAdapter
from wirespeed.platforms.windows.facts.windows_behind import receiving_cards
from wirespeed.platforms.windows.facts.windows_host import WindowsHost, require_windows
from wirespeed.platforms.windows.facts.windows_queues import RSS_SOURCE, Spread, WindowsQueues


def _check(exam: HostExam) -> Iterator[Finding]:
    host = exam.host
    require_windows(host)
    cards = receiving_cards(host)
    if len(cards) < 2:
        raise DoesNotApplyError("fewer than two cards of 10 Gb/s or more are up")
    processors = known(host[WindowsHost].processors, "how many processors Windows has")
    ranges = []
    for card in cards:
        spread = known(host[WindowsQueues].rss_of(card.guid), f"RSS of {card.name}")
        ranges.append((card, _range(card, spread)))
    for number, (one, mine) in enumerate(ranges):
        for other, theirs in ranges[number + 1 :]:
            if not set(mine) & set(theirs):
                continue
            half = processors // 2
            yield exam.finding(
                Severity.NOTE,
                tuple(
                    Evidence(
                        found=f"{shown(card.name, 60)}: processors {cores[0]} to {cores[-1]}",
                        source=RSS_SOURCE,
                    )
                    for card, cores in ((one, mine), (other, theirs))
                ),
                so="both cards receive on the same cores, and these cores limit both together",
                where=shown(one.name, 60),
                remedies=(
                    Remedy(
                        text="give each card its own range with Set-NetAdapterRss "
                        "-BaseProcessorNumber and -MaxProcessorNumber, for example 2 to "
                        f"{max(2, half - 1)} and {half} to {processors - 1}, each on its "
                        "card's NUMA node, and leave core 0 to Windows",
                        by_hand=ByHand.FIND_FIRST,
                    ),
                ),
            )


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
