"""Options of `measure rfc2544 --port`: queues, cores, descriptors, addresses, the way back."""

import csv
import io
from pathlib import Path

import pytest
from fake_tester_in_place import put_in_place

from wirespeed.commands import measure
from wirespeed.host.procfs import CpuTopology
from wirespeed.measure.bench.run_folder import read_records
from wirespeed.model.error import InputError, MeasurementError
from wirespeed.model.trial import Setup, Started, Trial
from wirespeed.runs import rfc2544, tester_of_ports

MAC = "02:00:00:00:00:02"
ONE = ("--port", "net_fake0")
TWO = (*ONE, "--port", "net_fake1")
QUICK = ("--frame-bytes", "64", "--trial-seconds", "0.05", "--confirm-seconds", "0.1")


@pytest.fixture(name="out")
def _out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return put_in_place(tmp_path, monkeypatch)


def run(out: Path, *words: str) -> int:
    argv = [*words, *QUICK, "--flows", "8", "--out", str(out)]
    code = measure.rfc2544.main(argv, standalone_mode=False)
    assert isinstance(code, int)
    return code


def test_frames_can_come_back_at_the_port_that_they_left_by(out: Path):
    assert run(out, *TWO, "--return", "same", "--link-gbps", "0.25") == 0
    first = next(r for r in read_records(out) if isinstance(r, Trial))
    assert [(s.tx_port, s.rx_port) for s in first.streams] == [(0, 0), (1, 1)]
    (row,) = csv.DictReader(io.StringIO((out / "results.csv").read_text()))
    # 64 B at 0.25 Gb/s: 372,024 pps by each of two ports.
    assert float(row["throughput_mpps"]) == pytest.approx(0.744, abs=1e-3)
    assert float(row["pct_line_rate"]) == pytest.approx(100, abs=0.1)


def test_ports_are_held_as_told_and_the_record_says_how(out: Path):
    held = ("--queues", "3", "--cores", "0-1", "--rx-descriptors", "512")
    assert run(out, *TWO, *held, "--peer-mac", MAC, "--peer-mac", MAC) == 0
    (started,) = (r for r in read_records(out) if isinstance(r, Started))
    assert started.tester["queues"] == "3 of each port, each way"
    assert started.tester["descriptors"] == "512 rx, 1024 tx, 512 rx, 1024 tx"
    assert started.tester["CPUs"] == "0, 1"
    (setup,) = (r for r in read_records(out) if isinstance(r, Setup))
    assert setup.settings["wire"].endswith("3 queues, cores 0-1, 512 rx and usual tx descriptors")


def test_what_the_tester_does_beside_its_traffic_runs_in_the_package_that_polls(
    monkeypatch: pytest.MonkeyPatch,
):
    def read(cpu: int) -> CpuTopology:
        if cpu == 11:
            raise MeasurementError("host.unreadable", where="cpu11", found="offline", next="look")
        return CpuTopology(cpu=cpu, package=cpu // 4, siblings=(cpu,))

    monkeypatch.setattr(tester_of_ports, "read_topology", read)
    eight = tuple(range(8))
    assert tester_of_ports.control_cpu(eight, (5, 6)) == 4
    assert tester_of_ports.control_cpu(eight, (4, 5, 6, 7)) == 0
    assert tester_of_ports.control_cpu((2, 3), (2, 3)) == 2
    # A CPU that the kernel says nothing of: any that is left.
    assert tester_of_ports.control_cpu(eight, (11,)) == 0


def test_a_run_with_what_is_usual_has_the_words_that_it_always_had(out: Path):
    assert run(out, *ONE) == 0
    (setup,) = (r for r in read_records(out) if isinstance(r, Setup))
    assert setup.settings["wire"] == "net_fake0: frames to 02:00:00:00:00:01, back as-sent"
    assert "bounds of the tester" not in setup.settings


def test_a_looser_bound_is_named_in_the_record(out: Path):
    assert run(out, *ONE, "--gap-limit-ms", "200") == 0
    (setup,) = (r for r in read_records(out) if isinstance(r, Setup))
    assert "away for 200 ms at once (usual: 10)" in setup.settings["bounds of the tester"]


@pytest.mark.parametrize(
    ("options", "where", "found"),
    [
        ((*ONE, "--peer-mac", MAC, "--peer-mac", MAC), "--peer-mac", "2 addresses for 1 ports"),
        (("--port", "lo"), "--port", "lo, a netdev of this host"),
        ((*ONE, "--queues", "17"), "--queues", "17:"),
        ((*ONE, "--rx-descriptors", "32769"), "--rx-descriptors", "32769:"),
        ((*ONE, "--cores", "a"), "--cores", "'a'"),
        ((*ONE, "--cores", "0-2"), "--cores", "3 cores for 1 queues"),
        ((*ONE, "--return", "other"), "--return", "one --port"),
        ((*TWO, "--return", "same", "--bidirectional"), "--bidirectional", "each port sends"),
        ((*ONE, "--stalled-share", "2"), "--stalled-share", "2"),
        ((*ONE, "--gap-limit-ms", "nan"), "--gap-limit-ms", "nan"),
    ],
    ids=str,
)
def test_what_cannot_be_is_named_before_anything_starts(
    out: Path, options: tuple[str, ...], where: str, found: str
):
    with pytest.raises(InputError) as caught:
        run(out, *options)
    assert (caught.value.what, caught.value.where) == ("options.invalid", where)
    assert found in caught.value.found
    assert not out.exists()


def test_a_device_that_has_options_is_still_the_doctors_port(
    out: Path, monkeypatch: pytest.MonkeyPatch
):
    asked: list[object] = []

    def note(_: object, question: object) -> None:
        asked.append(question)
        raise InputError("not.asked")

    monkeypatch.setattr(rfc2544, "examine", note)
    rfc2544.examine_machine(("0000:3b:00.0,mprq_en=1", "net_ring0"))
    assert getattr(asked[0], "ports", None) == ("0000:3b:00.0",)
    assert not out.exists()
