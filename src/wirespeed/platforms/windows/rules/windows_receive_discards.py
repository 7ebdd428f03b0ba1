"""Frames that a card of Windows discarded as no receive buffer was free."""

import re
from collections.abc import Iterator, Mapping

from wirespeed.facts.counters_loss import SILENT_SHARE
from wirespeed.model.command import Command, Shell
from wirespeed.model.fact import HostFacts
from wirespeed.model.finding import ByHand, Danger, Evidence, Finding, Remedy, Severity, StepCall
from wirespeed.model.observed import CannotTellError, Known, Observed, known
from wirespeed.model.powershell import exactly
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule, of_each
from wirespeed.model.shown import shown
from wirespeed.model.symptom import Symptom
from wirespeed.platforms.windows.facts.windows_adapters import WindowsAdapter, WindowsAdapters
from wirespeed.platforms.windows.facts.windows_advanced import (
    SOURCE as ADVANCED_SOURCE,
)
from wirespeed.platforms.windows.facts.windows_advanced import AdvancedProperty, WindowsAdvanced
from wirespeed.platforms.windows.facts.windows_host import require_windows
from wirespeed.platforms.windows.facts.windows_statistics import WindowsStatistics

SOURCE = "Get-NetAdapterStatistics | Format-List Name, Received*"
RISK_SHARE = 1e-3
"""Of the frames. Over 1 ms TCP gets 0.5 Gb/s with it (Mathis: 1.22 x 1460 bytes / RTT / root of
the share)."""
RISK_COUNT = 1000
"""CSS-Exchange fails an adapter from here on."""
ETHERNET_HEADER_BYTES = 14
PACKETS = ("ReceivedUnicastPackets", "ReceivedMulticastPackets", "ReceivedBroadcastPackets")
BUFFERS = ("*receivebuffers", "numrxbufferssmall", "maxrxring1length")
"""In lower case: the standardised keyword, and vmxnet3's own."""
VMXNET3 = re.compile(r"PCI\\VEN_15AD&DEV_07B0", re.I)
OF_VMXNET3 = {"numrxbufferssmall": 8192, "maxrxring1length": 4096}
"""The largest that VMware's article gives, where the driver tells none."""
REDHAT = 0x1AF4
VALUE = re.compile(r"[0-9]{1,9}")


def _check(exam: HostExam) -> Iterator[Finding]:
    host = exam.host
    require_windows(host)
    statistics = host[WindowsStatistics]
    known(statistics.rows, "what the adapters count")
    cards = [c for c in host[WindowsAdapters].cards() if c.is_up and c.guid in statistics.by_guid]
    if not cards:
        raise DoesNotApplyError("no card that is up has counters")
    yield from of_each(cards, lambda card: _card(exam, card, statistics.by_guid[card.guid]))


def _card(
    exam: HostExam, card: WindowsAdapter, counts: Mapping[str, Observed[int]]
) -> Iterator[Finding]:
    discarded = known(counts["ReceivedDiscardedPackets"], f"what {card.name} discarded")
    # ntddndis.h: the discards are the frames without a buffer, and those with an error.
    broken = known(counts["ReceivedPacketErrors"], f"what {card.name} received with an error")
    lost = max(0, discarded - broken)
    received, is_counted = _received(card, counts)
    share = lost / (lost + received) if lost else 0.0
    if share < SILENT_SHARE:
        return
    is_risk = share >= RISK_SHARE and lost >= RISK_COUNT and card.pci_vendor != REDHAT
    properties = _properties(exam.host, card)
    seen = (
        Evidence(
            found=f"ReceivedDiscardedPackets {discarded}, {'' if is_counted else 'at most '}"
            f"{100 * share:.2g} % of the frames since the adapter came up",
            source=SOURCE,
        ),
        *(
            Evidence(found=f"{shown(one.keyword)} is {shown(one.value)}", source=ADVANCED_SOURCE)
            for one in properties
        ),
    )
    yield exam.finding(
        Severity.RISK if is_risk else Severity.NOTE,
        seen,
        so="this driver also counts frames that are not meant for this guest: it is a loss only if "
        "the count grows with what the guest receives"
        if card.pci_vendor == REDHAT
        else "frames were dropped because no receive buffer was free: senders repeat them, and "
        "what does not repeat loses them",
        where=shown(card.name, 60),
        remedies=(*_buffers(card, properties), _more_cores()),
        unpriced="the counts start when the adapter came up: whether they grow now is not known; "
        "read them twice while traffic arrives",
    )


