"""Findings that belong together: cause and effect, and what explains a low measured figure."""

from pathlib import Path

import pytest

from wirespeed.catalog import rules
from wirespeed.doctor.diagnose import diagnose
from wirespeed.doctor.related import EFFECTS, EXPLAINED, UNEXPLAINED, cause_first, related
from wirespeed.model.capture import parse_capture
from wirespeed.model.fact import HostFacts
from wirespeed.model.finding import Finding, Severity
from wirespeed.model.question import Question

CASE = Path(__file__).parents[1] / (
    "rules/cases/measured.far_below_ceiling/present_a_tenth_of_25_gbit/capture.txt"
)


def finding(rule: str, where: str = "p0", severity: Severity = Severity.FAULT) -> Finding:
    return Finding(rule=rule, where=where, severity=severity, evidence=(), so="9 %")


FAR = finding("measured.far_below_ceiling")


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (finding("pcie.width_below_capability"), EXPLAINED),
        (finding("kernel.softirq_squeezed", "alpha"), EXPLAINED),
        (finding("pcie.width_below_capability", "p1"), UNEXPLAINED),
        (finding("sriov.vf_restricted", severity=Severity.NOTE), UNEXPLAINED),
        (finding("measured.above_ceiling"), UNEXPLAINED),
    ],
)
def test_another_finding_may_be_the_reason(other: Finding, said: str):
    assert related([FAR, other], ["p0", "p1"])[0].so == f"9 %{said}"
    assert related([FAR, other], ["p0", "p1"])[1] == other


def test_on_a_clean_host_the_share_is_said_with_where_to_look_and_its_price():
    host = HostFacts("alpha", parse_capture(CASE.read_text(), "alpha"))
    (found,) = diagnose(host, Question(measured_bps=2.35e9)).findings
    assert found.so == f"the measured figure is 9 % of what the path carries{UNEXPLAINED}"
    words = " ".join(remedy.text for remedy in found.remedies)
    for part in ("iperf3 before 3.16", "far end", "cold start"):
        assert part in words
    assert {round(p.now_pps / p.after_pps, 3) for p in found.prices} == {0.094}


def test_of_several_ports_the_one_that_is_named_was_measured():
    port = "enp59s0f0np0"
    text = CASE.read_text().replace(
        f"\n{port} driver", f"\nother driver=igb physfn= port= device=/sys/devices/x\n{port} driver"
    )
    host = HostFacts("alpha", parse_capture(text, "alpha"))
    for ports, count in (((), 0), ((port,), 1)):
        answer = diagnose(host, Question(measured_bps=2.35e9, ports=ports))
        far = [f for f in answer.findings if f.rule == "measured.far_below_ceiling"]
        assert len(far) == count


CHAINS = [
    ("link.module_overheated", "link.down"),
    ("link.fec_off", "errors.physical"),
    ("pcie.width_below_capability", "errors.port_buffer"),
    ("errors.no_receive_buffer", "pause.sent"),
]


@pytest.mark.parametrize(("cause", "effect"), CHAINS)
def test_a_cause_and_its_effect_name_each_other_and_the_cause_comes_first(cause: str, effect: str):
    found = related([finding(effect), finding("bond.member_down"), finding(cause)], ["p0"])
    assert f"{cause} on this port is the likely reason: fix that first" in found[0].so
    assert f"the likely reason of {effect} on this port" in found[2].so
    rules = [f.rule for f in cause_first(found)]
    assert rules.index(cause) < rules.index(effect)


@pytest.mark.parametrize(("cause", "effect"), CHAINS)
def test_findings_of_two_ports_are_no_chain(cause: str, effect: str):
    pair = [finding(effect, "p0"), finding(cause, "p1")]
    assert related(pair, ["p0", "p1"]) == tuple(pair)
    assert cause_first(pair) == tuple(pair)


def test_a_note_that_causes_a_fault_is_a_risk_with_its_remedy():
    note = finding("link.fec_off", severity=Severity.NOTE)
    raised, _ = related([note, finding("errors.physical")], ["p0"])
    assert raised.severity is Severity.RISK
    kept, _ = related([note, finding("errors.physical", severity=Severity.NOTE)], ["p0"])
    assert kept.severity is Severity.NOTE


def test_a_slot_that_does_not_bound_the_port_causes_nothing():
    slot = finding("pcie.hop_below_card", severity=Severity.NOTE)
    pair = [slot, finding("errors.port_buffer")]
    assert related(pair, ["p0"]) == tuple(pair)


def test_every_rule_of_a_chain_is_there():
    known = {rule.slug for rule in rules()}
    assert {*EFFECTS, *(effect for effects in EFFECTS.values() for effect in effects)} <= known
