"""Which cable: lengths of IEEE Std 802.3, clauses 52, 55, 85, 86, 92, 95, 110 and 112."""

import pytest

from wirespeed.advice.cable import advise_cable


@pytest.mark.parametrize(
    ("gbps", "metres", "name"),
    [
        (25, 3, "25GBASE-CR-S"),
        (25, 3.5, "25GBASE-CR:"),
        (25, 6, "OM3, 25GBASE-SR"),
        (25, 90, "OM4, 25GBASE-SR"),
        (25, 101, "25GBASE-LR"),
        (100, 5, "100GBASE-CR4"),
        (100, 71, "OM4, 8 fibres, 100GBASE-SR4"),
        (40, 7, "40GBASE-CR4"),
        (10, 100, "10GBASE-T"),
        (10, 300, "10GBASE-SR"),
        (10, 301, "10GBASE-LR"),
    ],
)
def test_the_shortest_that_reaches(gbps: int, metres: float, name: str):
    assert name in advise_cable(gbps, metres).answer + ":"


def test_what_nothing_reaches_is_said():
    advice = advise_cable(100, 20_000)
    assert advice.answer.startswith("None in this list")
    assert advice.choices == ()


def test_each_names_its_clause():
    advice = advise_cable(25, 4)
    assert len(advice.grounds) == len(advice.choices) == 4
    assert "clause 110" in advice.grounds[0].source


def test_active_cables_are_not_guessed():
    assert any("AOC" in unknown for unknown in advise_cable(10, 5).unknown)
