"""SMB by TCP where RDMA is there: at both ends, or at this one."""

from collections.abc import Iterable, Iterator
from itertools import groupby

from wirespeed.model.bound import Bound, Limit
from wirespeed.model.command import Command, Shell
from wirespeed.model.fact import HostFacts
from wirespeed.model.finding import ByHand, Danger, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Known, Observed, known, value_or_none
from wirespeed.model.powershell import exactly
from wirespeed.model.question import Purpose
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule
from wirespeed.model.shown import shown
from wirespeed.model.symptom import Symptom
from wirespeed.platforms.windows.facts.windows_adapters import WindowsAdapter, WindowsAdapters
from wirespeed.platforms.windows.facts.windows_dcb import RDMA_SOURCE, WindowsDcb
from wirespeed.platforms.windows.facts.windows_host import require_windows
from wirespeed.platforms.windows.facts.windows_smb import (
    CLIENT_SOURCE,
    SERVER_SOURCE,
    SOURCE,
    SmbPair,
    WindowsSmb,
    interface_of,
    path_of,
)

LOOK = Command(
    argv=("Get-SmbMultichannelConnection", "-IncludeNotSelected:$true"), shell=Shell.POWERSHELL
)
FAST_BPS = 10 * 10**9
"""Below it, TCP costs little: RDMA of such a port is off for a reason."""
ONE_CORE_BPS = 4.5e9
"""The least that the SMB document saw of one core that receives by TCP."""
FORMULA = "1 - 4.5 Gb/s, what one core received by TCP where it was measured / speed"
UNPRICED = (
    "what TCP costs here depends on the CPU: measure a copy with `wirespeed measure command`, with "
    "RDMA and without"
)


def _check(exam: HostExam) -> Iterator[Finding]:
    host = exam.host
    require_windows(host)
    smb = host[WindowsSmb]
    if not known(smb.client_multichannel, "whether SMB Multichannel is on"):
        raise DoesNotApplyError("SMB Multichannel is off, and SMB Direct needs it")
    pairs = known(smb.pairs, "the connections of SMB")
    adapters = _with_rdma(host)
    if not pairs and not adapters:
        raise DoesNotApplyError("no SMB connection is open, and no adapter has RDMA on")
    unseen: set[int] = set()
    yield from _hidden(exam, adapters, "client", unseen)
    for _, group in groupby(sorted(pairs, key=_connection), _connection):
        yield from _to_server(exam, tuple(group))
    yield from _hidden(exam, adapters, "server", unseen)


def _hidden(
    exam: HostExam, adapters: list[WindowsAdapter], end: str, unseen: set[int]
) -> Iterator[Finding]:
    """Name adapters whose RDMA this end of SMB does not see, each once."""
    smb = exam.host[WindowsSmb]
    interfaces, source = {
        "client": (smb.client_rdma, CLIENT_SOURCE),
        "server": (smb.server_rdma, SERVER_SOURCE),
    }[end]
    for adapter in adapters:
        capable = known(interfaces, f"the interfaces of SMB's {end}").get(adapter.index)
        if capable is None or adapter.index in unseen:
            continue
        if not known(capable, f"RDMA of {adapter.name} for SMB"):
            unseen.add(adapter.index)
            yield _unseen(exam, adapter, end, source)


def _connection(pair: SmbPair) -> tuple[str, str]:
    return pair.connection


def _with_rdma(host: HostFacts) -> list[WindowsAdapter]:
    rdma = host[WindowsDcb].rdma
    known(host[WindowsDcb].rdma_rows, "RDMA of the adapters")
    return [
        adapter
        for adapter in host[WindowsAdapters].known()
        if adapter.is_up and adapter.guid in rdma and value_or_none(rdma[adapter.guid]) is True
    ]


def _unseen(exam: HostExam, adapter: WindowsAdapter, end: str, source: str) -> Finding:
    name = shown(adapter.name, 60)
    return _finding(
        exam,
        Severity.RISK,
        name,
        (adapter.link_bps,),
        (
            Evidence(found=f"RDMA of {name} is on", source=RDMA_SOURCE),
            Evidence(found=f"SMB's {end} finds {name} not capable of RDMA", source=source),
        ),
        f"SMB's {end} uses only TCP on this adapter",
        Remedy(
            text="find what hides RDMA from SMB: Network Direct off for the whole host "
            "(Get-NetOffloadGlobalSetting), the feature SMB Direct missing "
            "(Get-WindowsOptionalFeature -Online -FeatureName SmbDirect, on Windows 10 and "
            "11), a team of Windows' own above the adapter, or a driver that reports RDMA as "
            "not operational (Get-NetAdapterRdma)",
            by_hand=ByHand.FIND_FIRST,
        ),
    )


