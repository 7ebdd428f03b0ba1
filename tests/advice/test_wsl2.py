"""Bridged or mirrored: the stages of the WSL2 document."""

from wirespeed.advice.wsl2 import advise_wsl2
from wirespeed.model.advice import Certainty


def test_a_point_to_point_link_and_a_need_of_lan_is_mirrored_with_an_external_switch():
    advice = advise_wsl2(is_point_to_point=True, needs_lan=True)
    assert advice.answer.startswith("Mirrored, with an external switch")
    # 10 as found, 23 without and 40 with an external switch, 53.6 bridged.
    assert [(c.name.split(",")[0], c.gbps_high) for c in advice.choices] == [
        ("mirrored", 40),
        ("bridged on an external switch", 53.6),
        ("mirrored", 23),
        ("internal switch", 10),
    ]
    assert {c.certainty for c in advice.choices} == {Certainty.PUBLISHED}
    assert advice.choices[1].note == "LAN and internet are lost"


def test_bridged_where_nothing_is_lost_and_its_deprecation_is_told():
    for alone, lan in ((False, True), (True, False), (False, False)):
        advice = advise_wsl2(is_point_to_point=alone, needs_lan=lan)
        assert advice.answer.startswith("Bridged: 53.6 Gb/s, but deprecated")


def test_filters_are_unbound_before_a_switch_is_made():
    for lan in (True, False):
        todo = advise_wsl2(is_point_to_point=True, needs_lan=lan).todo
        assert "filter" in todo[0]
        assert "New-VMSwitch" in todo[1]


def test_no_stage_lies_above_the_slots_band():
    advice = advise_wsl2(is_point_to_point=True, needs_lan=True)
    # 16 GT/s x 4 x 128/130 = 63.0 Gb/s raw.
    assert any("to 62.1 Gb/s" in ground.says for ground in advice.grounds)
