"""A fast card below a switch of Hyper-V whose guests all share one receive queue."""

from collections.abc import Iterator

from wirespeed.model.bound import Bound, Limit
from wirespeed.model.command import Command, Shell
from wirespeed.model.finding import ByHand, Danger, Evidence, Finding, Remedy, Severity, StepCall
from wirespeed.model.observed import Known, Observed, known
from wirespeed.model.powershell import WILDCARDS, exactly
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule
from wirespeed.model.shown import shown
from wirespeed.model.symptom import Symptom
from wirespeed.platforms.windows.facts.windows_adapters import WindowsAdapter
from wirespeed.platforms.windows.facts.windows_behind import cards_of_switch, receiving_cards
from wirespeed.platforms.windows.facts.windows_host import require_windows
from wirespeed.platforms.windows.facts.windows_queues import VMQ_SOURCE, Spread, WindowsQueues
from wirespeed.platforms.windows.facts.windows_switches import (
    ADAPTERS_SOURCE,
    GuestAdapter,
    VirtualSwitch,
    WindowsSwitches,
)
from wirespeed.platforms.windows.facts.windows_switches import SOURCE as SWITCH_SOURCE

MOST_SHOWN = 6
ONE_CORE_BPS = 3e9
"""Least that is published for a core that receives for all guests (source: the rule's)."""
FIND_VMQ = Remedy(
    text="look for *VMQ among the driver's properties (Get-NetAdapterAdvancedProperty "
    "-AllProperties); install the card maker's own driver if it is missing",
    by_hand=ByHand.SOFTWARE,
)
FORMULA = "1 - 3 Gb/s, the least that is published for one core / speed of the port"


def _check(exam: HostExam) -> Iterator[Finding]:
    host = exam.host
    require_windows(host)
    switches = host[WindowsSwitches]
    fast = receiving_cards(host)
    pairs = [(one, card) for one in switches.known() for card in cards_of_switch(host, one)]
    bound = [(switch, card) for switch, card in pairs if card in fast]
    if not bound:
        raise DoesNotApplyError("no switch is bound to a card of 10 Gb/s or more")
    adapters = known(switches.adapters, "the adapters on the switches")
    for switch, card in bound:
        guests = [one for one in adapters if not one.is_of_host and one.switch_id == switch.id]
        if not guests:
            continue
        queues = host[WindowsQueues]
        known(queues.vmq_rows, f"VMQ of {card.name}")
        spread = queues.vmq.get(card.guid)
        if spread is None:
            found = "Windows does not list it as a card with VMQ"
            yield _off(exam, switch, card, found, FIND_VMQ)
        elif not known(spread.is_enabled, f"whether VMQ of {card.name} is on"):
            yield _off(exam, switch, card, "VMQ is off", _switch_on(card))
        else:
            yield from _without_queue(exam, card, guests, spread)


def _off(
    exam: HostExam, switch: VirtualSwitch, card: WindowsAdapter, found: str, how: Remedy
) -> Finding:
    bps = card.link_bps
    return exam.finding(
        Severity.RISK,
        (
            Evidence(found=found, source=VMQ_SOURCE),
            Evidence(
                found=f"the switch {shown(switch.name, 60)} of guests is bound to it",
                source=SWITCH_SOURCE,
            ),
        ),
        so="one core receives the frames of all guests, and the virtual switch sorts them: "
        "published figures are 3 to 5 Gb/s per core",
        where=shown(card.name, 60),
        remedies=(how,),
        bounds=tuple(
            Bound.of_share(
                Limit.AT_MOST, 1 - ONE_CORE_BPS / one, "of what the port brings for guests", FORMULA
            )
            for one in ((bps.value,) if isinstance(bps, Known) else ())
        ),
    )


def _switch_on(card: WindowsAdapter) -> Remedy:
    text = "switch VMQ on; the link drops"
    if not card.has_safe_name:
        return Remedy(text=text, danger=Danger.DROPS_LINK, by_hand=ByHand.NO_NAME)
    adapter = ("-InterfaceDescription", exactly(card.description))
    enable = ("Enable-NetAdapterVmq", *adapter, "-Confirm:$false")
    return Remedy(
        text=text,
        commands=(Command(argv=enable, shell=Shell.POWERSHELL),),
        danger=Danger.DROPS_LINK,
        steps=(StepCall.of("windows_vmq", adapter=card.description),),
    )


def _without_queue(
    exam: HostExam, card: WindowsAdapter, guests: list[GuestAdapter], spread: Spread
) -> Iterator[Finding]:
    """Guests whose frames go by a VF pass the switch by."""
    without = [one for one in guests if _has_no_weight(one.vmq_weight) and not _has_vf(one)]
    if not without:
        return
    yield exam.finding(
        Severity.NOTE,
        (
            *(
                Evidence(
                    found=f"{shown(one.guest, 60)} has VmqWeight 0: it requests no queue",
                    source=ADAPTERS_SOURCE,
                )
                for one in without[:MOST_SHOWN]
            ),
            *(
                (Evidence.of(spread.queues, f"the card has {spread.queues.value} queues"),)
                if isinstance(spread.queues, Known)
                else ()
            ),
        ),
        so=f"{len(without)} of {len(guests)} adapters of guests receive by the default queue, "
        "which one core serves",
        where=shown(card.name, 60),
        remedies=(_give_weight(list(dict.fromkeys(one.guest for one in without))),),
        unpriced="it costs once that queue's core is full: look at the busiest core while the "
        "guests receive, with Get-CimInstance Win32_PerfFormattedData_PerfOS_Processor",
    )


def _give_weight(guests: list[str]) -> Remedy:
    text = "give the adapters of these guests a weight"
    if any(WILDCARDS.search(guest) or not guest.isprintable() for guest in guests):
        return Remedy(text=text, by_hand=ByHand.NO_NAME)
    return Remedy(
        text=text,
        commands=tuple(
            Command(
                argv=("Set-VMNetworkAdapter", "-VMName", guest, "-VmqWeight", "100"),
                shell=Shell.POWERSHELL,
            )
            for guest in guests
        ),
        by_hand=ByHand.NO_STEP,
    )


def _has_no_weight(weight: Observed[int]) -> bool:
    return isinstance(weight, Known) and not weight.value


def _has_vf(guest: GuestAdapter) -> bool:
    return isinstance(guest.iov_weight, Known) and bool(guest.iov_weight.value)


RULE = HostRule(
    slug="windows.vmq_off",
    title="Guests without receive queues of their own (VMQ, Hyper-V)",
    why="With VMQ the card sorts frames by the guest's MAC address into queues, each with a "
    "core of its own. Without VMQ the virtual switch processes every frame on one core. "
    "Advice to switch VMQ off concerns old drivers of 1 Gb/s ports.",
    source="https://blogs.technet.microsoft.com/networking/2014/05/28/"
    "debugging-performance-issues-with-vmq/; https://argonsys.com/microsoft-cloud/library/synthetic-accelerations-in-a-nutshell-windows-"
    "server-2012/ (3 to 5 Gb/s of one core); https://learn.microsoft.com/powershell/module/hyper-v/"
    "set-vmnetworkadapter (VmqWeight: 0 disables VMQ)",
    price=f"Bound, with VMQ off or not offered: {FORMULA}.",
    explains=(Symptom.LOW_FIGURE,),
    check=_check,
)
