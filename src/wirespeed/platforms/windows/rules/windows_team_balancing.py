"""A team whose algorithm leaves fast members idle, or is not the one for fast members."""

from collections.abc import Iterator

from wirespeed.model.bound import Bound, Limit
from wirespeed.model.ceiling import Input
from wirespeed.model.command import Command, Shell
from wirespeed.model.fact import HostFacts
from wirespeed.model.finding import ByHand, Danger, Evidence, Finding, Remedy, Severity, StepCall
from wirespeed.model.observed import Known, Observed, Unreadable, known
from wirespeed.model.powershell import WILDCARDS
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule
from wirespeed.model.shown import shown
from wirespeed.platforms.windows.facts.windows_adapters import WindowsAdapter, WindowsAdapters
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
        members = _fast(host, team)
        if len(members) > 1 and _algorithm(team) == "Dynamic":
            yield _embedded(exam, team, members)
    for team in lbfo:
        members = _fast(host, team)
        is_alone = team.mode.lower() == "switchindependent"
        if len(members) > 1 and is_alone and _algorithm(team) in HASHES:
            yield _one_way(exam, team, members)


def _there(teams: Observed[tuple[Team, ...]]) -> tuple[Team, ...]:
    """Without Hyper-V there is no team within a switch, and no cmdlet that would say so."""
    if isinstance(teams, Unreadable) and teams.reason.endswith("is not installed"):
        return ()
    return known(teams, "the teams of Windows")


def _fast(host: HostFacts, team: Team) -> list[WindowsAdapter]:
    names = {name.lower() for name in team.members}
    return [
        adapter
        for adapter in host[WindowsAdapters].known()
        if (adapter.shown_bps or 0) >= FAST_BPS
        and names & {adapter.name.lower(), adapter.description.lower()}
    ]


def _algorithm(team: Team) -> str:
    return known(team.algorithm, f"how the team {team.name} spreads frames")


def _embedded(exam: HostExam, team: Team, members: list[WindowsAdapter]) -> Finding:
    return exam.finding(
        Severity.NOTE,  # the default of Windows Server 2016
        _evidence(team, members, SET_SOURCE),
        so="Dynamic moves running flows between members, and one site lost frames with it; "
        "Microsoft recommends HyperVPort for members of 10 Gb/s or more",
        where=shown(team.name, 60),
        remedies=(_remedy("set", team, "bind each port of the virtual switch to one member"),),
        unpriced="no figure of the difference is published",
    )


def _one_way(exam: HostExam, team: Team, members: list[WindowsAdapter]) -> Finding:
    total = sum(member.shown_bps or 0 for member in members)
    most = max(member.shown_bps or 0 for member in members)
    has_switch = _has_switch(exam.host, team)
    return exam.finding(
        Severity.RISK,
        _evidence(team, members, LBFO_SOURCE),
        so="the team receives all frames on its primary member: at most "
        f"{most / 1e9:g} of {total / 1e9:g} Gb/s",
        where=shown(team.name, 60),
        remedies=(
            _remedy("lbfo", team, "receive each guest's frames on the member that it sends through")
            if has_switch
            else Remedy(
                text="receive on all members: set LACP here (Set-NetLbfoTeam -TeamingMode Lacp) "
                "and on the switch ports at the same time. Without LACP no algorithm spreads "
                "received frames, because the switch does not know that the ports are a team",
                by_hand=ByHand.FAR_END,
            ),
        ),
        bounds=(
            Bound.of_share(
                Limit.AT_MOST,
                1 - min(member.shown_bps or 0 for member in members) / total,
                "of what the members together can receive",
                FORMULA,
                Input(
                    name="sum of the members",
                    shown=f"{total / 1e9:g} Gb/s",
                    source="Get-NetAdapter",
                ),
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


def _evidence(team: Team, members: list[WindowsAdapter], source: str) -> tuple[Evidence, ...]:
    names = ", ".join(f"{shown(one.name, 60)} {(one.shown_bps or 0) / 1e9:g} Gb/s"
                      for one in members)  # fmt: skip
    mode = shown(team.mode, 40)
    return (
        Evidence(
            found=f"{mode} team, LoadBalancingAlgorithm {shown(_algorithm(team), 40)}: {names}",
            source=source,
        ),
    )


def _remedy(of: str, team: Team, text: str) -> Remedy:
    text += " (HyperVPort). Frames may be lost while flows move"
    if WILDCARDS.search(team.name) or not team.name.isprintable() or team.name.startswith("-"):
        return Remedy(text=text, by_hand=ByHand.NO_NAME)
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