def _to_server(exam: HostExam, pairs: tuple[SmbPair, ...]) -> Iterator[Finding]:
    selected = [p for p in pairs if known(p.is_selected, f"which paths to {p.server} are used")]
    if not selected or any(_is_rdma(p) and value_or_none(p.has_failed) is not True
                           for p in selected):  # fmt: skip
        return
    by_rdma = [pair for pair in pairs if _is_rdma(pair)]
    if by_rdma:
        yield _not_used(exam, selected, by_rdma)
        return
    if off := _switched_off(exam.host, selected):
        yield _off(exam, selected, off)
        return
    here = [p for p in selected if _client_has_rdma(exam.host, p)]
    if here and not any(value_or_none(pair.server_rdma) for pair in pairs):
        yield _not_offered(exam, here)


def _is_rdma(pair: SmbPair) -> bool:
    ends = ((pair.client_rdma, "this end"), (pair.server_rdma, "the server"))
    return all(known(one, f"RDMA of {end}, to {pair.server}") for one, end in ends)


def _client_has_rdma(host: HostFacts, pair: SmbPair) -> bool:
    seen = known(host[WindowsSmb].client_rdma, "the interfaces of SMB's client")
    capable = seen.get(pair.client_index)
    return capable is not None and known(
        capable, "what SMB's client finds its interface capable of"
    )


def _not_used(exam: HostExam, selected: list[SmbPair], by_rdma: list[SmbPair]) -> Finding:
    server = _server(selected)
    failures = sum(filter(None, (value_or_none(pair.failures) for pair in by_rdma)))
    by_tcp = [path_of(exam.host, pair) for pair in selected if not _is_rdma(pair)]
    both = [f"{path_of(exam.host, pair)}, {_state(pair)}" for pair in by_rdma]
    return _finding(
        exam,
        Severity.FAULT,
        server,
        [bps for pair in by_rdma for bps in (pair.client_bps, pair.server_bps)],
        (
            *(Evidence(found=f"selected: {path}, by TCP", source=SOURCE) for path in by_tcp[:4]),
            *(Evidence(found=f"RDMA at both ends: {path}", source=SOURCE) for path in both[:4]),
        ),
        f"SMB to {server} uses TCP although both ends have RDMA"
        + (f"; connections by RDMA failed: FailureCount {failures}" if failures else ""),
        Remedy(
            text="see why RDMA is not used: the log Microsoft-Windows-SMBClient/Connectivity "
            "has the reason of each failure. Check that both ends have the same technology "
            "(RoCE v2 or iWARP), VLAN, MTU and priority, that RDMA itself works between them "
            "(nd_rping of NVIDIA's driver), and that a firewall between them lets UDP port 4791 "
            "(RoCE v2) or TCP port 5445 (iWARP) through. Update-SmbMultichannelConnection tries "
            "again",
            commands=(LOOK,),
            by_hand=ByHand.FIND_FIRST,
        ),
    )


def _switched_off(host: HostFacts, selected: list[SmbPair]) -> list[WindowsAdapter]:
    """Give the cards of these paths whose RDMA is off, while the server's interface has it."""
    rdma = host[WindowsDcb].rdma
    indexes = {pair.client_index for pair in selected if value_or_none(pair.server_rdma)}
    return [
        card
        for card in host[WindowsAdapters].cards()
        if card.index in indexes
        and isinstance(is_on := rdma.get(card.guid), Known)
        and not is_on.value
        and (card.shown_bps or 0) >= FAST_BPS
    ]


def _off(exam: HostExam, selected: list[SmbPair], cards: list[WindowsAdapter]) -> Finding:
    server = _server(selected)
    technologies = exam.host[WindowsDcb].technologies
    told = [value_or_none(technologies[card.guid]) for card in cards]
    by_index = {card.index for card in cards}
    paths = [pair for pair in selected if pair.client_index in by_index]
    return _finding(
        exam,
        Severity.FAULT if exam.question.purpose is Purpose.STORAGE else Severity.RISK,
        server,
        [bps for pair in paths for bps in (pair.client_bps, pair.server_bps)],
        (
            *(
                Evidence(
                    found=f"RDMA of {shown(card.name, 60)} is switched off"
                    + (f" ({shown(technology)})" if technology else ""),
                    source=RDMA_SOURCE,
                )
                for card, technology in list(zip(cards, told, strict=True))[:4]
            ),
            *(
                Evidence(
                    found=f"selected: {path_of(exam.host, pair)}, by TCP; the server's interface "
                    "has RDMA",
                    source=SOURCE,
                )
                for pair in paths[:4]
            ),
        ),
        f"SMB to {server} uses TCP: its RDMA is ready, and that of this end is switched off",
        _switch_on(cards),
    )


