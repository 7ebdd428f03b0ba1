"""Without --frame-bytes, frames are as long as the MTU of the ports that carry."""

import json

import pytest

from wirespeed.doctor.diagnose import diagnose
from wirespeed.model.capture import parse_capture
from wirespeed.model.fact import HostFacts
from wirespeed.model.question import Question
from wirespeed.report.diagnosis_view import asked

PORT = "{0} driver=mlx5_core physfn= port=p0 device=/sys/devices/pci0000:3a/0000:3a:00.0/{1}"


def capture(*ports: tuple[str, int, bool]) -> str:
    lines = [PORT.format(name, f"0000:3b:00.{n}") for n, (name, _, _) in enumerate(ports)]
    links = [{"ifindex": n + 2, "ifname": name, "mtu": mtu, "flags": ["UP"], "link_type": "ether"}
             for n, (name, mtu, _) in enumerate(ports)]  # fmt: skip
    sections = [("ports -", "\n".join(lines)), ("ip-link -", json.dumps(links))]
    sections += [
        (f"ethtool {name}", f"\tSpeed: 100000Mb/s\n\tLink detected: {'yes' if up else 'no'}")
        for name, _, up in ports
    ]
    body = "".join(f"case begin {head}\n{text}\n\ncase end 0\n" for head, text in sections)
    return f"wirespeed-capture 1 case\n{body}case done\n"


@pytest.mark.parametrize(
    ("ports", "frame_bytes"),
    [
        ([("p0", 9000, True)], 9018),
        ([("p0", 1400, True)], 1418),
        ([("p0", 9000, True), ("p1", 1500, False)], 9018),  # the other one carries nothing
        ([("p0", 9000, True), ("p1", 1500, True)], 1518),  # they differ
        ([("p0", 9000, False)], 1518),
        ([("ib0", 65520, True)], 1518),  # IPoIB connected: no frame of a wire
    ],
)
def test_frames_are_those_of_the_mtu(ports: list[tuple[str, int, bool]], frame_bytes: int):
    host = HostFacts("host", parse_capture(capture(*ports), "case"))
    answer = diagnose(host, Question(frame_of_mtu=True), [])
    assert answer.question.frame_bytes == frame_bytes
    assert {ledger.frame_bytes for ledger in answer.ledgers} == {frame_bytes}
    assert asked(answer).endswith(" of the MTU") == (frame_bytes != 1518)


def test_a_size_that_was_named_is_kept():
    host = HostFacts("host", parse_capture(capture(("p0", 9000, True)), "case"))
    assert diagnose(host, Question(frame_bytes=64), []).question.frame_bytes == 64
