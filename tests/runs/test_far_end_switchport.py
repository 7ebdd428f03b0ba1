"""`doctor HOST --far-end SWITCH`: both ends of a cable in one answer."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from wirespeed.commands.doctor import doctor
from wirespeed.host.capture_request import Captured
from wirespeed.host.reach_destination import SwitchHost
from wirespeed.model.capture import parse_capture
from wirespeed.model.error import InputError
from wirespeed.platforms.switch.facts.switchport import Switches
from wirespeed.platforms.switch.far_end import with_far_end
from wirespeed.runs import captures
from wirespeed.runs.captures import with_far_ends

SAMPLES = Path(__file__).parents[1] / "facts" / "samples" / "switchport"
SECONDS = 0
"""Between two readings of what the switch counts: none, unless --seconds is given."""
CASES = Path(__file__).parents[1] / "rules" / "cases"


def host_text() -> str:
    """A host whose port enp59s0f0 has no link."""
    folder = CASES / "switchport.ends_set_unlike" / "absent_no_switch" / "capture.txt"
    return folder.read_text().replace("Auto-negotiation: on", "Auto-negotiation: off")


def switch_text(cable: str = "") -> str:
    """`show interfaces status` of an N-series switch."""
    status = (SAMPLES / "os6_status.txt").read_text()
    sections = {"kind": "dell_os6\n", "cable": cable, "status": status, "lldp": ""}
    parts = (
        f"mmmm begin switch-{name} sw1\n{body}\nmmmm end 0\n"
        for name, body in sections.items()
        if body or name != "cable"
    )
    return "wirespeed-capture 1 mmmm\n" + "".join(parts) + "mmmm done\n"


@pytest.fixture
def reached(monkeypatch: pytest.MonkeyPatch) -> list[SwitchHost]:
    found: list[SwitchHost] = []

    def collect(places: list[SwitchHost], *, interval_s: int) -> list[Captured]:
        assert interval_s == SECONDS
        found.extend(places)
        return [Captured(place, switch_text(place.cable), 0.0) for place in places]

    monkeypatch.setattr(captures, "collect", collect)
    return found


def test_a_capture_of_both_ends_has_the_switchport_and_the_host():
    both = parse_capture(with_far_end(host_text(), switch_text("enp59s0f0 Te1/0/1")), "x")
    assert both.complete
    assert Switches.parse(both).by_name["sw1"].cables == (("enp59s0f0", "Te1/0/1"),)
    assert both.section("ports") == parse_capture(host_text(), "x").section("ports")


def test_a_host_that_was_cut_off_is_still_seen_to_be_beside_its_switchport():
    text = host_text()
    both = parse_capture(with_far_end(text[: len(text) // 2], switch_text()), "x")
    assert not both.complete and "sw1" in Switches.parse(both).by_name


def test_what_is_no_capture_is_refused_at_either_end_of_a_switchport():
    for host, switch in ((host_text(), "nothing"), ("nothing", switch_text())):
        with pytest.raises(InputError, match=r"capture\.not_one"):
            with_far_end(host, switch)


def test_the_doctor_is_told_which_switchport_a_cable_is_in(
    reached: list[SwitchHost], tmp_path: Path
):
    path = tmp_path / "alpha.capture"
    path.write_text(host_text())
    place = "enp59s0f0=switch+dell_os6://admin@sw1/Te1/0/1"
    result = CliRunner().invoke(
        doctor, [str(path), "--json", "--far-end", place], standalone_mode=False
    )
    assert result.exception is None, result.output
    rules = [found["rule"] for found in json.loads(result.output)["findings"]]
    # The card is forced, and the port of the sample negotiates.
    assert "switchport.ends_set_unlike" in rules
    assert [(p.netdev, p.switchport, p.user) for p in reached] == [
        ("enp59s0f0", "Te1/0/1", "admin")
    ]


def windows_text() -> str:
    """A Windows whose card has no link."""
    folder = CASES / "windows.far_end_set_unlike" / "absent_no_switch" / "capture.txt"
    return folder.read_text()


def test_a_card_of_windows_is_at_a_switchport_by_its_name_with_blanks(
    reached: list[SwitchHost], tmp_path: Path
):
    """The sample's port is set by hand: the document's card finds no link there."""
    path = tmp_path / "node1.capture"
    path.write_text(windows_text())
    place = "NIC 1=switch+dell_os6://admin@sw1/Te1/0/3"
    result = CliRunner().invoke(
        doctor, [str(path), "--json", "--far-end", place], standalone_mode=False
    )
    assert result.exception is None, result.output
    assert [p.netdev for p in reached] == ["NIC 1"]
    answer = json.loads(result.output)
    (found,) = (f for f in answer["findings"] if f["rule"] == "windows.far_end_set_unlike")
    assert found["where"] == "NIC 1"
    assert "set by hand" in found["evidence"][0]["found"]


@pytest.mark.parametrize(
    ("line", "cable"),
    [
        ("NIC 1 Te1/0/1", ("NIC 1", "Te1/0/1")),
        ("Ethernet 3 TenGigabitEthernet 1/1", ("Ethernet 3", "TenGigabitEthernet 1/1")),
        ("이더넷 10 swp1", ("이더넷 10", "swp1")),
        ("enp59s0f0 swp1s0", ("enp59s0f0", "swp1s0")),
    ],
)
def test_the_switchport_of_a_cable_is_told_from_a_name_with_blanks(
    line: str, cable: tuple[str, str]
):
    both = parse_capture(with_far_end(windows_text(), switch_text(line)), "x")
    assert Switches.parse(both).by_name["sw1"].cables == (cable,)


@pytest.mark.parametrize(
    "text",
    [
        "=switch+nxos://sw1/Eth1/1",
        "a\nb=switch+nxos://sw1/Eth1/1",
        "eth0=ssh://sw1",
        "eth0=switch+nxos://sw1",
        "-s=switch+nxos://sw1/Eth1/1",
        "here",
    ],
)
def test_no_such_switchport_at_the_far_end(text: str):
    with pytest.raises(InputError, match=r"far_end\.invalid"):
        with_far_ends(host_text(), [text])


def test_a_switchport_is_of_one_host_alone(tmp_path: Path):
    for name in ("a", "b"):
        (tmp_path / name).write_text(host_text())
    arguments = [str(tmp_path / "a"), str(tmp_path / "b"), "--far-end", "switch+nxos://sw1"]
    result = CliRunner().invoke(doctor, arguments, standalone_mode=False)
    assert isinstance(result.exception, InputError)
    assert result.exception.what == "far_end.of_which"


def test_what_a_switchport_counts_is_read_twice_with_seconds_between(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    asked: list[int] = []

    def collect(places: list[SwitchHost], *, interval_s: int) -> list[Captured]:
        asked.append(interval_s)
        return [Captured(place, switch_text(place.cable), 0.0) for place in places]

    monkeypatch.setattr(captures, "collect", collect)
    (tmp_path / "host").write_text(host_text())
    arguments = [str(tmp_path / "host"), "--far-end", "switch+dell_os6://sw1", "--seconds", "7"]
    CliRunner().invoke(doctor, arguments, standalone_mode=False)
    assert asked == [7]
