"""SMB Multichannel switched off on a host with fast ports."""

from collections.abc import Iterator

from wirespeed.model.bound import Bound, Limit
from wirespeed.model.command import Command, Shell
from wirespeed.model.finding import Evidence, Finding, Remedy, Severity, StepCall
from wirespeed.model.observed import Known, Observed, known
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule
from wirespeed.model.shown import shown
from wirespeed.platforms.windows.facts.windows_adapters import SOURCE as ADAPTERS_SOURCE
from wirespeed.platforms.windows.facts.windows_adapters import WindowsAdapter
from wirespeed.platforms.windows.facts.windows_behind import receiving_cards
from wirespeed.platforms.windows.facts.windows_dcb import RDMA_SOURCE, WindowsDcb
from wirespeed.platforms.windows.facts.windows_host import require_windows
from wirespeed.platforms.windows.facts.windows_smb import SETTING_SOURCE, WindowsSmb

ONE_CORE_BPS = 4.5e9
"""The least that the SMB document saw of one core."""
FORMULA = "1 - 4.5 Gb/s, what one core received where it was measured / sum of the cards"


def _check(exam: HostExam) -> Iterator[Finding]:
    host = exam.host
    require_windows(host)
    cards = receiving_cards(host)
    if not cards:
        raise DoesNotApplyError("no card of 10 Gb/s or more is up")
    rdma = host[WindowsDcb].rdma
    loses_rdma = any(rdma.get(card.guid) == Known(True, RDMA_SOURCE) for card in cards)
    smb = host[WindowsSmb]
    for end, is_on in (("client", smb.client_multichannel), ("server", smb.server_multichannel)):
        if _is_off(is_on, end):
            yield _finding(exam, end, cards, loses_rdma=loses_rdma)


def _is_off(is_on: Observed[bool], end: str) -> bool:
    return not known(is_on, f"SMB Multichannel of the {end}")


def _finding(
    exam: HostExam, end: str, cards: tuple[WindowsAdapter, ...], *, loses_rdma: bool
) -> Finding:
    names = ", ".join(shown(card.name, 60) for card in cards[:4])
    return exam.finding(
        Severity.FAULT if loses_rdma or len(cards) > 1 else Severity.RISK,
        (
            Evidence(found=f"EnableMultiChannel of the SMB {end} is off",
                     source=SETTING_SOURCE.format(end.title())),
            Evidence(found=f"{names}: 10 Gb/s or more", source=ADAPTERS_SOURCE),
        ),
        so=("this host reaches the files of each server"
            if end == "client"
            else "each client reaches this host's files")
        + " by one TCP connection on one interface, which one core receives"
        + (", and without RDMA" if loses_rdma else ""),
        where=f"SMB {end}",
        remedies=(
            Remedy(
                text=f"switch Multichannel on for the SMB {end}, then check what a new "
                "connection uses: Get-SmbMultichannelConnection",
                commands=(
                    Command(
                        argv=(f"Set-Smb{end.title()}Configuration", "-EnableMultiChannel:$true",
                              "-Force:$true"),
                        shell=Shell.POWERSHELL,
                    ),
                ),
                steps=(StepCall.of("windows_smb_multichannel", end=end),),
            ),
        ),
        bounds=_bounds(cards),
    )  # fmt: skip


def _bounds(cards: tuple[WindowsAdapter, ...]) -> tuple[Bound, ...]:
    total_bps = sum(filter(None, (card.shown_bps for card in cards)))
    of = "of what these cards carry, if the disks are as fast"
    return (Bound.of_share(Limit.AT_MOST, 1 - ONE_CORE_BPS / total_bps, of, FORMULA),)


RULE = HostRule(
    slug="windows.smb_multichannel_off",
    title="SMB Multichannel switched off (Windows)",
    why="Multichannel is on by default. When it is off, an SMB session is one TCP connection "
    "on one interface, however many the host has. SMB Direct is then off too, because it "
    "finds interfaces with RDMA through Multichannel. One core carried 4.5 to 5 Gb/s of a "
    "live migration.",
    source="https://learn.microsoft.com/azure/azure-local/manage/manage-smb-multichannel; "
    "https://learn.microsoft.com/powershell/module/smbshare/set-smbclientconfiguration; "
    "`High performance live migration done right means using SMB Direct`",
    price=f"Bound: {FORMULA}.",
    check=_check,
)
