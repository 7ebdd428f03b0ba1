"""A switch of Hyper-V with a team of its own, whose members are not alike or do not all carry."""

from collections.abc import Iterator

from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import CannotTellError, known
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule
from wirespeed.model.shown import shown
from wirespeed.platforms.windows.facts.windows_adapters import WindowsAdapter, WindowsAdapters
from wirespeed.platforms.windows.facts.windows_host import require_windows
from wirespeed.platforms.windows.facts.windows_teams import SET_SOURCE, WindowsTeams

ADAPTERS = "Get-NetAdapter -IncludeHidden"


def _check(exam: HostExam) -> Iterator[Finding]:
    host = exam.host
    require_windows(host)
    teams = known(host[WindowsTeams].embedded, "the teams within switches of Hyper-V")
    if not teams:
        raise DoesNotApplyError("no switch of Hyper-V has a team")
    adapters = {adapter.description: adapter for adapter in host[WindowsAdapters].known()}
    for team in teams:
        if not all(name in adapters for name in team.members):
            raise CannotTellError(f"a member of the team {shown(team.name, 60)}", ADAPTERS)
        members = [adapters[name] for name in team.members]
        down = [one for one in members if not one.is_up]
        speeds = {one.link_bps for one in members if one.is_up}
        if not down and len(speeds) < 2:
            continue
        so = (
            f"{len(members) - len(down)} of {len(members)} members carry the traffic of all guests "
            "of this switch"
            if down
            else "each guest is on one member: its throughput depends on which one that is, and "
            "Windows supports such a team of equal members alone"
        )
        yield exam.finding(
            Severity.FAULT if down else Severity.RISK,
            (
                Evidence(found=f"team of {len(members)} in the switch", source=SET_SOURCE),
                *(Evidence(found=_said(one), source=ADAPTERS) for one in members),
            ),
            so=so,
            where=shown(team.name, 60),
            remedies=(
                Remedy(
                    text="see why the link is down (cable, switch port, or the adapter itself)"
                    if down
                    else "use members of the same model, firmware, driver and speed "
                    "(Set-VMSwitchTeam)",
                    by_hand=ByHand.FIND_FIRST if down else ByHand.HARDWARE,
                ),
            ),
            unpriced="the cost depends on what the guests of this switch send and receive",
        )


def _said(adapter: WindowsAdapter) -> str:
    name = shown(adapter.name, 60)
    if not adapter.is_up:
        return f"{name} has no link"
    return f"{name}: {(adapter.shown_bps or 0) / 1e9:g} Gb/s"


RULE = HostRule(
    slug="windows.switch_team_uneven",
    title="Team of a Hyper-V switch has unequal or idle members",
    why="A team within a virtual switch (SET) binds each guest's adapter to one member; the "
    "physical switch does not know of the team. If a member has no link, its guests use the "
    "other members; the guests of a slower member stay on it. Microsoft asks for members of "
    "the same maker, model, firmware and driver, at the same speed.",
    source="https://learn.microsoft.com/windows-server/virtualization/hyper-v-virtual-switch/"
    "rdma-and-switch-embedded-teaming (Physical NIC requirements)",
    check=_check,
)
