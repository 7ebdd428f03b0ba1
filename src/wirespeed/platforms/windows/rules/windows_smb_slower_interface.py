"""SMB over a slower interface than another that it could use."""

from collections.abc import Iterator
from itertools import groupby

from wirespeed.model.bound import Bound, Limit
from wirespeed.model.command import Command, Shell
from wirespeed.model.fact import HostFacts
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Observed, known, value_or_none
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule
from wirespeed.model.shown import shown
from wirespeed.platforms.windows.facts.windows_host import require_windows
from wirespeed.platforms.windows.facts.windows_smb import SOURCE, SmbPair, WindowsSmb, path_of

OF_FAILURES = (
    "find the reason of each failure in the log Microsoft-Windows-SMBClient/Connectivity, and "
    "check VLAN, MTU and firewall on the way between the two addresses"
)
OF_KIND = (
    "give the faster interface {kind} at both ends (Get-NetAdapter{cmdlet}, the card's driver and "
    "its advanced properties). If it cannot have it, New-SmbMultichannelConstraint makes SMB use "
    "that interface, and no other if that one fails"
)
OF_WAY = (
    "check with ping that the two addresses reach each other, and that no constraint excludes the "
    "interface (Get-SmbMultichannelConstraint)"
)


CAPABLE = "what an interface of SMB is capable of"
FORMULA = "1 - speed of the used interface / speed of the faster one"


def _check(exam: HostExam) -> Iterator[Finding]:
    host = exam.host
    require_windows(host)
    pairs = known(host[WindowsSmb].pairs, "the connections of SMB")
    if not pairs:
        raise DoesNotApplyError("no SMB connection is open")
    for _, group in groupby(sorted(pairs, key=_connection), _connection):
        found = _to_server(exam, tuple(group))
        if found is not None:
            yield found


def _connection(pair: SmbPair) -> tuple[str, str]:
    return pair.connection


def _to_server(exam: HostExam, pairs: tuple[SmbPair, ...]) -> Finding | None:
    used = [p for p in pairs if known(p.is_selected, f"which paths to {p.server} are used")]
    if not used or len(used) == len(pairs):
        return None
    now = max(used, key=_bps)
    best = max((pair for pair in pairs if pair not in used), key=_bps)
    if _bps(best) <= _bps(now):
        return None
    reason, severity, advice = _reason(now, best)
    server = shown(now.server, 60)
    return exam.finding(
        severity,
        (
            Evidence(found=f"used: {_named(exam.host, now)}", source=SOURCE),
            Evidence(found=f"not used: {_named(exam.host, best)}", source=SOURCE),
        ),
        so=f"SMB to {server} uses an interface of {_bps(now) / 1e9:g} Gb/s although one of "
        f"{_bps(best) / 1e9:g} Gb/s reaches the same server: {reason}",
        where=server,
        remedies=(
            Remedy(
                text=advice,
                commands=(
                    Command(
                        argv=("Get-SmbMultichannelConnection", "-IncludeNotSelected:$true"),
                        shell=Shell.POWERSHELL,
                    ),
                ),
                by_hand=ByHand.FIND_FIRST,
            ),
        ),
        bounds=(
            Bound.of_share(
                Limit.AT_MOST,
                1 - _bps(now) / _bps(best),
                "of what the faster interface carries, if the disks are as fast",
                FORMULA,
            ),
        ),
    )


def _bps(pair: SmbPair) -> int:
    """Give what both ends of it can do."""
    return min(
        known(pair.client_bps, f"the speed of interface {pair.client_index}"),
        known(pair.server_bps, f"the speed of {pair.server}'s interface"),
    )


def _reason(now: SmbPair, best: SmbPair) -> tuple[str, Severity, str]:
    """Say why SMB chose so, as far as the pairs tell, how bad that is, and what to do."""
    if value_or_none(best.has_failed) or value_or_none(best.failures):
        return "connections over the faster one failed", Severity.FAULT, OF_FAILURES
    for kind, severity, used, other in (
        ("RDMA", Severity.NOTE, (now.client_rdma, now.server_rdma),
         (best.client_rdma, best.server_rdma)),
        ("RSS", Severity.FAULT, (now.client_rss, now.server_rss),
         (best.client_rss, best.server_rss)),
    ):  # fmt: skip
        if _has(*used) and not _has(*other):
            reason = f"SMB prefers {kind} at both ends, which the faster one lacks"
            return reason, severity, OF_KIND.format(kind=kind, cmdlet=kind.capitalize())
    return "Windows does not say why", Severity.RISK, OF_WAY


def _has(*ends: Observed[bool]) -> bool:
    return all(known(one, CAPABLE) for one in ends)


def _where(here: bool, there: bool) -> str:
    if here and there:
        return "at both ends"
    return "here only" if here else "at the server only" if there else "at neither end"


def _named(host: HostFacts, pair: SmbPair) -> str:
    kinds = [
        f"{word} {_where(*(known(one, CAPABLE) for one in ends))}"
        for word, ends in (
            ("RSS", (pair.client_rss, pair.server_rss)),
            ("RDMA", (pair.client_rdma, pair.server_rdma)),
        )
    ]
    failures = value_or_none(pair.failures)
    if failures:
        kinds.append(f"FailureCount {failures}")
    return f"{path_of(host, pair)}, {_bps(pair) / 1e9:g} Gb/s, {', '.join(kinds)}"


RULE = HostRule(
    slug="windows.smb_slower_interface",
    title="SMB uses a slower interface than another one (Windows)",
    why="SMB takes interfaces with RDMA first, then those with RSS, then all others; only "
    "among interfaces of the same kind does the speed count. So if a 10 Gb/s card reports no "
    "RSS, because of its driver or a setting, SMB uses a 1 Gb/s port that reports RSS instead.",
    source="http://blogs.technet.com/b/josebda/archive/2012/11/10/windows-server-2012-file-server-"
    "tip-make-sure-your-network-interfaces-are-rss-capable.aspx; "
    "https://learn.microsoft.com/powershell/module/smbshare/get-smbmultichannelconnection",
    price=f"Bound: {FORMULA}.",
    check=_check,
)
