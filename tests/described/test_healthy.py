"""No false alarm: on a host with nothing wrong, the doctor says nothing above a note."""

from functools import cache

import pytest

from described.healthy import FIT_FOR, SET_APART, kinds
from described.host import capture_of
from wirespeed.doctor.collector import collector_script
from wirespeed.doctor.diagnose import diagnose
from wirespeed.host.local import LocalRunner
from wirespeed.model.capture import parse_capture
from wirespeed.model.fact import HostFacts
from wirespeed.model.finding import Diagnosis, Severity
from wirespeed.model.question import Purpose, Question

KINDS = kinds()
ASKED = [(name, None) for name in KINDS if name not in SET_APART] + [
    (name, purpose) for name, purposes in FIT_FOR.items() for purpose in purposes
]


@cache
def facts(name: str) -> HostFacts:
    return HostFacts(name, parse_capture(capture_of(KINDS[name]()), name))


def alarms(diagnosis: Diagnosis) -> list[tuple[str, str, str]]:
    return [
        (finding.rule, finding.where, finding.so)
        for finding in diagnosis.findings
        if finding.severity is not Severity.NOTE
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


def test_this_machine_gives_no_alarm():
    done = LocalRunner().run(["/bin/sh", "-c", collector_script()])
    here = HostFacts("here", parse_capture(done.output, "here"))
    diagnosis = diagnose(here, Question())
    assert not diagnosis.faults
    assert alarms(diagnosis) == []
