"""A fast card of Windows whose receiving is spread over few cores, or over one."""

from collections.abc import Iterator

from wirespeed.model.bound import Bound, Limit
from wirespeed.model.command import Command, Shell
from wirespeed.model.fact import HostFacts
from wirespeed.model.finding import ByHand, Danger, Evidence, Finding, Remedy, Severity, StepCall
from wirespeed.model.observed import Known, known
from wirespeed.model.powershell import exactly
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule
from wirespeed.model.shown import shown
from wirespeed.model.symptom import Symptom
from wirespeed.platforms.windows.facts.windows_adapters import WindowsAdapter, WindowsAdapters
from wirespeed.platforms.windows.facts.windows_advanced import SOURCE as ADVANCED_SOURCE
from wirespeed.platforms.windows.facts.windows_advanced import WindowsAdvanced
from wirespeed.platforms.windows.facts.windows_behind import (
    NOMINAL_BPS,
    is_below_switch,
    receiving_cards,
)
from wirespeed.platforms.windows.facts.windows_host import WindowsHost, require_windows
from wirespeed.platforms.windows.facts.windows_queues import RSS_SOURCE, WindowsQueues

KEYWORD = "*numrssqueues"
ENOUGH_QUEUES = 8
"""What the SMB document gave each port of 10 Gb/s."""
ONE_CORE_IS_ENOUGH_BPS = 10**9
"""One core receives it without trouble: Windows leaves VMQ off up to here for the same reason."""
ONE_CORE_BPS = 4.5e9
"""The least that the SMB document saw of one core."""
FORMULA = "1 - cores x 4.5 Gb/s, what one core received where it was measured / speed of the card"


