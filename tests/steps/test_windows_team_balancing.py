"""How a team of Windows chooses a member."""

import json

import pytest
from described_windows import DescribedWindows
from proof import DescribedControl, plan_on, prove
from pydantic import ValidationError
from samples import is_never_guessed, reason_of, section_of, state_of

from wirespeed.model.finding import Danger
from wirespeed.model.observed import Unreadable
from wirespeed.platforms.windows.steps.windows_team_balancing import WindowsTeamBalancing

SET = WindowsTeamBalancing(of="set", name="Guests 1", algorithm="HyperVPort")
LBFO = WindowsTeamBalancing(of="lbfo", name="Team1", algorithm="HyperVPort")
# learn.microsoft.com, MSFT_NetLbfoTeam: TransportPorts 0, IPAddresses 2, MacAddresses 3,
# HyperVPort 4, Dynamic 5.
NUMBERS = {"TransportPorts": 0, "IPAddresses": 2, "MacAddresses": 3, "HyperVPort": 4, "Dynamic": 5}


def host(switch: int = 5, team: int = 0) -> DescribedWindows:
    return DescribedWindows(
        teams={("VMSwitchTeam", "Guests 1"): switch, ("NetLbfoTeam", "Team1"): team}
    )


def test_a_team_within_a_switch_and_back():
    prove(SET, host(), host(switch=4))


@pytest.mark.parametrize("number", [0, 2, 3, 5])
def test_a_team_of_lbfo_and_back(number: int):
    prove(LBFO, host(team=number), host(team=4))


def test_the_commands():
    one = plan_on(SET, host()).steps[0]
    assert [c.line() for c in (*one.commands, *one.undo)] == [
        "Set-VMSwitchTeam -Name 'Guests 1' -LoadBalancingAlgorithm 'HyperVPort' -Confirm:$false",
        "Set-VMSwitchTeam -Name 'Guests 1' -LoadBalancingAlgorithm 'Dynamic' -Confirm:$false",
    ]
    assert one.danger is Danger.DROPS_LINK


@pytest.mark.parametrize(("name", "number"), NUMBERS.items())
def test_a_name_and_a_number_are_one_algorithm(name: str, number: int):
    for said in (name, number):
        rows = json.dumps([{"Name": "team1", "LoadBalancingAlgorithm": said}])
        assert state_of(LBFO, section_of(rows)) == {"algorithm": name}


def test_an_algorithm_that_no_document_lists_is_never_overwritten():
    rows = json.dumps([{"Name": "Team1", "LoadBalancingAlgorithm": 1}])
    assert "no document lists" in reason_of(LBFO, section_of(rows))


def test_a_team_that_is_not_there_is_refused():
    (found,) = DescribedControl(DescribedWindows()).read([LBFO])
    assert isinstance(found, Unreadable) and "No MSFT_NetLbfoTeam" in found.reason


def test_nothing_is_guessed():
    is_never_guessed(LBFO)


@pytest.mark.parametrize(
    "wrong",
    [
        {"of": "set", "algorithm": "TransportPorts"},
        {"algorithm": "RoundRobin"},
        {"name": "Team*"},
        {"name": "-Name"},
        {"name": ""},
        {"name": "a\nb"},
    ],
)
def test_what_makes_no_sense_is_refused(wrong: dict[str, str]):
    given = {"of": "lbfo", "name": "Team1", "algorithm": "Dynamic"} | wrong
    with pytest.raises(ValidationError):
        WindowsTeamBalancing.model_validate(given)
