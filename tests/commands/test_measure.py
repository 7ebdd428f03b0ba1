"""What `wirespeed measure` asks of the doctor; the rest of it is tested in tests/test_cli.py."""

from pathlib import Path

import pytest

from wirespeed.commands import measure
from wirespeed.model.error import HostError, InputError
from wirespeed.model.finding import Diagnosis, Unanswered
from wirespeed.model.question import Purpose
from wirespeed.runs import rfc2544
from wirespeed.runs.bench_request import BenchRequest


def test_the_machine_is_examined_for_dpdk():
    answer = rfc2544.examine_machine(())
    assert isinstance(answer, Diagnosis)
    assert answer.question.purpose is Purpose.DPDK
    assert not answer.faults


def test_a_vdev_is_no_port_that_the_doctor_would_have_to_know():
    assert isinstance(rfc2544.examine_machine(("net_null0",)), Diagnosis)


def test_without_an_answer_the_reason_is_kept(monkeypatch: pytest.MonkeyPatch):
    answer = rfc2544.examine_machine(("0000:ff:1f.7",))
    assert isinstance(answer, Unanswered)
    assert answer.what == "port.unknown"

    def fail(*_: object) -> None:
        raise HostError("host.no_answer", found="no shell")

    monkeypatch.setattr(rfc2544, "examine", fail)
    answer = rfc2544.examine_machine(())
    assert isinstance(answer, Unanswered)
    assert answer.found == "no shell"


@pytest.mark.parametrize(
    "asked", [["--dut", "kernel-vxlan"], ["--port", "net_null0"]], ids=["kernel", "port"]
)
def test_windowed_is_refused_where_the_duts_core_cannot_be_watched(
    asked: list[str], tmp_path: Path
):
    argv = ["--windowed", *asked, "--frame-bytes", "64", "--out", str(tmp_path / "run")]
    with pytest.raises(InputError) as caught:
        measure.rfc2544.main(argv, standalone_mode=False)
    assert (caught.value.what, caught.value.where) == ("options.invalid", "--windowed")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("asked", [{}, {"windowed": False}, {"windowed": True}])
def test_trials_are_continuous_unless_windowed_ones_are_asked_for(
    asked: dict[str, bool], tmp_path: Path
):
    request = BenchRequest(out=tmp_path, **asked)
    assert rfc2544._plan(request).windowed is asked.get("windowed", False)