def _check(exam: HostExam) -> Iterator[Finding]:
    host = exam.host
    require_windows(host)
    cards = receiving_cards(host)
    cut = [found for card in host[WindowsAdapters].cards() for found in _cut(exam, card)]
    if not cards and not cut:
        raise DoesNotApplyError("no card of 10 Gb/s or more is up")
    yield from cut
    for card in cards:
        rss = known(host[WindowsQueues].rss_of(card.guid), f"RSS of {card.name}")
        is_enabled = known(rss.is_enabled, f"whether RSS of {card.name} is on")
        if not is_enabled and is_below_switch(host, card):
            continue
        queues = known(rss.queues, f"queues of {card.name}") if is_enabled else 1
        processors = known(host[WindowsHost].processors, "how many processors Windows has")
        enough = min(ENOUGH_QUEUES, processors // 2)
        goal = _offered(host, card, enough)
        most = (
            rss.max_processors.value if isinstance(rss.max_processors, Known) else max(queues, goal)
        )
        cores = min(queues, most) if is_enabled else 1
        if cores >= min(enough, goal):
            continue
        found = f"{queues} receive queue{'s' if queues > 1 else ''}, "
        found += f"MaxProcessors {most}, " if most < queues else ""
        yield exam.finding(
            Severity.RISK if is_enabled else Severity.FAULT,
            (
                Evidence(
                    found=f"{found}{processors} processors" if is_enabled else "RSS is off",
                    source=RSS_SOURCE,
                ),
            ),
            so="one core receives all traffic of this card"
            if cores == 1
            else f"at most {cores} cores share what this card receives",
            where=shown(card.name, 60),
            remedies=(
                _remedy(card, max(queues, goal), goal if most < goal else 0, is_enabled=is_enabled),
            ),
            bounds=_bounds(card, cores),
            unpriced="it costs once these cores are full: look at the busiest core while the card "
            "receives, with Get-CimInstance Win32_PerfFormattedData_PerfOS_Processor",
        )


def _cut(exam: HostExam, card: WindowsAdapter) -> Iterator[Finding]:
    """Name a slower card that has one queue although its driver comes with more.

    Some drivers fall back to one where the number that was set is above what the card has.
    """
    host, rss = exam.host, exam.host[WindowsQueues].rss_of(card.guid)
    is_slow = card.is_up and ONE_CORE_IS_ENOUGH_BPS < (card.shown_bps or 0) < NOMINAL_BPS
    if not is_slow or not isinstance(rss, Known) or rss.value.queues != Known(1, RSS_SOURCE):
        return
    if rss.value.is_enabled != Known(True, RSS_SOURCE) or is_below_switch(host, card):
        return
    advanced, processors = host[WindowsAdvanced], host[WindowsHost].processors
    had = advanced.of(card.guid).get(KEYWORD) if isinstance(advanced.all, Known) else None
    comes_with = int(had.default) if had is not None and had.default.isdecimal() else 0
    if had is None or comes_with < 2 or not isinstance(processors, Known) or processors.value < 2:
        return
    goal = _offered(host, card, min(ENOUGH_QUEUES, processors.value // 2))
    yield exam.finding(
        Severity.RISK,
        (
            Evidence(found=f"1 receive queue, {processors.value} processors", source=RSS_SOURCE),
            Evidence(
                found=f"{shown(had.keyword)} is {shown(had.value)}; the driver comes with "
                f"{comes_with}",
                source=ADVANCED_SOURCE,
            ),
        ),
        so="one core receives all traffic of this card. It takes that of large frames; small "
        "frames fill it sooner",
        where=shown(card.name, 60),
        remedies=(_remedy(card, max(2, goal), max(2, goal), is_enabled=True),),
        unpriced="it costs once this core is full: look at the busiest core while the card "
        "receives, with Get-CimInstance Win32_PerfFormattedData_PerfOS_Processor",
    )


def _bounds(card: WindowsAdapter, cores: int) -> tuple[Bound, ...]:
    """Give what the card receives beyond what these cores are known to take, if that is any."""
    bps = card.link_bps
    if not isinstance(bps, Known) or cores * ONE_CORE_BPS >= bps.value:
        return ()
    share = 1 - cores * ONE_CORE_BPS / bps.value
    return (Bound.of_share(Limit.AT_MOST, share, "of what the card can receive", FORMULA),)


def _offered(host: HostFacts, card: WindowsAdapter, enough: int) -> int:
    """Give as many queues as are enough, or the next number that the driver lists, if it does.

    Intel's drivers list 1, 2, 4 and so on, the smaller ones up to 4.
    """
    all_ = host[WindowsAdvanced].all
    if not isinstance(all_, Known):
        return enough
    keyword = host[WindowsAdvanced].of(card.guid).get(KEYWORD)
    listed = sorted(int(one) for one in (keyword.valid if keyword else ()) if one.isdecimal())
    return next((number for number in listed if number >= enough), max(listed, default=enough))


def _remedy(card: WindowsAdapter, queues: int, processors: int, *, is_enabled: bool) -> Remedy:
    """Queues are of no use if fewer processors may serve them; 0 processors: as many may."""
    text = f"{'use' if is_enabled else 'switch RSS on, with'} {queues} receive queues"
    text += f" on up to {processors} processors" if processors else ""
    text += "; the link drops"
    if not card.has_safe_name:
        return Remedy(text=text, danger=Danger.DROPS_LINK, by_hand=ByHand.NO_NAME)
    asked = {"max_processors": processors} if processors else {}
    return Remedy(
        text=text,
        commands=(
            Command(
                argv=(
                    *("Set-NetAdapterRss", "-InterfaceDescription", exactly(card.description)),
                    *(("-MaxProcessors", str(processors)) if processors else ()),
                    *("-NumberOfReceiveQueues", str(queues)),
                    *(() if is_enabled else ("-Enabled:$true",)),
                ),
                shell=Shell.POWERSHELL,
            ),
        ),
        danger=Danger.DROPS_LINK,
        steps=(
            StepCall.of("windows_rss", adapter=card.description, queues=queues, **asked),
        ),
    )  # fmt: skip


RULE = HostRule(
    slug="windows.rss_few_queues",
    title="RSS uses few CPUs (Windows)",
    why="One core carried 4.5 to 5 Gb/s of a live migration. Without RSS, or with few queues, a "
    "25 or 100 Gb/s card can use only that many cores. Two ports of 10 Gb/s with 8 queues "
    "each on 8 cores carried live migrations with 12 % of the CPU; the default took 22 %.",
    source="`High performance live migration done right means using SMB Direct`; "
    "https://learn.microsoft.com/windows-hardware/drivers/network/"
    "standardized-inf-keywords-for-rss; https://learn.microsoft.com/powershell/module/netadapter/"
    "set-netadapterrss (MaxProcessors: as many serve one adapter at the same time); "
    "https://github.com/djdallmann/GamingPCSetup/issues/17 (an I226-V set above its queues has "
    "one)",
    price=f"Bound: {FORMULA}.",
    explains=(Symptom.LOW_FIGURE,),
    check=_check,
)
