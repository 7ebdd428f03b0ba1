"""The speed of a Mellanox card's link on Windows, by mlx5cmd."""

from json import dumps
from typing import Any

import pytest
from described_mlx5cmd import NAME, WORDS, MlxCard, said_by
from proof import DescribedControl, plan_on, prove
from pydantic import ValidationError
from samples import is_never_guessed, reason_of, section_of, state_of

from wirespeed.model.observed import Known
from wirespeed.platforms.windows.steps.windows_link import WindowsLink

ROW = {"Name": NAME, "Status": "Up", "TransmitLinkSpeed": 10**10, "ReceiveLinkSpeed": 10**10}


def step(card: MlxCard, gbit: int | None = 10, found: int | None = None) -> WindowsLink:
    """`found`: what a person read that the card is set to."""
    return WindowsLink(
        name=card.name, link_gbit_per_s=gbit, found_gbit_per_s=found, said=said_by(card)
    )


FORCED, NEGOTIATED = step(MlxCard()), step(MlxCard(is_set=25), None, 25)


@pytest.mark.parametrize("says", WORDS)
def test_forced_and_put_back_whatever_words_mlx5cmd_has_for_it(says: str):
    start = MlxCard(says=says)
    assert start.link is None
    prove(step(start), start, MlxCard(is_set=10, says=says))


@pytest.mark.parametrize("says", WORDS)
def test_negotiated_again_where_the_other_end_does(says: str):
    """One that negotiates is not told by its speed: mlx5cmd says what it did not say before."""
    start = MlxCard(is_set=25, far=None, says=says)
    prove(step(start, None, 25), start, MlxCard(far=None, says=says))


def test_the_commands_are_those_of_the_document():
    planned = plan_on(step(MlxCard()), MlxCard()).steps[0]
    assert [c.line() for c in planned.commands] == [
        f"mlx5cmd.exe -LinkSpeed -Name '{NAME}' -Set 10"
    ]
    assert [c.line() for c in planned.undo] == [f"mlx5cmd.exe -LinkSpeed -Name '{NAME}' -Set 0"]
    assert planned.read.line().endswith(f"; mlx5cmd.exe -LinkSpeed -Name '{NAME}' -Query")


def test_without_a_link_nothing_is_known_of_what_was_changed():
    """The switch is not set to 10 Gb/s: the card may be, and nobody can tell."""
    card = MlxCard(far=25)
    mine = step(card)
    card.is_set = 10
    (found,) = DescribedControl(card).read([mine])
    assert not isinstance(found, Known)
    assert "no link" in found.reason


def answer(*lines: str, **row: Any) -> str:
    return dumps([{**ROW, **row}, *lines])


def test_what_it_said_decides_whatever_the_link_is():
    mine = step(MlxCard())
    said = mine.said
    assert state_of(mine, section_of(answer(said))) == {"set": "negotiated"}
    assert state_of(mine, section_of(answer(*said.split()))) == {"set": "negotiated"}
    assert state_of(mine, section_of(answer("new"))) == {"set": "10 Gb/s"}


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        (answer("new", Status="Disconnected"), "no link"),
        (answer("new", ReceiveLinkSpeed=10**9), "has 1 Gb/s"),
        (answer("new", TransmitLinkSpeed=None), "speed is not reported"),
        (answer("new", TransmitLinkSpeed=0, ReceiveLinkSpeed=0), "speed is not reported"),
        (answer("new", Name="another"), "adapters of that name"),
        (answer(), "says nothing"),
        (answer(" ", "\t"), "says nothing"),
        (answer("x" * 5000), "no end of it"),
        (dumps(["new"]), "0 adapters"),
        (dumps([ROW, ROW, "new"]), "2 adapters"),
        (dumps("new"), "0 adapters"),
        ("[" * 100000, "JSON"),
    ],
)
def test_no_state(output: str, reason: str):
    assert reason in reason_of(step(MlxCard()), section_of(output))


def test_nothing_is_guessed():
    is_never_guessed(step(MlxCard()))


@pytest.mark.parametrize("name", ["", "a\nb", 'a"b', "-Set", "a\\", "x" * 300])
def test_a_name_that_mlx5cmd_would_not_get_as_it_is_is_refused(name: str):
    with pytest.raises(ValidationError):
        WindowsLink(name=name, link_gbit_per_s=10, found_gbit_per_s=None, said="x")