def _received(card: WindowsAdapter, counts: Mapping[str, Observed[int]]) -> tuple[int, bool]:
    """Give the frames received, or the fewest that hold the bytes; and whether they are counted.

    Segments that RSC joined count once: the bytes then tell more frames.
    """
    size, mtu, fewest = counts["ReceivedBytes"], card.mtu_bytes, 0
    if isinstance(size, Known) and isinstance(mtu, Known):
        fewest = size.value // (mtu.value + ETHERNET_HEADER_BYTES)
    frames = [one.value for name in PACKETS if isinstance(one := counts[name], Known)]
    if frames:
        return max(fewest, sum(frames)), True
    if not fewest:
        raise CannotTellError(f"how many frames {card.name} received is not known", SOURCE)
    return fewest, False


def _properties(host: HostFacts, card: WindowsAdapter) -> tuple[AdvancedProperty, ...]:
    all_ = host[WindowsAdvanced]
    found = all_.of(card.guid) if isinstance(all_.all, Known) else {}
    return tuple(found[keyword] for keyword in BUFFERS if keyword in found)


def _buffers(card: WindowsAdapter, properties: tuple[AdvancedProperty, ...]) -> Iterator[Remedy]:
    """Say how the buffers are made more, where they are not the most already."""
    is_vmxnet3 = VMXNET3.match(card.component_id) is not None
    for one in properties:
        of_article = OF_VMXNET3.get(one.keyword.lower()) if is_vmxnet3 else None
        most = one.largest or of_article
        if most is None:
            yield Remedy(
                text=f"for bursts: raise {shown(one.keyword)} from {shown(one.value)} to the most "
                "that the driver takes: ValidRegistryValues or NumericParameterMaxValue of "
                "Get-NetAdapterAdvancedProperty",
                danger=Danger.DROPS_LINK,
                by_hand=ByHand.FIND_FIRST,
            )
        elif not VALUE.fullmatch(one.value) or int(one.value) < most:
            yield _raise(card, one, most)
    if is_vmxnet3 and not properties:
        yield Remedy(
            text="for bursts: raise Small Rx Buffers (NumRxBuffersSmall, up to 8192) and Rx Ring "
            "#1 Size (MaxRxRing1Length, up to 4096) among the driver's properties",
            danger=Danger.DROPS_LINK,
            by_hand=ByHand.FIND_FIRST,
        )


def _raise(card: WindowsAdapter, one: AdvancedProperty, most: int) -> Remedy:
    text = f"for bursts: set {shown(one.keyword)} to {most} instead of {shown(one.value)}"
    if not card.has_safe_name:
        return Remedy(text=text, danger=Danger.DROPS_LINK, by_hand=ByHand.NO_NAME)
    return Remedy(
        text=text,
        commands=(
            Command(
                argv=(
                    "Set-NetAdapterAdvancedProperty",
                    *("-InterfaceDescription", exactly(card.description)),
                    *("-RegistryKeyword", one.keyword, "-RegistryValue", str(most)),
                    *("-AllProperties:$true", "-IncludeHidden:$true"),
                ),
                shell=Shell.POWERSHELL,
            ),
        ),
        danger=Danger.DROPS_LINK,
        steps=(
            StepCall.of(
                "windows_property", adapter=card.description, keyword=one.keyword, value=str(most)
            ),
        ),
    )


def _more_cores() -> Remedy:
    return Remedy(
        text="see whether one core is full while the card receives (Get-CimInstance "
        "Win32_PerfFormattedData_PerfOS_Processor), and spread receiving over more "
        "(Get-NetAdapterRss): more buffers help with bursts alone",
        by_hand=ByHand.FIND_FIRST,
    )


RULE = HostRule(
    slug="windows.receive_discards",
    title="Frames discarded: no receive buffer free (Windows)",
    why="A card writes a frame only into a buffer that its driver posted. Where a CPU is slower "
    "than the frames, or away for longer than the buffers last, frames are discarded. "
    "Drivers come with few: vmxnet3 with 512 to 1024, a VF of ConnectX with 512, and both take "
    "several thousand. Nodes of a cluster were removed for it, as heartbeats were among them.",
    source="https://learn.microsoft.com/troubleshoot/windows-server/high-availability/"
    "nodes-failover-cluster-vmware; "
    "https://microsoft.github.io/CSS-Exchange/Diagnostics/HealthChecker/PacketsLossCheck/; "
    "VMware KB 2039495; https://learn.microsoft.com/windows-hardware/drivers/network/"
    "oid-gen-rcv-discards; "
    "https://github.com/virtio-win/kvm-guest-drivers-windows/issues/1373 (NetKVM counts frames "
    "that are not meant for the guest)",
    shows=(Symptom.NO_DESCRIPTOR,),
    explains=(Symptom.SEGMENTS_RESENT, Symptom.LOW_FIGURE),
    check=_check,
)
