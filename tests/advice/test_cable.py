"""Which cable: lengths of IEEE Std 802.3, clauses 52 to 162.

Of 138 also in tiafotc.org's overview of 400GBASE-SR8 (OM3 70 m, OM4 100 m), of 151 in the
definitions of 802.3cu.
"""

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
        (50, 3, "50GBASE-CR:"),
        (50, 71, "OM4, 50GBASE-SR"),
        (50, 101, "50GBASE-FR"),
        (200, 3, "200GBASE-CR4"),
        (200, 4, "OM3, 8 fibres, 200GBASE-SR4"),
        (200, 101, "200GBASE-DR4"),
        (200, 501, "200GBASE-FR4"),
        (400, 2, "400GBASE-CR4"),
        (400, 3, "OM3, 16 fibres, 400GBASE-SR8"),
        (400, 500, "400GBASE-DR4"),
        (400, 2_000, "400GBASE-FR4"),
        (400, 2_001, "400GBASE-LR8"),
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
