"""What `wirespeed measure` asks of the doctor; the rest of it is tested in tests/test_cli.py."""

import pytest

from wirespeed.commands import measure
from wirespeed.model.error import HostError
from wirespeed.model.finding import Diagnosis, Unanswered
from wirespeed.model.question import Purpose


def test_the_machine_is_examined_for_dpdk():
    answer = measure.examine_machine(())
    assert isinstance(answer, Diagnosis)
    assert answer.question.purpose is Purpose.DPDK
    assert not answer.faults


def test_a_vdev_is_no_port_that_the_doctor_would_have_to_know():
    assert isinstance(measure.examine_machine(("net_null0",)), Diagnosis)


def test_without_an_answer_the_reason_is_kept(monkeypatch: pytest.MonkeyPatch):
    answer = measure.examine_machine(("0000:ff:1f.7",))
    assert isinstance(answer, Unanswered)
    assert answer.what == "port.unknown"

    def fail(*_: object) -> None:
        raise HostError("host.no_answer", found="no shell")

    monkeypatch.setattr(measure, "examine", fail)
    answer = measure.examine_machine(())
    assert isinstance(answer, Unanswered)
    assert answer.found == "no shell"
