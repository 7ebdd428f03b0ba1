"""SR-IOV on Windows that is off somewhere: in the machine, the card, the switch or the guest."""

from collections.abc import Iterator

from wirespeed.model.bound import Bound, Limit
from wirespeed.model.command import Command, Shell
from wirespeed.model.fact import HostFacts
from wirespeed.model.finding import ByHand, Danger, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import known, value_or_none
from wirespeed.model.powershell import WILDCARDS, exactly
from wirespeed.model.question import Purpose
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule
from wirespeed.model.shown import shown
from wirespeed.platforms.windows.facts.windows_adapters import WindowsAdapter, WindowsAdapters
from wirespeed.platforms.windows.facts.windows_behind import cards_of_switch
from wirespeed.platforms.windows.facts.windows_host import require_windows
from wirespeed.platforms.windows.facts.windows_sriov import (
    HOST_SOURCE,
    SOURCE,
    SUPPORTED,
    WindowsSriov,
)
from wirespeed.platforms.windows.facts.windows_switches import (
    ADAPTERS_SOURCE,
    GuestAdapter,
    VirtualSwitch,
    WindowsSwitches,
)
from wirespeed.platforms.windows.facts.windows_switches import SOURCE as SWITCH_SOURCE

MELLANOX = 0x15B3
UNKNOWN = "Unknown"
ONE_CORE_BPS = 3e9
"""Least that is published for a core that forwards for guests (source: the rule's)."""
FORMULA = "1 - 3 Gb/s, the least that is published for one core / speed of the card"
IN_BIOS = {
    "MissingAcs": (
        "the PCI Express path to this card lacks Access Control Services, and so it offers no VFs",
        "switch ACS on in the BIOS, or use another slot",
    ),
    "NoBusResources": (
        "the machine has too few PCI Express bus numbers for the VFs of this card",
        "use another slot, or set fewer VFs in the card's firmware",
    ),
    "NoIommuSupport": (
        "the machine does not remap DMA and interrupts, or its processor lacks second-level "
        "address translation, and so this card offers no VFs",
        "switch the IOMMU (VT-d or AMD-Vi) on in the BIOS",
    ),
    "NoVfBarSpace": (
        "the machine has too little address space for the VFs of this card",
        "switch SR-IOV, the IOMMU and Above 4G Decoding on in the BIOS, or use another slot",
    ),
    "NoOscSupport": (
        "the BIOS does not let Windows control PCI Express, and so this card offers no VFs",
        "update the BIOS",
    ),
}
"""SriovSupport: what follows, and what to do (Get-NetAdapterSriov, its description)."""


def _check(exam: HostExam) -> Iterator[Finding]:
    host = exam.host
    require_windows(host)
    switches = [s for s in host[WindowsSwitches].known() if s.reaches_a_card]
    guests = [a for a in known(host[WindowsSwitches].adapters, "the guests' adapters") if a.guest]
    if not _is_wanted(exam, guests):
        raise DoesNotApplyError("no guest requests a VF: check anyway with --for guests")
    if not switches:
        raise DoesNotApplyError("no virtual switch is bound to a card")
    sriov = host[WindowsSriov]
    if not known(sriov.host_support, "whether the machine supports SR-IOV"):
        yield _machine(exam, sriov)
    for switch in switches:
        here = [a for a in guests if a.switch_id == switch.id]
        if not _is_wanted(exam, here):
            continue
        for card in host[WindowsAdapters].cards():
            if card.guid in switch.card_guids or card.description in switch.card_descriptions:
                yield from _card(exam, sriov, card)
        if known(switch.is_iov_enabled, f"SR-IOV of the switch {switch.name}"):
            yield from _guests(exam, here)
        else:
            yield _switch(exam, switch)


def _is_wanted(exam: HostExam, guests: list[GuestAdapter]) -> bool:
    return exam.question.purpose is Purpose.GUESTS or any(
        value_or_none(one.iov_weight) for one in guests
    )


