"""The doctor's answer about a switch that was read alone: nothing of Linux, and every port."""

import pytest
from test_switchport import FILES, capture_of, text_of

from wirespeed.doctor.diagnose import diagnose
from wirespeed.model.capture import Capture, Section
from wirespeed.model.error import InputError
from wirespeed.model.fact import HostFacts
from wirespeed.model.finding import Diagnosis
from wirespeed.model.question import Question
from wirespeed.model.switch_kind import SwitchKind
from wirespeed.report.diagnosis_view import bound_texts


def answer(kind: SwitchKind, *more: Section, without: str = "") -> Diagnosis:
    texts = {key: text_of(name) for key, name in FILES[kind].items() if key != without}
    sections = [*capture_of(kind, texts).all_sections(), *more]
    return diagnose(HostFacts("sw1", Capture(sections, complete=True)), Question())


@pytest.mark.parametrize("kind", SwitchKind)
def test_no_rule_about_hosts_says_that_it_cannot_tell_of_a_switchport(kind: SwitchKind):
    found = answer(kind)
    assert found.faults == () and found.ports_unknown == ""
    undetermined = {v.rule for v in found.verdicts if v.outcome == "cannot tell"}
    assert undetermined <= {"switchport.frame_errors"}
    (about_linux,) = (v for v in found.verdicts if v.rule == "kernel.clocksource_not_tsc")
    assert about_linux.reason == "it is about Linux, and this host is a switch"


def test_every_switchport_is_a_line_of_the_answer():
    about = dict(answer(SwitchKind.DELL_OS10).about)
    assert about == {
        "sw1": "dell_os10",
        "Ethernet 1/1/47:1": "10 Gb/s up, set by hand, FEC off, MTU 9216, damaged 0, "
        "hears b8:59:9f:00:00:01 of node-1",
        "Ethernet 1/1/49": "25 Gb/s up, negotiates, FEC rs, MTU 9216, damaged 2, "
        "hears 3PG6KN3 NIC.Mezzanine of PowerEdge MX750c ...",
    }


def test_a_switchport_that_is_down_is_told_with_what_it_is_set_to():
    about = dict(answer(SwitchKind.DELL_OS6).about)
    assert about["Te1/0/3"].startswith("no link (set to 10 Gb/s), set by hand, FEC ?, MTU ?")
    assert dict(answer(SwitchKind.SONIC).about)["Ethernet2"].startswith("disabled, ")


def test_a_switchport_that_is_up_has_the_ceiling_of_its_wire():
    found = answer(SwitchKind.EOS)
    assert [ledger.port for ledger in found.ledgers] == ["Ethernet11 of sw1"]
    # A host is said to have no port where none was found; this is none.
    assert not any("no network port" in text for text in bound_texts(found))


def test_switchports_that_could_not_be_read_say_why():
    found = answer(SwitchKind.SONIC, without="status")
    assert dict(found.about)["ports"] == "cannot tell: the capture has no such section"
    assert found.ledgers == ()


def test_beside_a_host_the_rules_of_linux_are_asked_and_only_its_own_switchport_is_told():
    slot = "/sys/devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0"
    device = f"eth9 driver=mlx5_core physfn= port=p0 device={slot}\n"
    ports = Section("ports", "", device, "", 0)
    flags = Section("link", "", "/sys/class/net/eth9/flags:0x1003\n", "", 0)
    cable = Section("switch-cable", "sw1", "eth9 Ethernet11\n", "", 0)
    found = answer(SwitchKind.EOS, ports, flags, cable)
    assert any(v.outcome == "cannot tell" and "kernel" in v.rule for v in found.verdicts)
    told = [label for label, _ in found.about]
    assert "Ethernet10" not in told and "sw1" not in told
    assert dict(found.about)["eth9 is in"].startswith("Ethernet11 of sw1: 25 Gb/s up")


def test_one_switchport_may_be_asked_about_alone():
    texts = {key: text_of(name) for key, name in FILES[SwitchKind.DELL_OS6].items()}
    facts = HostFacts("sw1", capture_of(SwitchKind.DELL_OS6, texts))
    found = diagnose(facts, Question(ports=("Te1/0/2",)))
    assert [label for label, _ in found.about] == ["sw1", "Te1/0/2"]
    assert [ledger.port for ledger in found.ledgers] == ["Te1/0/2 of sw1"]
    with pytest.raises(InputError, match=r"port\.unknown") as caught:
        diagnose(facts, Question(ports=("Te9/0/9",)))
    assert "Te1/0/12" in caught.value.found
