"""A switch of Hyper-V that joins segments for its guests, and a figure far below the card."""

from collections.abc import Iterator

from wirespeed.model.command import Command, Shell
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Absent, known
from wirespeed.model.powershell import WILDCARDS
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule
from wirespeed.model.shown import shown
from wirespeed.model.symptom import Symptom
from wirespeed.platforms.windows.facts.windows_adapters import WindowsAdapter
from wirespeed.platforms.windows.facts.windows_behind import cards_of_switch
from wirespeed.platforms.windows.facts.windows_host import require_windows
from wirespeed.platforms.windows.facts.windows_switches import VirtualSwitch, WindowsSwitches

RSC_SOURCE = "Get-VMSwitch | Select-Object Name, *Rsc*"
FAR_SHARE = 0.8
"""Of the card's link: above it nothing is to be found."""


def _check(exam: HostExam) -> Iterator[Finding]:
    host, measured_bps = exam.host, exam.question.measured_bps
    require_windows(host)
    if measured_bps is None:
        raise DoesNotApplyError("no measured figure was given: give it with --measured")
    switches = host[WindowsSwitches]
    external = [(one, cards) for one in switches.known() if (cards := cards_of_switch(host, one))]
    if not external:
        raise DoesNotApplyError("no switch of Hyper-V is bound to a card")
    adapters = known(switches.adapters, "the adapters on the switches")
    for switch, cards in external:
        has_guests = any(not a.is_of_host and a.switch_id == switch.id for a in adapters)
        link_bps = min((card.shown_bps or 0 for card in cards if card.is_up), default=0)
        if not has_guests or measured_bps >= FAR_SHARE * link_bps:
            continue
        if isinstance(switch.joins_segments, Absent):
            continue
        if known(switch.joins_segments, f"whether {switch.name} joins segments"):
            yield _finding(exam, switch, cards)


def _finding(exam: HostExam, switch: VirtualSwitch, cards: tuple[WindowsAdapter, ...]) -> Finding:
    return exam.finding(
        Severity.NOTE,  # as Windows comes
        (
            Evidence(
                found=f"SoftwareRscEnabled of {shown(switch.name, 60)} is True", source=RSC_SOURCE
            ),
        ),
        so="the switch joins TCP segments for its guests (RSC), which spares CPU time; with some "
        "cards and guests it slowed copies to a third",
        where=", ".join(shown(card.name, 60) for card in cards),
        remedies=(_remedy(switch),),
        unpriced="compare with and without: it takes effect at once, and no connection is cut",
    )


def _remedy(switch: VirtualSwitch) -> Remedy:
    text = (
        "switch it off for a test, measure again, and switch it on again (`-EnableSoftwareRsc "
        "$true`) where the figure stays"
    )
    if WILDCARDS.search(switch.name) or not switch.name.isprintable():
        return Remedy(text=text, by_hand=ByHand.NO_NAME)
    return Remedy(
        text=text,
        commands=(
            Command(
                argv=("Set-VMSwitch", "-Name", switch.name, "-EnableSoftwareRsc:$false"),
                shell=Shell.POWERSHELL,
            ),
        ),
        by_hand=ByHand.FIND_FIRST,
    )


RULE = HostRule(
    slug="windows.switch_joins_segments",
    title="RSC in a switch of Hyper-V (Windows)",
    why="From Windows Server 2019 on an external switch joins received TCP segments by itself. "
    "Fewer and larger segments cost less CPU time. Guests that moved from 2016 copied at a third "
    "of their speed with some cards until it was switched off.",
    source="https://learn.microsoft.com/windows-server/networking/technologies/hpn/"
    "rsc-in-the-vswitch (on by default; changed without effect on connections); "
    "https://megabaza.net/?p=120370",
    explains=(Symptom.LOW_FIGURE,),
    check=_check,
)
