"""Hyper-V's switches reach no card, while a fast one is there and somebody's traffic is for it."""

import re
from collections.abc import Iterator

from wirespeed.facts.virtualization_wsl import Wsl
from wirespeed.model.bound import Bound, Limit
from wirespeed.model.command import Command, Shell
from wirespeed.model.fact import HostFacts
from wirespeed.model.finding import ByHand, Danger, Evidence, Finding, Remedy, Severity, StepCall
from wirespeed.model.observed import CannotTellError, Known, known
from wirespeed.model.question import Purpose
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule
from wirespeed.model.shown import shown
from wirespeed.model.symptom import Symptom
from wirespeed.platforms.windows.facts.windows_adapters import SOURCE as ADAPTERS_SOURCE
from wirespeed.platforms.windows.facts.windows_adapters import WindowsAdapter, WindowsAdapters
from wirespeed.platforms.windows.facts.windows_behind import (
    NOMINAL_BPS,
    cards_of_switch,
    fast_cards,
)
from wirespeed.platforms.windows.facts.windows_bindings import WindowsBinding, WindowsBindings
from wirespeed.platforms.windows.facts.windows_host import require_windows
from wirespeed.platforms.windows.facts.windows_switches import ADAPTERS_SOURCE as GUESTS_SOURCE
from wirespeed.platforms.windows.facts.windows_switches import SOURCE, WindowsSwitches

NAME = "wirespeed-external"
OF_SOFTWARE = "1 - 10 Gb/s, what software forwarded where it was measured / speed of the card"
OF_OTHER = "1 - speed of the fastest other card below a switch / speed of the card"
COMPONENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")


def _check(exam: HostExam) -> Iterator[Finding]:
    host = exam.host
    require_windows(host)
    cards = fast_cards(host)
    if not cards:
        raise DoesNotApplyError("no card that is up is faster than an internal switch")
    switches = host[WindowsSwitches].known()
    wsl, guests = _wsl(host), _guests(host)
    if not wsl and not guests:
        raise DoesNotApplyError(
            "neither WSL nor a virtual machine is connected to a virtual switch"
        )
    bound = {card.guid for switch in switches for card in cards_of_switch(host, switch)}
    if bound & {card.guid for card in cards}:
        return
    card = cards[0]
    is_meant = bound and exam.question.purpose is not Purpose.GUESTS
    yield exam.finding(
        Severity.NOTE if is_meant else Severity.FAULT,
        (
            *(
                Evidence(
                    found=f"{shown(switch.name, 60)} is {shown(switch.kind)}, bound to "
                    + (", ".join(shown(c, 60) for c in switch.card_descriptions) or "no card"),
                    source=SOURCE,
                )
                for switch in switches
            ),
            Evidence(
                found=f"{shown(card.name, 60)} ({shown(card.description, 60)}) is up at "
                f"{_gigabits(card)} Gb/s",
                source=ADAPTERS_SOURCE,
            ),
            *wsl,
            *guests,
        ),
        so="the traffic of these switches goes by another card, or stays in software; no switch "
        "uses the fast card"
        if bound
        else "software forwards the traffic of these switches, at about 10 Gb/s where it was "
        "measured; no switch uses the card",
        where=host.name,
        remedies=(_remedy(host, card, has_guests=bool(guests)),),
        bounds=_bounds(host, card, bound),
        unpriced="how much of this traffic is for the card is not known: measure before and after, "
        "with `wirespeed measure command`",
    )


def _bounds(host: HostFacts, card: WindowsAdapter, bound: set[str]) -> tuple[Bound, ...]:
    """What the card would add, to what software forwards or another card carries."""
    others = [one.shown_bps for one in host[WindowsAdapters].known() if one.guid in bound]
    now_bps = max((bps for bps in others if bps), default=None) if bound else NOMINAL_BPS
    if now_bps is None:
        return ()
    share = 1 - now_bps / known(card.link_bps, card.name)
    formula = OF_OTHER if bound else OF_SOFTWARE
    return (Bound.of_share(Limit.AT_MOST, share, "of what the card carries", formula),)


def _gigabits(card: WindowsAdapter) -> str:
    return f"{known(card.link_bps, card.name) / 1e9:g}"


