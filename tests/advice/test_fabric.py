"""Cards in a fabric of another speed: the document on 25 Gb/s cards and 10 Gb/s switches."""

import pytest

from wirespeed.advice.fabric import advise_fabric
from wirespeed.model.advice import Certainty


def test_25_goes_into_10_with_both_ends_fixed():
    advice = advise_fabric(25, 10)
    assert advice.answer == "Yes, at 10 Gb/s, with both ends fixed at 10 Gb/s."
    assert {choice.name: choice.gbps_high for choice in advice.choices} == {
        "both ends fixed at 10 Gb/s": 10,
        # "When changing that to auto-negotiate the link would come up at 1Gbps."
        "both ends negotiate": 1,
        # "still no uplink when the switch port isn't fixed to 10Gbps"
        "card fixed, switch negotiates": 0,
        # "The switch ports are normally forced 10 Gbps"; "The links did not come up."
        "switch fixed, card negotiates": 0,
    }
    assert {choice.certainty for choice in advice.choices} == {Certainty.PUBLISHED}


def test_the_documents_commands_are_what_is_to_do():
    todo = "\n".join(advise_fabric(25, 10).todo)
    assert '> mlx5cmd.exe -LinkSpeed -Name "ADAPTER" -Set 10\n' in todo
    assert "-Set 0" in todo
    assert "$ ethtool -s NETDEV speed 10000 autoneg off" in todo


def test_a_ceiling_of_10_gigabit_is_that_of_mtu_1500():
    # 1448 bytes of payload in 1538 of wire.
    assert any("9.41 Gb/s" in ground.says for ground in advise_fabric(25, 10).grounds)


def test_a_pair_that_nobody_tried_is_not_told_as_tried():
    advice = advise_fabric(10, 25)
    assert advice.answer.startswith("Likely")
    assert {choice.certainty for choice in advice.choices} == {Certainty.UNKNOWN}


def test_both_of_one_speed_need_nothing():
    advice = advise_fabric(25, 25)
    assert advice.answer.startswith("Yes: both ends have the same speed")
    assert advice.todo == ()
    assert any("FEC" in unknown for unknown in advice.unknown)
    assert advise_fabric(10, 10).unknown == ()


@pytest.mark.parametrize(("card", "switch"), [(100, 10), (100, 25), (40, 10), (25, 100)])
def test_cages_of_other_shapes_are_not_guessed(card: int, switch: int):
    advice = advise_fabric(card, switch)
    assert advice.answer.startswith("Not known")
    assert advice.todo == ()
    assert advice.choices[0].certainty is Certainty.UNKNOWN


@pytest.mark.parametrize(("card", "switch"), [(100, 40), (40, 100), (200, 100), (100, 200)])
def test_cages_of_four_lanes_are_of_one_shape(card: int, switch: int):
    """QSFP28 ports take 40 Gb/s cables: MSB7890 manual, section 4.1.1."""
    common = min(card, switch)
    advice = advise_fabric(card, switch)
    assert advice.answer.startswith(f"Likely, at {common} Gb/s with both ends fixed")
    assert {choice.certainty for choice in advice.choices} == {Certainty.UNKNOWN}
    assert f"$ ethtool -s NETDEV speed {common}000 autoneg off" in advice.todo
    assert any(f"modules of {common} Gb/s" in ground.says for ground in advice.grounds)
