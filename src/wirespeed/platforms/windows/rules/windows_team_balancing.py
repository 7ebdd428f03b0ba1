"""A team whose algorithm leaves fast members idle, or is not the one for fast members."""

from collections.abc import Iterator

from wirespeed.model.bound import Bound, Limit
from wirespeed.model.command import Command, Shell
from wirespeed.model.fact import HostFacts
from wirespeed.model.finding import ByHand, Danger, Evidence, Finding, Remedy, Severity, StepCall
from wirespeed.model.observed import Known, Observed, Unreadable, known
from wirespeed.model.powershell import WILDCARDS
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule
from wirespeed.model.shown import shown
from wirespeed.platforms.windows.facts.windows_adapters import WindowsAdapters
from wirespeed.platforms.windows.facts.windows_host import require_windows
from wirespeed.platforms.windows.facts.windows_switches import WindowsSwitches
from wirespeed.platforms.windows.facts.windows_teams import (
    LBFO_SOURCE,
    SET_SOURCE,
    Team,
    WindowsTeams,
)

FAST_BPS = 10 * 10**9
HASHES = ("TransportPorts", "IPAddresses", "MacAddresses")
BEST = "HyperVPort"
FORMULA = "1 - speed of the slowest member / sum of the members; the primary may be any of them"


def _check(exam: HostExam) -> Iterator[Finding]:
    host = exam.host
    require_windows(host)
    teams = host[WindowsTeams]
    lbfo, embedded = _there(teams.lbfo), _there(teams.embedded)
    if not lbfo and not embedded:
        raise DoesNotApplyError("there is no team")
    for team in embedded:
        members = _members(host, team)
        if _are_fast(members) and _algorithm(team) == "Dynamic":
            yield _embedded(exam, team, members)
    for team in lbfo:
        members = _members(host, team)
        is_alone = team.mode.lower() == "switchindependent"
        if _are_fast(members) and is_alone and _algorithm(team) in HASHES:
            yield _one_way(exam, team, members)


def _there(teams: Observed[tuple[Team, ...]]) -> tuple[Team, ...]:
    """Without Hyper-V there is no team within a switch, and no cmdlet that would say so."""
    if isinstance(teams, Unreadable) and teams.reason.endswith("is not installed"):
        return ()
    return known(teams, "the teams of Windows")


def _members(host: HostFacts, team: Team) -> dict[str, int]:
    """Give the speed of each member that has a link, by its name, in bit/s."""
    names = {name.lower() for name in team.members}
    return {
        adapter.name: bps
        for adapter in host[WindowsAdapters].known()
        if (bps := adapter.shown_bps)
        and names & {adapter.name.lower(), adapter.description.lower()}
    }


def _are_fast(members: dict[str, int]) -> bool:
    return sum(bps >= FAST_BPS for bps in members.values()) > 1


def _algorithm(team: Team) -> str:
    return known(team.algorithm, f"how the team {team.name} spreads frames")


def _embedded(exam: HostExam, team: Team, members: dict[str, int]) -> Finding:
    return exam.finding(
        Severity.NOTE,  # the default of Windows Server 2016
        _evidence(team, members, SET_SOURCE),
        so="Dynamic moves running flows between members, and one site lost frames with it; "
        "Microsoft recommends HyperVPort for members of 10 Gb/s or more",
        where=shown(team.name, 60),
        remedies=(_remedy("set", team, "spread the guests' adapters over the members"),),
        unpriced="no figure of the difference is published: compare both by a guest's transfer, "
        "with `wirespeed measure command`",
    )


def _one_way(exam: HostExam, team: Team, members: dict[str, int]) -> Finding:
    total = sum(members.values())
    has_switch = _has_switch(exam.host, team)
    return exam.finding(
        Severity.RISK,
        _evidence(team, members, LBFO_SOURCE),
        so="the team receives all frames on its primary member: at most "
        f"{_gigabits(max(members.values()))} of {_gigabits(total)} Gb/s",
        where=shown(team.name, 60),
        remedies=(
            _remedy(
                "lbfo",
                team,
                "receive the frames of each guest's adapter on the member that it sends through",
            )
            if has_switch
            else Remedy(
                text="receive on all members: set LACP here (Set-NetLbfoTeam -TeamingMode Lacp) "
                "and on the switch ports at the same time; the team has no link until both are "
                "set. Without LACP no algorithm spreads received frames, because the switch does "
                "not know that the ports are a team",
                danger=Danger.DROPS_LINK,
                by_hand=ByHand.FAR_END,
            ),
        ),
        bounds=(
            Bound.of_share(
                Limit.AT_MOST,
                1 - min(members.values()) / total,
                "of what the members together can receive",
                FORMULA,
            ),
        ),
    )


def _has_switch(host: HostFacts, team: Team) -> bool:
    """Whether a switch of Hyper-V, and so guests, is above the team."""
    own = [one for one in host[WindowsAdapters].known() if one.name == team.name]
    switches = host[WindowsSwitches].all
    for switch in switches.value if isinstance(switches, Known) else ():
        for adapter in own:
            if adapter.guid in switch.card_guids or adapter.description in switch.card_descriptions:
                return True
    return False


def _evidence(team: Team, members: dict[str, int], source: str) -> tuple[Evidence, ...]:
    names = ", ".join(f"{shown(name, 60)} {_gigabits(bps)} Gb/s" for name, bps in members.items())
    return (
        Evidence(
            found=f"{shown(team.mode)} team, LoadBalancingAlgorithm "
            f"{shown(_algorithm(team))}: {names}",
            source=source,
        ),
    )


def _gigabits(bps: int) -> str:
    return f"{bps / 1e9:g}"


def _remedy(of: str, team: Team, text: str) -> Remedy:
    text += " (HyperVPort); each adapter then uses one member. Frames may be lost while flows move"
    if WILDCARDS.search(team.name) or not team.name.isprintable() or team.name.startswith("-"):
        return Remedy(text=text, danger=Danger.DROPS_LINK, by_hand=ByHand.NO_NAME)
    cmdlet = "Set-VMSwitchTeam" if of == "set" else "Set-NetLbfoTeam"
    return Remedy(
        text=text,
        commands=(
            Command(
                argv=(cmdlet, "-Name", team.name, "-LoadBalancingAlgorithm", BEST,
                      "-Confirm:$false"),
                shell=Shell.POWERSHELL,
            ),
        ),
        danger=Danger.DROPS_LINK,
        steps=(
            StepCall.of("windows_team_balancing", of=of, name=team.name, algorithm=BEST),
        ),
    )  # fmt: skip


RULE = HostRule(
    slug="windows.team_balancing",
    title="Load-balancing algorithm unfit for fast ports (Windows)",
    why="A switch-independent team (LBFO) that hashes addresses or ports receives all frames on "
    "its primary member; with HyperVPort each guest uses one member for both directions. For a "
    "team within a virtual switch (SET), Microsoft recommends HyperVPort for members of 10 Gb/s "
    "or more; the default is Dynamic in Windows Server 2016, and HyperVPort from 2019 on.",
    source="https://learn.microsoft.com/powershell/module/netlbfo/set-netlbfoteam; "
    "https://learn.microsoft.com/azure/azure-local/concepts/host-network-requirements; "
    "https://github.com/MicrosoftDocs/azure-stack-docs/pull/1423; "
    "https://github.com/dsccommunity/HyperVDsc/issues/138",
    price=f"Bound, of a team of LBFO: {FORMULA}.",
    check=_check,
)