def _wsl(host: HostFacts) -> tuple[Evidence, ...]:
    """WSL 2 is on a switch; WSL 1 has the adapters of Windows."""
    try:
        version = host[Wsl].version
    except CannotTellError:
        return ()
    if not isinstance(version, Known) or version.value == 1:
        return ()
    return (Evidence.of(version, "on a switch: WSL"),)


def _guests(host: HostFacts) -> tuple[Evidence, ...]:
    adapters = host[WindowsSwitches].adapters
    guests = {a.guest for a in adapters.value if a.guest} if isinstance(adapters, Known) else ()
    if not guests:
        return ()
    what = "virtual machine" if len(guests) == 1 else "virtual machines"
    found = f"on a switch: {len(guests)} {what}"
    return (Evidence(found=found, source=GUESTS_SOURCE),)


def _remedy(host: HostFacts, card: WindowsAdapter, *, has_guests: bool) -> Remedy:
    foreign = _filters_of_other_makers(host, card)
    here = sorted({b.component_id for b in foreign if b.guid == card.guid and b.is_enabled})
    if here:
        names = ", ".join(map(shown, here))
        return Remedy(
            text=f"bind an external switch to the card. First unbind {names} from it, as its own "
            "finding says: with such a filter bound, creating a switch has crashed Windows",
            danger=Danger.DROPS_LINK,
            by_hand=ByHand.FIND_FIRST,
        )
    text = "bind an external switch to the card. The link drops while the switch is created"
    own = [a for a in host[WindowsAdapters].known() if any(b.is_own(a) for b in foreign)]
    filters = sorted({b.component_id for b in foreign})
    if filters:
        text += ". Installers bind their filter to the host's adapter of the new switch: the "
        text += "further commands unbind it there"
    if has_guests:
        text += ". Then connect the guests to it: Connect-VMNetworkAdapter -VMName … -SwitchName "
        text += NAME
    named = all(a.has_safe_name for a in (card, *own)) and all(map(COMPONENT.fullmatch, filters))
    if not named:
        return Remedy(text=text, danger=Danger.DROPS_LINK, by_hand=ByHand.NO_NAME)
    return Remedy(
        text=text,
        commands=(
            _command(
                *("New-VMSwitch", "-Name", NAME, "-NetAdapterInterfaceDescription"),
                *(card.description, "-AllowManagementOS:$true", "-EnableIov:$true"),
            ),
            *(
                _command(
                    *("Disable-NetAdapterBinding", "-Name", f"vEthernet ({NAME})"),
                    *("-ComponentID", component, "-IncludeHidden:$true", "-Confirm:$false"),
                    *("-ErrorAction", "SilentlyContinue"),
                )
                for component in filters
            ),
        ),
        danger=Danger.DROPS_LINK,
        steps=(
            StepCall.of(
                "windows_switch",
                name=NAME,
                adapter=card.description,
                filters=filters,
                own=sorted({a.description for a in own}),
            ),
        ),
    )


def _command(*words: str) -> Command:
    return Command(argv=words, shell=Shell.POWERSHELL)


def _filters_of_other_makers(host: HostFacts, card: WindowsAdapter) -> list[WindowsBinding]:
    bindings = host[WindowsBindings].all
    return [
        binding
        for binding in (bindings.value if isinstance(bindings, Known) else ())
        if binding.card_vendor and not binding.is_own(card)
    ]


RULE = HostRule(
    slug="windows.switch_without_card",
    title="No Hyper-V switch on a fast card (Windows)",
    why="A Hyper-V internal switch is software without a card, and its adapters report 10 Gb/s. "
    "WSL and virtual machines on it do not use the card. On a host with a 100 Gb/s card, the "
    "WSL2 document measured 10 Gb/s through it, 40 with an external switch bound to the "
    "card, and 53.6 in bridged mode.",
    source="`From 10 to 40Gbps - Getting a Mellanox ConnectX-5 Working in WSL2`, Steps 2 to 6; "
    "https://learn.microsoft.com/windows-server/virtualization/hyper-v/get-started/"
    "create-a-virtual-switch-for-hyper-v-virtual-machines; https://learn.microsoft.com/azure/"
    "azure-local/concepts/host-network-requirements (fast cards for storage beside others for "
    "guests)",
    price=f"Bound, of switches without a card: {OF_SOFTWARE}; of others: {OF_OTHER}.",
    explains=(Symptom.CARD_BYPASSED, Symptom.LOW_FIGURE),
    first=(Symptom.FOREIGN_FILTER,),
    check=_check,
)