def _machine(exam: HostExam, sriov: WindowsSriov) -> Finding:
    return _off(
        exam,
        exam.host.name,
        ("IovSupport is False", *(shown(reason) for reason in sriov.host_reasons)),
        HOST_SOURCE,
        "Hyper-V cannot assign VFs on this machine",
        Remedy(
            text="switch SR-IOV, the IOMMU (VT-d or AMD-Vi) and ACS on in the BIOS; update the "
            "BIOS if Hyper-V says so",
            by_hand=ByHand.BIOS,
        ),
    )


def _card(exam: HostExam, sriov: WindowsSriov, card: WindowsAdapter) -> Iterator[Finding]:
    one = sriov.by_guid.get(card.guid)
    if one is None:
        known(sriov.rows, f"SR-IOV of {card.name}")
        yield _off(
            exam,
            card.name,
            ("Windows does not list it as a card with SR-IOV",),
            SOURCE,
            "this card offers no VFs: SR-IOV is off in its firmware, or the card or its driver "
            "does not support it",
            Remedy(
                text="switch SR-IOV on in the card's firmware "
                f"({_tool(card, 'SRIOV_EN=1 and NUM_OF_VFS')}), then restart Windows",
                danger=Danger.FIRMWARE,
                by_hand=ByHand.BIOS,
            ),
        )
        return
    support = value_or_none(one.support)
    if support not in (None, SUPPORTED, UNKNOWN):
        yield _unsupported(exam, card, support)
    if value_or_none(one.is_enabled) is False:
        yield _disabled(exam, card)
    elif value_or_none(one.vfs) == 0:
        yield _off(
            exam,
            card.name,
            ("NumVFs is 0",),
            SOURCE,
            "this card offers 0 VFs",
            Remedy(
                text="set the number of VFs (Set-NetAdapterSriov -NumVFs; the link drops). If "
                "Windows refuses it, set it in the card's firmware first "
                f"({_tool(card, 'NUM_OF_VFS')}), and restart Windows",
                danger=Danger.FIRMWARE,
                by_hand=ByHand.NO_STEP,
            ),
        )


def _unsupported(exam: HostExam, card: WindowsAdapter, support: str) -> Finding:
    if support == "MissingPfDriver":
        so = "the card or its driver does not support SR-IOV"
        remedy = Remedy(text="install the card maker's newest driver", by_hand=ByHand.SOFTWARE)
    elif support in IN_BIOS:
        so, text = IN_BIOS[support]
        remedy = Remedy(text=text, by_hand=ByHand.BIOS)
    else:
        so = "this card offers no VFs"
        remedy = Remedy(
            text="find what the reason means in the documentation of Get-NetAdapterSriov",
            by_hand=ByHand.FIND_FIRST,
        )
    found = f"SriovSupport is {shown(support)}"
    return _off(exam, card.name, (found,), SOURCE, so, remedy)


def _disabled(exam: HostExam, card: WindowsAdapter) -> Finding:
    text = "switch it on; the link drops"
    enable = ("Enable-NetAdapterSriov", "-InterfaceDescription", exactly(card.description))
    return _off(
        exam,
        card.name,
        ("Enabled is False",),
        SOURCE,
        "SR-IOV of this adapter is switched off",
        Remedy(
            text=text,
            commands=(Command(argv=(*enable, "-Confirm:$false"), shell=Shell.POWERSHELL),),
            danger=Danger.DROPS_LINK,
            by_hand=ByHand.NO_STEP,
        )
        if card.has_safe_name
        else Remedy(text=text, danger=Danger.DROPS_LINK, by_hand=ByHand.NO_NAME),
    )


def _tool(card: WindowsAdapter, settings: str) -> str:
    """Name what sets a card's firmware, and for NVIDIA's the settings."""
    if card.pci_vendor == MELLANOX:
        return f"mlxconfig: {settings}"
    return "the card's page in the BIOS, or its maker's tool"


