"""A team of Windows' own on ports where SMB would use each port, and RDMA, by itself."""

from collections.abc import Iterator

from wirespeed.model.bound import Bound, Limit
from wirespeed.model.finding import ByHand, Danger, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Known, known
from wirespeed.model.question import Purpose
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule
from wirespeed.model.shown import shown
from wirespeed.platforms.windows.facts.windows_adapters import SOURCE as ADAPTERS_SOURCE
from wirespeed.platforms.windows.facts.windows_adapters import WindowsAdapter, WindowsAdapters
from wirespeed.platforms.windows.facts.windows_dcb import RDMA_SOURCE, WindowsDcb
from wirespeed.platforms.windows.facts.windows_host import require_windows
from wirespeed.platforms.windows.facts.windows_teams import LBFO_SOURCE, Team, WindowsTeams

FAST_BPS = 10 * 10**9
MEASURED = {
    "lacp": (
        "many live migrations over two 10 Gb/s ports in a LACP team reached 17 Gb/s at 22 % "
        "CPU with TCP and 19 Gb/s at 24 % with SMB"
    ),
    "switchindependent": (
        "one live migration over two 10 Gb/s ports in such a team reached 10 "
        "Gb/s: it is one stream, and the team sends a stream over one member"
    ),
}
"""By `TeamingMode`: what the document measured of each."""
OTHER_MODE = "the team sends each stream over one member; no figure is published for this mode"


FORMULA = "1 - speed of the slowest member / sum of the members; a stream is on one of them"


def _check(exam: HostExam) -> Iterator[Finding]:
    host = exam.host
    require_windows(host)
    teams = known(host[WindowsTeams].lbfo, "the teams of Windows")
    if not teams:
        raise DoesNotApplyError("there is no team")
    adapters = host[WindowsAdapters].known()
    rdma = host[WindowsDcb].rdma
    for team in teams:
        members = [a for a in adapters if a.name in team.members]
        fast = [a for a in members if a.shown_bps and a.shown_bps >= FAST_BPS]
        if len(fast) < 2:
            yield from _of_slow_ports(exam, team, members)
            continue
        capable = [a for a in fast if isinstance(rdma.get(a.guid), Known)]
        yield exam.finding(
            Severity.FAULT if exam.question.purpose is Purpose.STORAGE else Severity.NOTE,
            (
                Evidence(
                    found=f"{shown(team.mode)} team of "
                    + ", ".join(shown(a.name, 60) for a in members),
                    source=LBFO_SOURCE,
                ),
                *(
                    Evidence(found=f"{shown(a.name, 60)} can do RDMA", source=RDMA_SOURCE)
                    for a in capable
                ),
            ),
            so=MEASURED.get(team.mode.lower(), OTHER_MODE)
            + "; SMB Multichannel without a team reached 20 Gb/s at 6 to 7 % CPU"
            + (", and SMB Direct 20 Gb/s with even less" if capable else ""),
            where=shown(team.name, 60),
            remedies=(
                Remedy(
                    text="remove the team for SMB and live migration: SMB finds every port "
                    "itself (Get-SmbMultichannelConnection)"
                    + (
                        " and uses their RDMA, which a team hides (Get-NetAdapterRdma)"
                        if capable
                        else ""
                    )
                    + ". The team's addresses go with it, and other traffic may need it: check "
                    "first what uses it",
                    danger=Danger.DROPS_LINK,
                    by_hand=ByHand.FIND_FIRST,
                ),
            ),
            bounds=_bounds([a.shown_bps for a in members if a.shown_bps]),
        )


def _of_slow_ports(exam: HostExam, team: Team, members: list[WindowsAdapter]) -> Iterator[Finding]:
    """Name a team below SMB, where the host is asked about for storage.

    One connection is one stream, and a stream is on one member; Multichannel has one for each port.
    """
    speeds = [a.shown_bps for a in members if a.is_up and a.shown_bps]
    is_even = len(speeds) > 1 and len(set(speeds)) == 1  # SMB leaves slower ports idle
    if exam.question.purpose is not Purpose.STORAGE or not is_even:
        return
    one, all_ = min(speeds) / 1e9, sum(speeds) / 1e9
    yield exam.finding(
        Severity.RISK,
        (
            Evidence(
                found=f"{shown(team.mode)} team of "
                + ", ".join(shown(a.name, 60) for a in members),
                source=LBFO_SOURCE,
            ),
            Evidence(
                found=f"{len(speeds)} members with a link, {all_:g} Gb/s together",
                source=ADAPTERS_SOURCE,
            ),
        ),
        so=f"the team sends each stream over one member: a copy gets {one:g} of {all_:g} Gb/s. SMB "
        "Multichannel without a team uses every port at once, where the server has as many",
        where=shown(team.name, 60),
        remedies=(
            Remedy(
                text="remove the team for SMB, and give each port an address: SMB finds every port "
                "itself (Get-SmbMultichannelConnection). The team's addresses go with it, and "
                "other traffic may need it: check first what uses it",
                danger=Danger.DROPS_LINK,
                by_hand=ByHand.FIND_FIRST,
            ),
        ),
        bounds=(
            Bound.of_share(
                Limit.AT_MOST,
                1 - min(speeds) / sum(speeds),
                "of what the members carry together, for one copy",
                FORMULA,
            ),
        ),
    )


def _bounds(speeds: list[int]) -> tuple[Bound, ...]:
    of = "of what the members carry together, for one live migration over TCP"
    return (Bound.of_share(Limit.AT_MOST, 1 - min(speeds) / sum(speeds), of, FORMULA),)


RULE = HostRule(
    slug="windows.team_slower_than_smb",
    title="Team used where SMB Multichannel is faster (Windows)",
    why="A team (LBFO) hashes each stream to one member, uses CPU time for that, and hides RDMA. "
    "SMB 3 uses several ports without a team. Measured for live migration on two ports of 10 "
    "Gb/s: team with TCP 17 Gb/s at 22 % CPU (12 % with RSS set well), team with SMB 19 at "
    "24 % (17.5 at 8 %), Multichannel without a team 20 at 6 to 7 %, SMB Direct 20, line "
    "rate.",
    source="`High performance live migration done right means using SMB Direct`; "
    "`Windows Server 2012 NIC Teaming and SMB Multichannel Solutions` (TechEd WSV314: SMB uses "
    "adapters of one kind and speed at once)",
    price=f"Bound: {FORMULA}.",
    check=_check,
)
