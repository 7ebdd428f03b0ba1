"""`measure rfc2544 --dut-on`: the spec that its options make, and that it goes the way of one."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from wirespeed.apply.spec_file import parse_spec
from wirespeed.commands import measure
from wirespeed.model.error import InputError
from wirespeed.model.spec.spec import Spec
from wirespeed.runs import dut_on
from wirespeed.runs.prove_run import DeclinedError

A, B, C, D = "0000:3b:00.0", "0000:3b:00.1", "0000:af:00.0", "0000:af:00.1"
HOST = ("--dut-on", "ssh://root@fwd")
TWO = (*HOST, "--port", A, "--port", B)
WRITTEN = f"""
hosts:
  tester: {{reach: here, role: tester, cores: "24-27", ports: ["{A}", "{B}"]}}
  dut: {{reach: ssh://root@fwd, role: dut, cores: "8", ports: ["{C}", "{D}"]}}
approach: dpdk
dpdk:
  forwarder: l3fwd-lpm
  driver: kernel
  way_back: same
  burst: 64
  memory_mib: 2048
  hugepages: {{page_kib: 2048, count: 1056}}
  tester: {{queues: 4, rx_descriptors: 2048, hardware_stamps: true,
           peer_macs: ["02:00:00:00:00:0a", "02:00:00:00:00:0b"]}}
measure:
  rfc2544: {{frame_bytes: [64, 1518], flows: 1000, seconds: 30, trial_seconds: 2, width: 0.01,
            link_gbps: 100, max_load_pps: 1000000, ladder: true, back_to_back: 50,
            recoveries: 3, overload_seconds: 90, resets: 2, soak_seconds: 3600,
            gap_limit_ms: 20, stalled_share: 0.1}}
"""
OPTIONS = (
    *TWO, "--dut-port", C, "--dut-port", D, "--cores", "24-27", "--dut-cores", "8",
    "--dut", "l3fwd-lpm", "--dut-driver", "kernel", "--return", "same", "--burst", "64",
    "--memory-mib", "2048", "--queues", "4", "--rx-descriptors", "2048", "--hardware-stamps",
    "--peer-mac", "02:00:00:00:00:0a", "--peer-mac", "02:00:00:00:00:0b",
    "--frame-bytes", "64,1518", "--flows", "1000", "--confirm-seconds", "30",
    "--trial-seconds", "2", "--width", "0.01", "--link-gbps", "100", "--max-load", "1000000",
    "--ladder", "--back-to-back", "50", "--recoveries", "3", "--overload-seconds", "90",
    "--resets", "2", "--soak", "1h", "--gap-limit-ms", "20", "--stalled-share", "0.1",
)  # fmt: skip


class Proofs:
    """Stands in for the proof: what it was asked for."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.specs: list[Spec] = []
        self.pages: list[Path] = []
        self.asked: list[bool] = []
        self.resumed: list[bool] = []
        self.declines = False
        monkeypatch.setattr(dut_on, "prove_into", self.prove_into)
        monkeypatch.setattr(dut_on, "exit_code", lambda _: 0)

    def prove_into(
        self, folder: Path, wanted: Spec, name: Path, pages: Path, **options: Any
    ) -> SimpleNamespace:
        # What is on disk is what is proven, so that undo and report find it.
        assert parse_spec(name.read_text(), "") == wanted
        assert options["keeps"] is False and folder != pages
        self.specs.append(wanted)
        self.pages.append(pages)
        self.asked.append(options["asks"])
        self.resumed.append(options["resumes"])
        if self.declines:
            raise DeclinedError
        return SimpleNamespace()


@pytest.fixture
def proofs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Proofs:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return Proofs(monkeypatch)


def run(out: Path, *words: str) -> int:
    code = measure.rfc2544.main([*words, "--out", str(out)], standalone_mode=False)
    assert isinstance(code, int)
    return code


def test_every_option_is_said_by_the_spec(proofs: Proofs, tmp_path: Path):
    assert run(tmp_path / "out", *OPTIONS, "--yes") == 0
    assert proofs.specs == [parse_spec(WRITTEN, "")]
    assert proofs.pages == [tmp_path / "out"] and proofs.asked == [False]


def test_a_single_core_is_measured_the_same_way(proofs: Proofs, tmp_path: Path):
    words = [*OPTIONS, "--yes", "--out", str(tmp_path / "out")]
    assert measure.single_core.main(words, standalone_mode=False) == 0
    wanted = WRITTEN.replace("rfc2544: {", "rfc2544: {single_core: true, ")
    assert proofs.specs == [parse_spec(wanted, "")]


def test_a_run_of_it_that_was_cut_short_is_taken_up(proofs: Proofs, tmp_path: Path):
    for more in ((), ("--resume",)):
        assert run(tmp_path / "out", *OPTIONS, "--yes", *more) == 0
    assert proofs.resumed == [False, True]


def test_what_is_not_said_is_as_in_a_spec_that_does_not_say_it(proofs: Proofs, tmp_path: Path):
    assert run(tmp_path / "out", *HOST, "--port", A, "--tester-on", "ssh://root@gen") == 0
    (spec,) = proofs.specs
    usual = f"""
        hosts:
          tester: {{reach: ssh://root@gen, role: tester, ports: ["{A}"]}}
          dut: {{reach: ssh://root@fwd, role: dut, ports: ["{A}"]}}
        approach: dpdk
        dpdk: {{way_back: same, hugepages: {{count: 544}}}}
        measure: {{rfc2544: {{}}}}
    """
    assert spec == parse_spec(usual, "")
    assert proofs.asked == [True]


def test_a_plan_that_is_declined_is_no_proof(proofs: Proofs, tmp_path: Path):
    proofs.declines = True
    assert run(tmp_path / "out", *TWO) == 1


def test_another_spec_is_not_laid_over_one_that_may_stand(proofs: Proofs, tmp_path: Path):
    assert run(tmp_path / "out", *TWO) == 0
    assert run(tmp_path / "out", *TWO) == 0
    with pytest.raises(InputError) as caught:
        run(tmp_path / "out", *TWO, "--flows", "7")
    assert caught.value.what == "run.exists"
    assert len(proofs.specs) == 2


@pytest.mark.parametrize(
    ("words", "where"),
    [
        (HOST, "--port"),
        ((*TWO, "--dut", "testpmd-io", "--dut", "l3fwd-lpm"), "--dut"),
        ((*TWO, "--frame-bytes", "imix"), "--frame-bytes"),
        ((*TWO, "--windowed"), "--windowed"),
        ((*TWO, "--search", "mlrsearch"), "--search"),
        ((*TWO, "--repeats", "3"), "--repeats"),
        ((*TWO, "--demo"), "--demo"),
        ((*TWO, "--dut", "kernel-vxlan"), "--dut-on"),
        ((*TWO, "--dut-port", C), "--dut-on"),
        (("--port", A, "--dut-cores", "8"), "--dut-on"),
        (("--port", A, "--yes"), "--dut-on"),
    ],
    ids=str,
)
def test_what_cannot_be_is_named_and_nothing_is_written(
    proofs: Proofs, tmp_path: Path, words: tuple[str, ...], where: str
):
    with pytest.raises(InputError) as caught:
        run(tmp_path / "out", *words)
    assert (caught.value.what, caught.value.where) == ("options.invalid", where)
    assert proofs.specs == []
    assert not (tmp_path / "out").exists()
