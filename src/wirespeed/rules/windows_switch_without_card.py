"""Hyper-V's switches reach no card, while a fast one is there and somebody's traffic is for it."""

from collections.abc import Iterator

from wirespeed.facts.virtualization_wsl import Wsl
from wirespeed.facts.windows_behind import card_of_switch, fast_cards
from wirespeed.facts.windows_bindings import WindowsBindings
from wirespeed.facts.windows_host import require_windows
from wirespeed.facts.windows_switches import SOURCE, WindowsSwitches
from wirespeed.model.command import Command, Shell
from wirespeed.model.fact import HostFacts
from wirespeed.model.finding import ByHand, Danger, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import CannotTellError, Known
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule
from wirespeed.model.shown import shown


def _check(exam: HostExam) -> Iterator[Finding]:
    host = exam.host
    require_windows(host)
    cards = fast_cards(host)
    if not cards:
        raise DoesNotApplyError("no card that is up is faster than an internal switch")
    switches = host[WindowsSwitches].known()
    who = _who(host)
    if not who:
        raise DoesNotApplyError("neither WSL nor a virtual machine hangs on a switch")
    bound = [card_of_switch(host, switch) for switch in switches]
    if any(card is not None and card.guid in {c.guid for c in cards} for card in bound):
        return
    card = cards[0]
    foreign = _foreign_on(host, card.guid, card.pci_vendor)
    yield Finding(
        rule=RULE.slug,
        where=host.name,
        severity=Severity.FAULT,
        evidence=(
            *(
                Evidence(
                    found=f"{shown(switch.name, 60)} is {shown(switch.kind, 20)}, bound to "
                    + (", ".join(shown(c, 60) for c in switch.card_descriptions) or "no card"),
                    source=SOURCE,
                )
                for switch in switches
            ),
            Evidence(
                found=f"{shown(card.name, 60)} ({shown(card.description, 60)}) is up at "
                f"{(card.shown_bps or 0) / 1e9:g} Gb/s",
                source="Get-NetAdapter -IncludeHidden",
            ),
            Evidence(found=f"on a switch: {who}", source="Get-VMNetworkAdapter -All"),
        ),
        so="what goes through these switches is moved by software near 10 Gb/s, and the card "
        "stands beside it",
        remedies=(
            Remedy(
                text="bind an external switch to the card. "
                + (
                    f"First unbind {foreign} from it (windows.foreign_filter): with such a filter "
                    "there, making a switch has crashed Windows"
                    if foreign
                    else "The link drops while it is made"
                ),
                commands=()
                if foreign
                else (
                    Command(
                        argv=(
                            "New-VMSwitch", "-Name", "wirespeed-external", "-NetAdapterName",
                            card.name, "-AllowManagementOS:$true",
                        ),
                        shell=Shell.POWERSHELL,
                    ),
                ),
                danger=Danger.DROPS_LINK,
                by_hand=ByHand.NO_STEP,
            ),
        ),
        unpriced="how much is meant for the card is not known: measure before and after",
    )  # fmt: skip


def _who(host: HostFacts) -> str:
    try:
        is_wsl = isinstance(host[Wsl].version, Known)
    except CannotTellError:
        is_wsl = False
    adapters = host[WindowsSwitches].adapters
    guests = {a.guest for a in adapters.value if a.guest} if isinstance(adapters, Known) else set()
    parts = ["WSL"] if is_wsl else []
    if guests:
        parts.append(f"{len(guests)} virtual machine{'s' if len(guests) > 1 else ''}")
    return " and ".join(parts)


def _foreign_on(host: HostFacts, guid: str, vendor: int | None) -> str:
    """Name the filters of other cards' makers that are bound to a card."""
    bindings = host[WindowsBindings].all
    names = {
        shown(b.component_id, 40)
        for b in (bindings.value if isinstance(bindings, Known) else ())
        if b.guid == guid and b.is_enabled and b.card_vendor and b.card_vendor[1] != vendor
    }
    return ", ".join(sorted(names))


RULE = HostRule(
    slug="windows.switch_without_card",
    title="Hyper-V's switches are bound to no fast card",
    why="An internal switch of Hyper-V is software that no card is bound to, and its adapters "
    "report 10 Gb/s. WSL and virtual machines on it never touch a card of 100 Gb/s: measured so "
    "with 10 Gb/s, with 40 when an external switch was bound to the card, with 53.6 in bridged "
    "mode.",
    source="`From 10 to 40Gbps - Getting a Mellanox ConnectX-5 Working in WSL2`, Steps 2 to 6; "
    "https://learn.microsoft.com/windows-server/virtualization/hyper-v/get-started/"
    "create-a-virtual-switch-for-hyper-v-virtual-machines",
    purposes=None,
    check=_check,
)
