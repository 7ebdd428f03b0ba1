"""A fast card of Windows whose receiving is spread over few cores, or over one."""

from collections.abc import Iterator

from wirespeed.model.command import Command, Shell
from wirespeed.model.fact import HostFacts
from wirespeed.model.finding import ByHand, Danger, Evidence, Finding, Remedy, Severity, StepCall
from wirespeed.model.observed import Known, known
from wirespeed.model.powershell import exactly
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule
from wirespeed.model.shown import shown
from wirespeed.model.symptom import Symptom
from wirespeed.platforms.windows.facts.windows_adapters import WindowsAdapter
from wirespeed.platforms.windows.facts.windows_advanced import WindowsAdvanced
from wirespeed.platforms.windows.facts.windows_behind import is_below_switch, receiving_cards
from wirespeed.platforms.windows.facts.windows_host import WindowsHost, require_windows
from wirespeed.platforms.windows.facts.windows_queues import RSS_SOURCE, WindowsQueues

KEYWORD = "*numrssqueues"
ENOUGH_QUEUES = 8
"""What the SMB document gave each port of 10 Gb/s."""


def _check(exam: HostExam) -> Iterator[Finding]:
    host = exam.host
    require_windows(host)
    cards = receiving_cards(host)
    if not cards:
        raise DoesNotApplyError("no card of 10 Gb/s or more is up")
    for card in cards:
        rss = known(host[WindowsQueues].rss_of(card.guid), f"RSS of {card.name}")
        is_enabled = known(rss.is_enabled, f"whether RSS of {card.name} is on")
        if not is_enabled and is_below_switch(host, card):
            continue
        queues = known(rss.queues, f"queues of {card.name}") if is_enabled else 1
        processors = known(host[WindowsHost].processors, "how many processors Windows has")
        enough = min(ENOUGH_QUEUES, max(1, processors // 2))
        goal = _offered(host, card, enough)
        if is_enabled and queues >= min(enough, goal):
            continue
        yield exam.finding(
            Severity.FAULT if not is_enabled else Severity.RISK,
            (
                Evidence(
                    found=f"{queues} receive queue{'s' if queues > 1 else ''}, {processors} "
                    "processors"
                    if is_enabled
                    else "RSS is off",
                    source=RSS_SOURCE,
                ),
            ),
            so="one core receives all traffic of this card"
            if not is_enabled or queues == 1
            else f"at most {queues} cores share what this card receives",
            where=shown(card.name, 60),
            remedies=(_remedy(card, goal, is_enabled=is_enabled),),
        )


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


def _remedy(card: WindowsAdapter, queues: int, *, is_enabled: bool) -> Remedy:
    text = f"{'give it' if is_enabled else 'switch RSS on, with'} {queues} queues; the link drops"
    if not card.has_safe_name:
        return Remedy(text=text, by_hand=ByHand.NO_NAME)
    return Remedy(
        text=text,
        commands=(
            Command(
                argv=(
                    *("Set-NetAdapterRss", "-InterfaceDescription", exactly(card.description)),
                    *("-NumberOfReceiveQueues", str(queues)),
                    *(() if is_enabled else ("-Enabled:$true",)),
                ),
                shell=Shell.POWERSHELL,
            ),
        ),
        danger=Danger.DROPS_LINK,
        steps=(StepCall.of("windows_rss", adapter=card.description, queues=queues),),
    )


RULE = HostRule(
    slug="windows.rss_few_queues",
    title="RSS uses few CPUs (Windows)",
    why="One core carried 4.5 to 5 Gb/s of a live migration. Without RSS, or with few queues, a "
    "25 or 100 Gb/s card can use only that many cores. Two ports of 10 Gb/s with 8 queues "
    "each on 8 cores carried live migrations with 12 % of the CPU; the default took 22 %.",
    source="`High performance live migration done right means using SMB Direct`; "
    "https://learn.microsoft.com/windows-hardware/drivers/network/"
    "standardized-inf-keywords-for-rss",
    explains=(Symptom.LOW_FIGURE,),
    check=_check,
)
