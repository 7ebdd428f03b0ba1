"""RDMA on Windows whose connections fail or break."""

from collections.abc import Iterator

from wirespeed.model.command import Command, Shell
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Absent, known
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule, of_each
from wirespeed.model.shown import shown
from wirespeed.platforms.windows.facts.windows_adapters import WindowsAdapter, WindowsAdapters
from wirespeed.platforms.windows.facts.windows_host import require_windows
from wirespeed.platforms.windows.facts.windows_statistics import SOURCE, WindowsStatistics

RDMA_SOURCE = f"{SOURCE} | Select-Object -ExpandProperty RdmaStatistics"
MEANING = {
    "FailedConnectionAttempts": "connections could not be opened",
    "ConnectionErrors": "connections ended with an error",
    "CompletionQueueErrors": "completion queues overflowed or failed",
}


def _check(exam: HostExam) -> Iterator[Finding]:
    host = exam.host
    require_windows(host)
    statistics = host[WindowsStatistics]
    known(statistics.rows, "what the adapters count")
    cards = [
        card
        for card in host[WindowsAdapters].cards()
        if not all(isinstance(one, Absent) for one in statistics.rdma.get(card.guid, {}).values())
    ]
    if not cards:
        raise DoesNotApplyError("no adapter counts RDMA")
    yield from of_each(cards, lambda card: _card(exam, card, statistics))


def _card(exam: HostExam, card: WindowsAdapter, statistics: WindowsStatistics) -> Iterator[Finding]:
    counted = {
        name: None if isinstance(one, Absent) else known(one, f"what RDMA of {card.name} counts")
        for name, one in statistics.rdma[card.guid].items()
    }
    failed = {name: count for name in MEANING if (count := counted[name])}
    if not failed:
        return
    carried = [counted[name] for name in ("InboundBytes", "OutboundBytes")]
    is_used = any(count is None or count for count in carried)
    yield exam.finding(
        Severity.RISK if is_used else Severity.FAULT,
        (
            *(
                Evidence(found=f"{name} {count}", source=RDMA_SOURCE)
                for name, count in failed.items()
            ),
            *_carried(carried),
        ),
        so="; ".join(MEANING[name] for name in failed)
        + (
            "; SMB then opens other connections, or continues over TCP"
            if is_used
            else "; RDMA carried nothing: what tried to use it, such as SMB, uses TCP"
        ),
        where=shown(card.name, 60),
        remedies=(
            Remedy(
                text="find the affected peers: Get-SmbMultichannelConnection shows the ports "
                "that SMB uses, and the log Microsoft-Windows-SMBClient/Connectivity the "
                "reason. Both ends need the same RDMA technology (RoCE v2 or iWARP), VLAN, "
                "MTU and priority",
                commands=(
                    Command(
                        argv=("Get-SmbMultichannelConnection",),
                        shell=Shell.POWERSHELL,
                    ),
                ),
                by_hand=ByHand.FIND_FIRST,
            ),
        ),
        unpriced="the counts start when the adapter came up: how often connections fail now is not "
        "known; compare two readings",
    )


def _carried(counts: list[int | None]) -> Iterator[Evidence]:
    known_counts = [count for count in counts if count is not None]
    if len(known_counts) == len(counts):
        text = f"{sum(known_counts) / 1e9:.3g} GB carried by RDMA"
        yield Evidence(found=text, source=RDMA_SOURCE)


RULE = HostRule(
    slug="windows.rdma_errors",
    title="RDMA connections fail (Windows)",
    why="When RDMA connections fail, SMB Direct falls back to TCP and the user is not told: "
    "copies and live migrations are slower and cost CPU time. The adapter counts failed "
    "attempts, broken connections and completion queues in error.",
    source="https://learn.microsoft.com/en-us/previous-versions/windows/desktop/netadaptercimprov/"
    "msft-netadapter-rdmastatistics; https://learn.microsoft.com/en-us/windows-hardware/drivers/"
    "ddi/ntddndis/ns-ntddndis-_ndis_ndk_performance_counters",
    check=_check,
)