def _switch_on(cards: list[WindowsAdapter]) -> Remedy:
    text = (
        "switch RDMA on; the link drops. For RoCE set up PFC first, here and on the switch "
        "(Enable-NetQosFlowControl, Enable-NetAdapterQos): without it, a driver that comes with "
        "Windows keeps RDMA off; iWARP needs none"
    )
    if not all(card.has_safe_name for card in cards):
        return Remedy(text=text, danger=Danger.DROPS_LINK, by_hand=ByHand.NO_NAME)
    return Remedy(
        text=text,
        commands=tuple(
            Command(
                argv=(
                    *("Enable-NetAdapterRdma", "-InterfaceDescription", exactly(card.description)),
                    "-Confirm:$false",
                ),
                shell=Shell.POWERSHELL,
            )
            for card in cards
        ),
        danger=Danger.DROPS_LINK,
        by_hand=ByHand.FAR_END,
    )


def _not_offered(exam: HostExam, selected: list[SmbPair]) -> Finding:
    server = _server(selected)
    return _finding(
        exam,
        Severity.NOTE,
        server,
        [pair.client_bps for pair in selected],
        (
            *(
                Evidence(found=f"selected: {path_of(exam.host, pair)}, by TCP", source=SOURCE)
                for pair in selected[:4]
            ),
            Evidence(
                found=f"{interface_of(exam.host, selected[0])} is capable of RDMA here",
                source=CLIENT_SOURCE,
            ),
        ),
        f"{server} offers SMB no interface with RDMA, so SMB uses TCP",
        Remedy(
            text="if the server has RDMA, make it offer RDMA to SMB. On a Windows server, "
            "Get-SmbServerNetworkInterface shows what it offers; ksmbd needs `server multi "
            "channel support = yes` and a kernel built with CONFIG_SMB_SERVER_SMBDIRECT",
            by_hand=ByHand.FAR_END,
        ),
    )


def _finding(
    exam: HostExam,
    severity: Severity,
    where: str,
    speeds: Iterable[Observed[int]],
    evidence: tuple[Evidence, ...],
    so: str,
    remedy: Remedy,
) -> Finding:
    best = max((bps.value for bps in speeds if isinstance(bps, Known)), default=ONE_CORE_BPS)
    of = "of what the interface carries, if the disks are as fast"
    bound = Bound.of_share(Limit.AT_MOST, 1 - ONE_CORE_BPS / best, of, FORMULA)
    return exam.finding(
        severity,
        evidence,
        so=so,
        where=where,
        remedies=(remedy,),
        bounds=(bound,) if best > ONE_CORE_BPS else (),
        unpriced=UNPRICED,
    )


def _server(pairs: list[SmbPair]) -> str:
    return shown(pairs[0].server, 60)


def _state(pair: SmbPair) -> str:
    parts = ["selected" if value_or_none(pair.is_selected) else "not selected"]
    if value_or_none(pair.has_failed):
        parts.append("failed")
    if failures := value_or_none(pair.failures):
        parts.append(f"FailureCount {failures}")
    if (channels := value_or_none(pair.channels)) is not None:
        parts.append(f"CurrentChannels {channels}")
    return ", ".join(parts)


RULE = HostRule(
    slug="windows.smb_not_by_rdma",
    title="SMB uses TCP although RDMA is available (Windows)",
    why="SMB starts over TCP and moves to RDMA by itself if both ends report an interface with it; "
    "if an RDMA connection fails, it stays on TCP and tells no user. A driver that comes with "
    "Windows may switch RDMA off, after an upgrade too, and SMB does not see the card's RDMA then. "
    "Copies, storage and live migrations cost CPU time. Measured for live migration on two ports "
    "of 10 Gb/s: TCP over "
    "Multichannel 20 Gb/s at 6 to 7 % CPU, SMB Direct 20 Gb/s with even less.",
    source="https://learn.microsoft.com/en-us/previous-versions/windows/desktop/smb/"
    "msft-smbmultichannelconnection; https://learn.microsoft.com/windows-server/storage/"
    "file-server/smb-direct; InfiniBand Annex A17 (RoCE v2 uses UDP port 4791); "
    "https://github.com/namjaejeon/ksmbd/issues/450; "
    "`RDMA/RoCE Considerations for Windows 2016 on ConnectX-3 Adapters` (off while PFC is); "
    "https://github.com/microsoft/Validate-DCB/issues/53; "
    "`High performance live migration done right means using SMB Direct`",
    price=f"Bound: {FORMULA}.",
    explains=(Symptom.LOW_FIGURE,),
    explains_runs=False,
    check=_check,
)
