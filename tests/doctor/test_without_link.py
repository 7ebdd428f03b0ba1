"""What is found of a port without a link is a note, save what is about the link itself."""

from pathlib import Path

import pytest

from wirespeed.catalog import rules
from wirespeed.doctor.diagnose import diagnose
from wirespeed.model.capture import parse_capture
from wirespeed.model.fact import HostFacts
from wirespeed.model.finding import Danger, Diagnosis, Severity
from wirespeed.model.question import Question

CASES = Path(__file__).parents[1] / "rules/cases"
BY_SLUG = {rule.slug: rule for rule in rules()}
SLOT = "pcie.width_below_capability/present_x4_where_both_ends_can_do_x16"
PORT = "enp59s0"
LINK = """case begin link -
/sys/class/net/enp59s0/flags:0x1003
/sys/class/net/enp59s0/carrier:CARRIER

case end 0
"""


def answer(case: str, carrier: str, *ports: str) -> Diagnosis:
    text = (CASES / case / "capture.txt").read_text()
    section = LINK.replace("CARRIER", carrier) if carrier else ""
    capture = parse_capture(text.replace("case done", f"{section}case done"), "host")
    chosen = [BY_SLUG[case.partition("/")[0]]]
    return diagnose(HostFacts("host", capture), Question(ports=ports), chosen)


@pytest.mark.parametrize(
    ("carrier", "ports", "severity"),
    [
        ("1", (), Severity.FAULT),
        ("0", (), Severity.NOTE),
        ("0", (PORT,), Severity.FAULT),
        ("", (), Severity.FAULT),
    ],
)
def test_a_narrow_slot_of_a_port_without_a_link_is_a_note_unless_it_is_asked_about(
    carrier: str, ports: tuple[str, ...], severity: Severity
):
    (found,) = answer(SLOT, carrier, *ports).findings
    assert found.severity is severity
    assert ("no link now" in found.so) == (severity is Severity.NOTE)
    if severity is Severity.NOTE:
        assert not found.prices


def test_no_remedy_drops_a_link_that_is_not_there():
    case = "queues.rings_below_maximum/present_1024_of_8192_while_frames_are_dropped"
    folder = CASES / case
    port = answer(case, "").findings[0].where
    dangers = {}
    for carrier in ("0", "1"):
        text = (folder / "capture.txt").read_text()
        section = LINK.replace("CARRIER", carrier).replace(PORT, port)
        capture = parse_capture(text.replace("case done", f"{section}case done"), "host")
        found = diagnose(HostFacts("host", capture), Question(), [BY_SLUG[folder.parent.name]])
        dangers[carrier] = {r.danger for f in found.findings for r in f.remedies}
    assert Danger.DROPS_LINK in dangers["1"]
    assert Danger.DROPS_LINK not in dangers["0"]