def _switch(exam: HostExam, switch: VirtualSwitch) -> Finding:
    return _off(
        exam,
        switch.name,
        ("IovEnabled is False",),
        SWITCH_SOURCE,
        "no guest on this virtual switch gets a VF",
        Remedy(
            text="create the switch again with -EnableIov $true, which can be set only at "
            "creation; its guests have no network meanwhile",
            danger=Danger.DROPS_LINK,
            by_hand=ByHand.NO_UNDO,
        ),
    )


def _guests(exam: HostExam, guests: list[GuestAdapter]) -> Iterator[Finding]:
    """Name those that request no VF: 0 is also what an adapter has that nobody has set."""
    for adapter in guests:
        if value_or_none(adapter.iov_weight) == 0:
            yield _off(
                exam,
                adapter.guest,
                ("IovWeight is 0",),
                ADAPTERS_SOURCE,
                "this guest's adapter does not request a VF, so its frames go through the "
                "virtual switch",
                _weight(adapter.guest),
                Severity.FAULT if exam.question.purpose is Purpose.GUESTS else Severity.NOTE,
            )


def _weight(guest: str) -> Remedy:
    text = "set an IOV weight on the guest's adapters; the guest needs the driver of the card's VFs"
    if WILDCARDS.search(guest) or not guest.isprintable():
        return Remedy(text=text, by_hand=ByHand.NO_NAME)
    argv = ("Set-VMNetworkAdapter", "-VMName", guest, "-IovWeight", "100")
    return Remedy(
        text=text, commands=(Command(argv=argv, shell=Shell.POWERSHELL),), by_hand=ByHand.NO_STEP
    )


def _off(
    exam: HostExam,
    where: str,
    found: tuple[str, ...],
    source: str,
    so: str,
    remedy: Remedy,
    severity: Severity = Severity.FAULT,
) -> Finding:
    return exam.finding(
        severity,
        tuple(Evidence(found=one, source=source) for one in found),
        so=so,
        where=shown(where, 60),
        remedies=(remedy,),
        bounds=_bounds(exam.host),
        unpriced="how much the host's cores forward instead is not known: measure a guest's "
        "transfer before and after, with `wirespeed measure command`",
    )


def _bounds(host: HostFacts) -> tuple[Bound, ...]:
    """What a guest misses at most: one core forwards for it at least as much as is published."""
    switches = host[WindowsSwitches].known()
    cards = [card for switch in switches for card in cards_of_switch(host, switch)]
    best = max((card.shown_bps for card in cards if card.shown_bps), default=ONE_CORE_BPS)
    if best <= ONE_CORE_BPS:
        return ()
    of = "of what the fastest card below a switch brings to one guest"
    return (Bound.of_share(Limit.AT_MOST, 1 - ONE_CORE_BPS / best, of, FORMULA),)


RULE = HostRule(
    slug="windows.sriov_off",
    title="SR-IOV off between card and guest (Windows)",
    why="A guest gets a VF only if the BIOS, Hyper-V, the card's firmware, the adapter, the "
    "virtual switch and the guest's own adapter all enable it. Each has a setting in a "
    "different place. If one is off, the host's cores forward the frames, and no error is "
    "reported.",
    source="https://learn.microsoft.com/archive/blogs/jhoward/"
    "everything-you-wanted-to-know-about-sr-iov-in-hyper-v-part-8; "
    "https://learn.microsoft.com/windows/win32/fwp/wmi/netadaptercimprov/"
    "msft-netadapterhardwareinfosettingdata (SriovSupport); https://argonsys.com/microsoft-cloud/"
    "library/synthetic-accelerations-in-a-nutshell-windows-server-2012/ (3 to 5 Gb/s of one core)",
    price=f"Bound: {FORMULA}.",
    check=_check,
)
