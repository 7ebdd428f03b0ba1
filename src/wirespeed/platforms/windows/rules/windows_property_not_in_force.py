"""A property of a card that was set and has come back, or is set and not in force."""

import re
from collections.abc import Iterator

from wirespeed.model.command import Command, Shell
from wirespeed.model.fact import HostFacts
from wirespeed.model.finding import ByHand, Danger, Evidence, Finding, Remedy, Severity, StepCall
from wirespeed.model.observed import CannotTellError, Known, Observed, value_or_none
from wirespeed.model.powershell import exactly
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule
from wirespeed.model.shown import shown
from wirespeed.model.symptom import Symptom
from wirespeed.platforms.windows.facts.windows_adapters import WindowsAdapter, WindowsAdapters
from wirespeed.platforms.windows.facts.windows_advanced import (
    SOURCE,
    AdvancedProperty,
    WindowsAdvanced,
)
from wirespeed.platforms.windows.facts.windows_behind import is_below_switch
from wirespeed.platforms.windows.facts.windows_bindings import SOURCE as BINDINGS_SOURCE
from wirespeed.platforms.windows.facts.windows_bindings import WindowsBindings
from wirespeed.platforms.windows.facts.windows_host import require_windows
from wirespeed.platforms.windows.facts.windows_offloads import (
    LSO_SOURCE,
    RSC_SOURCE,
    WindowsOffloads,
)
from wirespeed.platforms.windows.facts.windows_queues import RSS_SOURCE, WindowsQueues

ON = "1"
NOT_IN_FORCE = "the setting that was made is not in force"
KEYWORD = re.compile(r"\*?[A-Za-z0-9_]{1,64}")
VALUE = re.compile(r"[A-Za-z0-9_.:-]{1,64}")
OF_RSC = {
    "WFPCompatibility": "find the program whose filter of WFP inspects each segment (a firewall, a "
    "VPN), and remove it if it is not needed",
    "NDISCompatibility": "find the filter that is bound to the adapter and older than NDIS 6.30 "
    "(Get-NetAdapterBinding; an old Npcap, say), update or unbind it, and update the card's driver",
    "ForwardingEnabled": "leave it off if this host forwards: what is forwarded must not be "
    "joined; otherwise switch forwarding off on this interface (Set-NetIPInterface -Forwarding "
    "Disabled)",
    "NetOffloadGlobalDisabled": "switch it on for the host: Set-NetOffloadGlobalSetting "
    "-ReceiveSegmentCoalescing Enabled",
    "Capability": "leave it off: the adapter does not offer it as it is set up now",
}
"""Of MSFT_NetAdapterRscSettingData, and what Get-NetAdapterRsc's reference says of each."""
ETHERNET_HEADER_BYTES = 14
"""What *JumboPacket counts beside the MTU; some drivers have the MTU itself there."""


def _check(exam: HostExam) -> Iterator[Finding]:
    host = exam.host
    require_windows(host)
    cards = host[WindowsAdapters].cards()
    if not cards:
        raise DoesNotApplyError("the capture has no card on the Windows side")
    given = (text.partition("=") for text in exam.question.wanted)
    wanted = {keyword: value for keyword, equals, value in given if equals}
    nowhere = set(wanted)
    for card in cards:
        properties = host[WindowsAdvanced].of(card.guid)
        for keyword, value in wanted.items():
            had = properties.get(keyword.lower())
            nowhere -= {keyword} if had is not None else set()
            if had is not None and had.value != value:
                seen = Evidence(found=f"you want {shown(value)}", source="as you gave it")
                so = "the property does not have the value that you want"
                yield _finding(exam, card, had, value, seen, so)
        for keyword, is_on, source in _in_force(host, card):
            had = properties.get(keyword)
            if had is not None and had.value == ON and is_on == Known(False, source):
                if reason := _reason(host, card, keyword):
                    yield _suspended(exam, card, had, reason)
                else:
                    seen = Evidence(found="it is not in force", source=source)
                    yield _finding(exam, card, had, ON, seen, NOT_IN_FORCE)
        jumbo, mtu = properties.get("*jumbopacket"), card.mtu_bytes
        if jumbo is not None and jumbo.value.isdecimal() and isinstance(mtu, Known):
            asked = int(jumbo.value[:6])
            if mtu.value < asked - ETHERNET_HEADER_BYTES and card.is_up:
                seen = Evidence.of(mtu, f"MtuSize is {mtu.value}")
                yield _finding(exam, card, jumbo, jumbo.value, seen, NOT_IN_FORCE)
    if nowhere:
        names = ", ".join(shown(keyword) for keyword in sorted(nowhere))
        raise CannotTellError(f"no card has a property {names}", SOURCE)


def _in_force(host: HostFacts, card: WindowsAdapter) -> Iterator[tuple[str, Observed[bool], str]]:
    """Keyword in lower case, whether it is in force, and what shows it."""
    offloads = host[WindowsOffloads]
    if card.guid in offloads.lso:
        four, six = offloads.lso[card.guid]
        yield "*lsov2ipv4", four, LSO_SOURCE
        yield "*lsov2ipv6", six, LSO_SOURCE
    if card.guid in offloads.rsc:
        four, six = offloads.rsc[card.guid]
        yield "*rscipv4", four, RSC_SOURCE
        yield "*rscipv6", six, RSC_SOURCE
    rss = host[WindowsQueues].rss.get(card.guid)
    if rss is not None and not is_below_switch(host, card):
        yield "*rss", rss.is_enabled, RSS_SOURCE


