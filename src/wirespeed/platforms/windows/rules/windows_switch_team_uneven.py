"""A switch of Hyper-V with a team of its own, whose members are not alike or do not all carry."""

from collections.abc import Iterator

from wirespeed.model.bound import Bound, Limit
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import CannotTellError, Known, known
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule, of_each
from wirespeed.model.shown import shown
from wirespeed.platforms.windows.facts.windows_adapters import (
    SOURCE,
    WindowsAdapter,
    WindowsAdapters,
)
from wirespeed.platforms.windows.facts.windows_host import require_windows
from wirespeed.platforms.windows.facts.windows_teams import SET_SOURCE, Team, WindowsTeams

OF_DOWN = "members without a link / members, which are equal"
OF_UNEVEN = "1 - speed of the slowest member / speed of the fastest"


def _check(exam: HostExam) -> Iterator[Finding]:
    host = exam.host
    require_windows(host)
    teams = known(host[WindowsTeams].embedded, "the teams within switches of Hyper-V")
    if not teams:
        raise DoesNotApplyError("no switch of Hyper-V has a team")
    yield from of_each(teams, lambda team: _team(exam, team))


def _team(exam: HostExam, team: Team) -> Iterator[Finding]:
    adapters = {one.description: one for one in exam.host[WindowsAdapters].known()}
    name = shown(team.name, 60)
    if not all(member in adapters for member in team.members):
        raise CannotTellError(f"which adapter a member of the team {name} is", SOURCE)
    members = [adapters[member] for member in team.members]
    down = [one for one in members if not one.is_up]
    speeds = [known(one.link_bps, f"the speed of {one.name}") for one in members if one.is_up]
    if down:
        severity = Severity.FAULT
        so = f"the guests of this switch share {len(speeds)} of {len(members)} members"
        share, of, formula = len(down) / len(members), "of what the members carry", OF_DOWN
        remedy = Remedy(
            text="see why the link is down (cable, switch port, or the adapter itself)",
            by_hand=ByHand.FIND_FIRST,
        )
    elif len(set(speeds)) > 1:
        severity = Severity.RISK
        so = (
            "each adapter of a guest is on one member: its throughput depends on which one that "
            "is; Microsoft supports only equal members in such a team"
        )
        share, of = 1 - min(speeds) / max(speeds), "of what a guest on the fastest member gets"
        formula = OF_UNEVEN
        remedy = Remedy(
            text="use members of the same model, firmware, driver and speed (Set-VMSwitchTeam)",
            by_hand=ByHand.HARDWARE,
        )
    else:
        return
    yield exam.finding(
        severity,
        (
            Evidence(found=f"team of {len(members)} in the switch", source=SET_SOURCE),
            *(Evidence(found=_said(one), source=SOURCE) for one in members),
        ),
        so=so,
        where=name,
        remedies=(remedy,),
        bounds=(Bound.of_share(Limit.AT_MOST, share, of, formula),),
    )


def _said(adapter: WindowsAdapter) -> str:
    name, bps = shown(adapter.name, 60), adapter.link_bps
    if adapter.is_up and isinstance(bps, Known):
        return f"{name}: {bps.value / 1e9:g} Gb/s"
    return f"{name} has no link"


RULE = HostRule(
    slug="windows.switch_team_uneven",
    title="Team of a Hyper-V switch has unequal or idle members",
    why="A team within a virtual switch (SET) binds each guest's adapter to one member; the "
    "physical switch does not know of the team. If a member has no link, its guests use the "
    "other members; the guests of a slower member stay on it. Microsoft asks for members of "
    "the same maker, model, firmware and driver, at the same speed.",
    source="https://learn.microsoft.com/windows-server/virtualization/hyper-v-virtual-switch/"
    "rdma-and-switch-embedded-teaming (Physical NIC requirements)",
    price=f"Bound: of a team with members down, {OF_DOWN}; of an uneven one, {OF_UNEVEN}.",
    check=_check,
)
