"""SR-IOV on Windows that is off somewhere: in the machine, the card, the switch or the guest."""

from collections.abc import Iterator

from wirespeed.model.command import Command, Shell
from wirespeed.model.finding import ByHand, Danger, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Known, known, value_or_none
from wirespeed.model.question import Purpose
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule
from wirespeed.model.shown import shown
from wirespeed.platforms.windows.facts.windows_adapters import WindowsAdapter, WindowsAdapters
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


def _check(exam: HostExam) -> Iterator[Finding]:
    host = exam.host
    require_windows(host)
    switches = [s for s in host[WindowsSwitches].known() if s.reaches_a_card]
    guests = [a for a in known(host[WindowsSwitches].adapters, "the guests' adapters") if a.guest]
    wanting = [a for a in guests if a.iov_weight not in (Known(0, ADAPTERS_SOURCE),)]
    if exam.question.purpose is not Purpose.GUESTS and not any(
        isinstance(a.iov_weight, Known) and a.iov_weight.value for a in guests
    ):
        raise DoesNotApplyError("no guest requests a VF: check anyway with --for guests")
    if not switches:
        raise DoesNotApplyError(
            "no virtual switch is bound to a card (windows.switch_without_card)"
        )
    sriov = host[WindowsSriov]
    if not known(sriov.host_support, "whether the machine supports SR-IOV"):
        yield _machine(exam, sriov)
    for switch in switches:
        for card in host[WindowsAdapters].cards():
            if card.guid in switch.card_guids or card.description in switch.card_descriptions:
                yield from _card(exam, sriov, card)
        if known(switch.is_iov_enabled, f"SR-IOV of the switch {switch.name}"):
            names = {switch.name}
            yield from _guests(exam, [a for a in guests if a.switch_name in names])
        elif wanting or exam.question.purpose is Purpose.GUESTS:
            yield _switch(exam, switch)


def _machine(exam: HostExam, sriov: WindowsSriov) -> Finding:
    reasons = sriov.host_reasons or ("it gives no reason",)
    return _off(
        exam,
        exam.host.name,
        tuple(Evidence(found=shown(reason, 200), source=HOST_SOURCE) for reason in reasons),
        "Hyper-V cannot assign VFs on this machine",
        Remedy(
            text="enable SR-IOV, VT-d or AMD's IOMMU, and ACS in the BIOS; update the BIOS if "
            "Hyper-V says so",
            by_hand=ByHand.BIOS,
        ),
    )


def _card(exam: HostExam, sriov: WindowsSriov, card: WindowsAdapter) -> Iterator[Finding]:
    where = shown(card.name, 60)
    one = sriov.by_guid.get(card.guid)
    if one is None:
        known(sriov.rows, f"SR-IOV of {card.name}")
        yield _off(
            exam,
            where,
            (Evidence(found="Windows does not list it as a card with SR-IOV", source=SOURCE),),
            "this card offers no VFs: SR-IOV is off in its firmware, or the card does not "
            "support it",
            Remedy(
                text="switch SR-IOV on in the card's firmware "
                f"({_tool(card, 'SRIOV_EN, NUM_OF_VFS')}), and in the driver's properties",
                by_hand=ByHand.BIOS,
            ),
        )
        return
    support = value_or_none(one.support)
    if support is not None and support != SUPPORTED:
        yield _off(
            exam,
            where,
            (Evidence(found=f"SriovSupport is {shown(support, 60)}", source=SOURCE),),
            "the machine or its BIOS prevents this card from offering VFs",
            Remedy(
                text="in the BIOS, turn on SR-IOV, the IOMMU and Above 4G Decoding; or use "
                "another slot",
                by_hand=ByHand.BIOS,
            ),
        )
    if value_or_none(one.vfs) == 0:
        yield _off(
            exam,
            where,
            (Evidence(found="NumVFs is 0", source=SOURCE),),
            "the card's firmware is set to 0 VFs",
            Remedy(
                text=f"set the number of VFs in the card's firmware ({_tool(card, 'NUM_OF_VFS')})",
                by_hand=ByHand.BIOS,
            ),
        )
    if value_or_none(one.is_enabled) is False:
        yield _off(
            exam,
            where,
            (Evidence(found="Enabled is False", source=SOURCE),),
            "SR-IOV of this adapter is switched off",
            Remedy(
                text="switch it on; the link drops",
                commands=(
                    Command(
                        argv=("Enable-NetAdapterSriov", "-Name", card.name), shell=Shell.POWERSHELL
                    ),
                ),
                danger=Danger.DROPS_LINK,
                by_hand=ByHand.NO_STEP,
            ),
        )


def _tool(card: WindowsAdapter, settings: str) -> str:
    """Name what sets a card's firmware, and for NVIDIA's the settings."""
    if card.pci_vendor == MELLANOX:
        return f"mlxconfig: {settings}"
    return "the card's page in the BIOS, or its maker's tool"


def _switch(exam: HostExam, switch: VirtualSwitch) -> Finding:
    return _off(
        exam,
        shown(switch.name, 60),
        (Evidence(found="IovEnabled is False", source=SWITCH_SOURCE),),
        "no guest on this virtual switch gets a VF",
        Remedy(
            text="create the switch again with -EnableIov $true, which can be set only at "
            "creation; its guests have no network meanwhile",
            danger=Danger.DROPS_LINK,
            by_hand=ByHand.NO_UNDO,
        ),
    )


def _guests(exam: HostExam, guests: list[GuestAdapter]) -> Iterator[Finding]:
    for adapter in guests:
        if value_or_none(adapter.iov_weight) == 0:
            yield _off(
                exam,
                shown(adapter.guest, 60),
                (Evidence(found="IovWeight is 0", source=ADAPTERS_SOURCE),),
                "this guest's adapter does not request a VF, so its frames go through the "
                "virtual switch",
                Remedy(
                    text="set an IOV weight on its adapter",
                    commands=(
                        Command(
                            argv=(
                                "Set-VMNetworkAdapter",
                                "-VMName",
                                adapter.guest,
                                "-IovWeight",
                                "100",
                            ),
                            shell=Shell.POWERSHELL,
                        ),
                    ),
                    by_hand=ByHand.NO_STEP,
                ),
            )


def _off(
    exam: HostExam, where: str, evidence: tuple[Evidence, ...], so: str, remedy: Remedy
) -> Finding:
    return exam.finding(
        Severity.FAULT,
        evidence,
        so=so,
        where=where,
        remedies=(remedy,),
        unpriced="the rate that the host's cores forward instead is not known: measure before "
        "and after",
    )


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
    "msft-netadapterhardwareinfosettingdata (SriovSupport)",
    check=_check,
)