def _reason(host: HostFacts, card: WindowsAdapter, keyword: str) -> str:
    """Give what keeps RSC off although it is switched on; empty: Windows says none."""
    if not keyword.startswith("*rsc"):
        return ""
    reasons = host[WindowsOffloads].rsc_reasons[card.guid]
    reason = value_or_none(reasons[keyword == "*rscipv6"]) or ""
    return reason if reason in OF_RSC else ""


def _suspended(exam: HostExam, card: WindowsAdapter, had: AdvancedProperty, reason: str) -> Finding:
    return exam.finding(
        Severity.NOTE,
        (
            Evidence(found=f"{shown(had.keyword)} is {ON}", source=SOURCE),
            Evidence(found=f"it is not in operation: {reason}", source=RSC_SOURCE),
        ),
        so="Windows keeps RSC off for this reason; a restart of the adapter does not switch it on",
        where=shown(card.name, 60),
        remedies=(Remedy(text=OF_RSC[reason], by_hand=ByHand.FIND_FIRST),),
        unpriced="without RSC the host receives each TCP segment by itself, which costs CPU time: "
        "compare with and without by `wirespeed measure command`",
    )


def _finding(
    exam: HostExam,
    card: WindowsAdapter,
    had: AdvancedProperty,
    value: str,
    seen: Evidence,
    so: str,
) -> Finding:
    filters = exam.host[WindowsBindings].all
    foreign = sorted(
        {
            shown(b.component_id)
            for b in (filters.value if isinstance(filters, Known) else ())
            if b.guid == card.guid and b.is_enabled and b.card_vendor and not b.is_own(card)
        }
    )
    return exam.finding(
        Severity.FAULT,
        (
            Evidence(found=f"{shown(had.keyword)} is {shown(had.value)}", source=SOURCE),
            seen,
            *(
                Evidence(
                    found=f"{name}, a filter of another maker, is bound to it",
                    source=BINDINGS_SOURCE,
                )
                for name in foreign
            ),
        ),
        so=so
        + (
            ": such a filter has been seen to revert properties of other makers' cards"
            if foreign
            else ""
        ),
        where=shown(card.name, 60),
        remedies=(_remedy(card, had, value, foreign),),
        unpriced="it depends on the property and the traffic: compare before and after by "
        "`wirespeed measure command`",
    )


def _remedy(card: WindowsAdapter, had: AdvancedProperty, value: str, foreign: list[str]) -> Remedy:
    if foreign:
        return Remedy(
            text="unbind the filter first, as its own finding says, then set the property again: "
            "with the filter bound, it may revert",
            by_hand=ByHand.FIND_FIRST,
        )
    is_set = had.value == value
    text = (
        "restart the adapter, so that the driver reads the property again; then check it"
        if is_set
        else "set the property, which restarts the adapter; then check that it stayed set"
    )
    if not card.has_safe_name or not KEYWORD.fullmatch(had.keyword) or not VALUE.fullmatch(value):
        return Remedy(text=text, danger=Danger.DROPS_LINK, by_hand=ByHand.NO_NAME)
    adapter = ("-InterfaceDescription", exactly(card.description))
    if is_set:
        return Remedy(
            text=text,
            commands=(_command("Restart-NetAdapter", *adapter, "-Confirm:$false"),),
            danger=Danger.DROPS_LINK,
            by_hand=ByHand.NO_STEP,
        )
    return Remedy(
        text=text,
        commands=(
            _command(
                "Set-NetAdapterAdvancedProperty",
                *adapter,
                *("-RegistryKeyword", had.keyword, "-RegistryValue", value),
                *("-AllProperties:$true", "-IncludeHidden:$true"),
            ),
        ),
        danger=Danger.DROPS_LINK,
        steps=(
            StepCall.of(
                "windows_property", adapter=card.description, keyword=had.keyword, value=value
            ),
        ),
    )


def _command(*words: str) -> Command:
    return Command(argv=words, shell=Shell.POWERSHELL)


RULE = HostRule(
    slug="windows.property_not_in_force",
    title="Adapter property set but not in force (Windows)",
    why="Device Manager and Set-NetAdapterAdvancedProperty write to the registry; "
    "Get-NetAdapterLso, -Rss, -Rsc and the MTU show what is in force. The two differ if the "
    "adapter was not restarted or the driver refused the value. If a filter reverts it, the "
    "registry itself has the old value, which shows only if you give the wanted value "
    "(--wanted KEYWORD=VALUE). Windows itself keeps RSC off for reasons that it names.",
    source="`From 10 to 40Gbps - Getting a Mellanox ConnectX-5 Working in WSL2`, Step 4; "
    "https://learn.microsoft.com/windows-hardware/drivers/network/"
    "standardized-inf-keywords-for-network-devices; "
    "https://learn.microsoft.com/powershell/module/netadapter/get-netadapterrsc",
    shows=(Symptom.SETTING_REVERTED,),
    check=_check,
)
