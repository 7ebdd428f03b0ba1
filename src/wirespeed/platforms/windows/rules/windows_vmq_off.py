"""A fast card below a switch of Hyper-V whose guests all share one receive queue."""

from collections.abc import Iterator

from wirespeed.model.bound import Bound, Limit
from wirespeed.model.command import Command, Shell
from wirespeed.model.finding import ByHand, Danger, Evidence, Finding, Remedy, Severity, StepCall
from wirespeed.model.observed import Known, Observed, known
from wirespeed.model.powershell import exactly
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

MOST_SHOWN = 6
ONE_CORE_BPS = 3e9
"""Least that is published for a core that receives for all guests (source: the rule's)."""
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
            yield _off(exam, switch, card, "no VMQ at all", ())
        elif not known(spread.is_enabled, f"whether VMQ of {card.name} is on"):
            yield _off(exam, switch, card, "VMQ is off", _switch_on(card))
        else:
            yield from _without_queue(exam, card, guests, spread)


def _off(
    exam: HostExam, switch: VirtualSwitch, card: WindowsAdapter, found: str, how: tuple[Remedy, ...]
) -> Finding:
    return exam.finding(
        Severity.RISK,
        (
            Evidence(found=found, source=VMQ_SOURCE),
            Evidence(
                found=f"the switch {shown(switch.name, 60)} of guests is bound to it",
                source="Get-VMSwitch",
            ),
        ),
        so="one core receives the frames of all guests, and the virtual switch sorts them: "
        "published figures are 3 to 5 Gb/s per core",
        where=shown(card.name, 60),
        remedies=how
        or (
            Remedy(
                text="see whether the driver offers VMQ (Get-NetAdapterAdvancedProperty) and "
                "install the card maker's own driver where it does not",
                by_hand=ByHand.SOFTWARE,
            ),
        ),
        unpriced="it costs once the guests together receive more than one core handles",
        bounds=(
            Bound.of_share(
                Limit.AT_MOST,
                1 - ONE_CORE_BPS / card.shown_bps,
                "of what the port brings for guests",
                FORMULA,
            ),
        )
        if card.shown_bps
        else (),
    )


def _switch_on(card: WindowsAdapter) -> tuple[Remedy, ...]:
    text = "switch VMQ on; the link drops"
    if not card.has_safe_name:
        return (Remedy(text=text, by_hand=ByHand.NO_NAME),)
    adapter = ("-InterfaceDescription", exactly(card.description))
    enable = ("Enable-NetAdapterVmq", *adapter, "-Confirm:$false")
    return (
        Remedy(
            text=text,
            commands=(Command(argv=enable, shell=Shell.POWERSHELL),),
            danger=Danger.DROPS_LINK,
            steps=(StepCall.of("windows_vmq", adapter=card.description),),
        ),
    )


def _without_queue(
    exam: HostExam, card: WindowsAdapter, guests: list[GuestAdapter], spread: Spread
) -> Iterator[Finding]:
    """Guests whose frames go by a VF pass the switch by."""
    without = [one for one in guests if _is(0, one.vmq_weight) and not _has_vf(one)]
    if not without:
        return
    queues = spread.queues.value if isinstance(spread.queues, Known) else 0
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
            Evidence(found=f"the card has {queues} queues", source=VMQ_SOURCE),
        ),
        so=f"{len(without)} of {len(guests)} guests share the default queue, and its core",
        where=shown(card.name, 60),
        remedies=(
            Remedy(
                text="give each guest a weight: Set-VMNetworkAdapter -VMName … -VmqWeight 100",
                by_hand=ByHand.WORKLOAD,
            ),
        ),
        unpriced="it costs once that queue's core is full",
    )


def _is(wanted: int, observed: Observed[int]) -> bool:
    return isinstance(observed, Known) and observed.value == wanted


def _has_vf(guest: GuestAdapter) -> bool:
    return isinstance(guest.iov_weight, Known) and guest.iov_weight.value > 0


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
