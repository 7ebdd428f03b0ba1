"""What rules about links and losses tell to do, and what it is worth."""

from pathlib import Path

import pytest

from wirespeed.catalog import rules
from wirespeed.doctor.diagnose import diagnose
from wirespeed.model.capture import parse_capture
from wirespeed.model.ceiling import Direction
from wirespeed.model.fact import HostFacts
from wirespeed.model.finding import Danger, Finding
from wirespeed.model.question import Question

CASES = Path(__file__).parent / "cases"
SLOWER = "link.slower_than_both_ends"
PORT = "enp59s0f0"


def finding(slug: str, case: str) -> Finding:
    capture = parse_capture((CASES / slug / case / "capture.txt").read_text(), case)
    (rule,) = (rule for rule in rules() if rule.slug == slug)
    (found,) = diagnose(HostFacts("host", capture), Question(), [rule]).findings
    return found


def commands(found: Finding) -> list[str]:
    return [command.line() for remedy in found.remedies for command in remedy.commands]


@pytest.mark.parametrize(
    ("case", "now_bps", "after_bps"),
    [
        ("present_1g_where_both_can_do_10g", 1e9, 10e9),
        ("present_25g_port_at_a_10g_switch", 10e9, 25e9),
        ("present_25g_not_advertised", 10e9, 25e9),
        ("present_1g_over_a_cable_made_for_10g", 1e9, 10e9),
    ],
)
def test_a_slow_link_is_priced_by_the_speed_that_it_could_have(
    case: str, now_bps: float, after_bps: float
):
    found = finding("link.peer_slower" if "switch" in case else SLOWER, case)
    assert {change.after.element for change in found.changes} == {"ethernet"}
    assert {change.after.direction for change in found.changes} == set(Direction)
    frame_bits = 8 * (1518 + 20)  # RFC 2544: frame with FCS, preamble and gap
    for change in found.changes:
        assert change.after.load_pps.low == pytest.approx(after_bps / frame_bits)
    assert f"{now_bps / after_bps:.0%} of the {after_bps / 1e9:g} Gb/s" in found.so


def test_a_link_below_what_both_can_do_is_set_by_hand_at_both_ends():
    found = finding(SLOWER, "present_1g_where_both_can_do_10g")
    assert commands(found) == [f"ethtool -s {PORT} speed 10000 duplex full autoneg off"]
    assert found.remedies[-1].danger is Danger.DROPS_LINK
    assert "both ends can do" in found.so


def test_a_mode_that_is_not_advertised_is_advertised_again():
    found = finding(SLOWER, "present_25g_not_advertised")
    assert commands(found) == [f"ethtool -s {PORT} autoneg on"]


def test_a_slower_peer_is_nothing_to_mend_here():
    found = finding("link.peer_slower", "present_25g_port_at_a_10g_switch")
    assert commands(found) == []
    assert "its peer offers no more" in found.so


def test_receive_rings_are_raised_to_what_the_card_has():
    found = finding("errors.no_receive_buffer", "present_no_descriptor")
    assert commands(found) == [f"ethtool -G {PORT} rx 8192"]
    assert "measured: 30000 a second" in found.unpriced


def test_rings_at_their_maximum_are_not_raised():
    assert commands(finding("errors.no_receive_buffer", "present_rings_at_their_maximum")) == []


def test_the_peer_is_made_to_wait_only_where_it_is_not_yet():
    slug = "errors.port_buffer"
    assert commands(finding(slug, "present_discards_grow")) == [f"ethtool -A {PORT} tx on"]
    assert commands(finding(slug, "present_ice")) == []


def test_fec_is_turned_on_as_the_port_supports_it():
    found = finding("link.fec_off", "present_damaged_frames")
    assert commands(found) == [f"ethtool --set-fec {PORT} encoding rs"]


@pytest.mark.parametrize(
    ("slug", "case", "text"),
    [
        ("link.module_unqualified", "present_refused", "does not use the module"),
        ("link.module_unqualified", "present_tolerated", "it works"),
        ("link.module_unqualified", "present_unreadable", "cannot read the module"),
        ("link.module_unqualified", "present_too_little_power", "more power than"),
        ("link.autonegotiation_disagrees", "present_half_duplex", "half duplex"),
        ("link.autonegotiation_disagrees", "present_forced_here", "match only by chance"),
        ("errors.pcie_back_pressure", "present_overflow_grows", "frames are dropped"),
        ("errors.pcie_back_pressure", "present_stalled_30_percent", "waits for PCI Express"),
        ("bond.member_down", "present_spare_is_down", "no other port to fail over to"),
        ("bond.member_down", "present_one_of_three_is_down", "1 of 2 spare ports left"),
        ("bond.member_down", "present_all_down", "nothing goes through it"),
        ("interrupts.on_another_node", "present_one_processor_of_two_nodes", "not use the link"),
        ("errors.physical", "present_crc_errors_before", "were, before this capture, dropped"),
    ],
)
def test_a_finding_says_what_follows_from_just_what_was_seen(slug: str, case: str, text: str):
    assert text in finding(slug, case).so


@pytest.mark.parametrize("direction", ["rx", "tx"])
def test_pause_is_turned_off_in_the_direction_that_was_seen(direction: str):
    slug = {"rx": "pause.received", "tx": "pause.sent"}[direction]
    found = finding(slug, "present_paused_one_percent")
    assert commands(found) == [f"ethtool -A {PORT} {direction} off"]


def test_a_priority_that_was_paused_before_the_capture_is_not_said_to_be_ignored():
    found = finding("pause.received", "present_priority_before_the_capture_is_obeyed")
    assert commands(found) == [f"dcb pfc set dev {PORT} prio-pfc all:off"]


@pytest.mark.parametrize(
    ("case", "command"),
    [
        ("present_optic_of_10g_in_a_port_of_25g",
         "ethtool -s enp59s0f0 speed 10000 duplex full autoneg off"),
        ("present_cable_of_25g_is_a_risk",
         "ethtool -s enp59s0f0 speed 25000 duplex full autoneg off"),
        ("present_forced_at_this_end", "ethtool -s enp59s0f0 autoneg on"),
        ("present_with_an_address", None),
    ],
)  # fmt: skip
def test_where_negotiation_finds_no_partner_the_other_mode_is_named(case: str, command: str | None):
    assert commands(finding("link.down", case)) == ([command] if command else [])


def test_a_module_that_was_taken_out_is_to_be_plugged_in_again():
    (remedy,) = finding("link.down", "present_the_kernel_says_unplugged").remedies
    assert remedy.text.startswith("plug in the cable")
    (remedy,) = finding("link.down", "present_plugged_again_since").remedies
    assert remedy.text.startswith("check the cable")
