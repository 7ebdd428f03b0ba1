from pathlib import Path

from wirespeed.doctor.diagnose import diagnose
from wirespeed.facts.ports import Ports
from wirespeed.host.capture_request import Unreachable
from wirespeed.host.reach_destination import Destination, Here, Recorded
from wirespeed.model.capture import Capture, Section, parse_capture
from wirespeed.model.question import Question
from wirespeed.runs.captures import Gathered, gather
from wirespeed.runs.unread_sections import unread_lines

CASES = sorted((Path(__file__).parent.parent / "rules/cases").glob("*/*/capture.txt"))


def test_this_machine_in_one_round_trip():
    (found,) = gather([Here()])
    assert isinstance(found, Gathered)
    assert found.facts.capture.complete
    assert found.facts.name == "here"
    assert diagnose(found.facts, Question()).host == "here"


def test_files_that_are_no_captures_are_named_beside_those_that_are(tmp_path: Path):
    bad = tmp_path / "bad"
    bad.write_text("Traceback (most recent call last):\n")
    places: list[Destination] = [Recorded("good", CASES[0]), Recorded("bad", bad)]
    good, wrong = sorted(gather(places), key=lambda g: g.destination.text, reverse=True)
    assert isinstance(good, Gathered)
    assert good.facts[Ports].ports is not None
    assert isinstance(wrong, Unreachable)
    assert wrong.error.what == "capture.not_one"
    assert wrong.error.where == "bad"


def test_what_a_capture_lacks_is_said_in_a_few_lines():
    sections = [
        Section("link", f"enp{n}s0", "", "netlink error: Operation not permitted", 1)
        for n in range(9)
    ]
    sections += [
        Section("module", "\x1b[2J", "", "ethtool: not found", 127),
        Section("devlink", "", "", "sh: 3: devlink: not found", 127),
        Section("info", "", "", "", 127),
        Section("firmware", "0000:03:00.0", "half", "", 124),
    ]
    assert unread_lines(Capture(sections, complete=False)) == (
        "not installed: ethtool, devlink, info",
        "permission denied: link enp0s0, link enp1s0, link enp2s0, link enp3s0, link enp4s0, "
        "link enp5s0 and 3 more; as root it would tell more",
        "did not end in time: firmware 0000:03:00.0",
    )


def test_a_whole_capture_lacks_nothing():
    text = "wirespeed-capture 1 mark\nmark begin x -\n1\n\nmark end 0\nmark done\n"
    assert unread_lines(parse_capture(text, "x")) == ()
