"""No false alarm: on a host with nothing wrong, the doctor says nothing above a note."""

import re
from functools import cache

import pytest

from described.healthy import FIT_FOR, kinds
from described.host import capture_of
from wirespeed.doctor.collector import collector_script
from wirespeed.doctor.diagnose import diagnose
from wirespeed.host.local import LocalRunner
from wirespeed.model.capture import parse_capture
from wirespeed.model.fact import HostFacts
from wirespeed.model.finding import Diagnosis, Severity
from wirespeed.model.question import Purpose, Question

KINDS = kinds()
ASKED = [(name, None) for name in KINDS] + [
    (name, purpose) for name, purposes in FIT_FOR.items() for purpose in purposes
]


PARTLY_READ = {
    "dual_xeon_100g": Purpose.TCP, "ice_25g": None, "guest_vf": Purpose.STORAGE,
    "wsl2_tuned": Purpose.TCP, "ovs_offloading": Purpose.GUESTS, "dpdk_vfio": Purpose.DPDK,
}  # fmt: skip
SECTION = re.compile(r"^case begin (\S+) (\S+)\n.*?^case end \d+\n", re.M | re.S)


@cache
def captured(name: str) -> str:
    return capture_of(KINDS[name]())


@cache
def facts(name: str) -> HostFacts:
    return HostFacts(name, parse_capture(captured(name), name))


def alarms_of(text: str, purpose: Purpose | None) -> list[tuple[str, str, str]]:
    diagnosis = diagnose(HostFacts("host", parse_capture(text, "host")), Question(purpose=purpose))
    assert not diagnosis.faults
    return alarms(diagnosis)


SHARED = (Severity.CEILING, "pcie.ports_share_slot")
"""Two ports of 100 Gb/s in one slot of PCIe 3.0 x16: nothing is wrong with it."""


def alarms(diagnosis: Diagnosis) -> list[tuple[str, str, str]]:
    return [
        (finding.rule, finding.where, finding.so)
        for finding in diagnosis.findings
        if finding.severity is not Severity.NOTE and (finding.severity, finding.rule) != SHARED
    ]


@pytest.mark.parametrize(("name", "purpose"), ASKED)
def test_nothing_above_a_note_is_said(name: str, purpose: Purpose | None):
    diagnosis = diagnose(facts(name), Question(purpose=purpose))
    assert not diagnosis.faults
    assert not diagnosis.warnings
    assert alarms(diagnosis) == []


@pytest.mark.parametrize("name", KINDS)
def test_no_purpose_brings_a_rule_to_fail(name: str):
    for purpose in Purpose:
        assert not diagnose(facts(name), Question(purpose=purpose)).faults


@pytest.mark.parametrize(("name", "purpose"), PARTLY_READ.items())
class TestAHealthyHostThatIsReadInPart:
    """What could not be read must be *cannot tell*, and never a fault."""

    def test_without_any_one_section(self, name: str, purpose: Purpose | None):
        text = captured(name)
        for missing in sorted({match[1] for match in SECTION.finditer(text)}):
            rest = SECTION.sub(lambda m, missing=missing: "" if m[1] == missing else m[0], text)
            assert alarms_of(rest, purpose) == [], missing

    def test_with_any_one_section_refused(self, name: str, purpose: Purpose | None):
        text = captured(name)
        for refused in sorted({match[1] for match in SECTION.finditer(text)}):
            rest = SECTION.sub(
                lambda m, refused=refused: _refused(m) if m[1] == refused else m[0], text
            )
            assert alarms_of(rest, purpose) == [], refused

    def test_cut_off_anywhere(self, name: str, purpose: Purpose | None):
        text = captured(name)
        for part in range(1, 16):
            assert alarms_of(text[: len(text) * part // 16], purpose) == [], part


def _refused(section: re.Match[str]) -> str:
    name, subject = section.groups()
    said = f"{name}: Permission denied"
    return f"case begin {name} {subject}\n\ncase errors\n{said}\ncase end 2\n"


def test_this_machine_gives_no_alarm():
    done = LocalRunner().run(["/bin/sh", "-c", collector_script()])
    here = HostFacts("here", parse_capture(done.output, "here"))
    diagnosis = diagnose(here, Question())
    assert not diagnosis.faults
    assert alarms(diagnosis) == []
