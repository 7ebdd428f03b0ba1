"""A measured figure far below the path: whether anything that was found explains it is said."""

from pathlib import Path

import pytest

from wirespeed.doctor.diagnose import diagnose
from wirespeed.doctor.unexplained import EXPLAINED, UNEXPLAINED, with_explanation
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
    assert with_explanation([FAR, other], ["p0", "p1"])[0].so == f"9 %{said}"
    assert with_explanation([FAR, other], ["p0", "p1"])[1] == other


def test_on_a_clean_host_the_share_is_said_with_where_to_look_and_its_price():
    host = HostFacts("alpha", parse_capture(CASE.read_text(), "alpha"))
    (found,) = diagnose(host, Question(measured_bps=2.35e9)).findings
    assert found.so == f"9 % of what the path carries was measured{UNEXPLAINED}"
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
