"""What a proof leaves in its folder, and the page that is made of it alone."""

import csv
import json
import shutil
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from report.records import trial
from wirespeed.cli import cli
from wirespeed.commands.prove import prove
from wirespeed.host.jsonl import JsonlWriter
from wirespeed.host.runner import Completed
from wirespeed.measure.bench.run_folder import read_records
from wirespeed.measure.network.endpoints import endpoints_of
from wirespeed.model.error import HostError, InputError, LeftChangedError, MeasurementError
from wirespeed.model.finding import Diagnosis
from wirespeed.model.network_trial import ForgedKind, IsolationTrial, IsolationVerdict
from wirespeed.model.proof import Compared, Difference, Opening, Stage, StageEnd, When
from wirespeed.model.question import Question
from wirespeed.model.spec.members import Dpdk, read_spec_data
from wirespeed.model.spec.spec import Spec
from wirespeed.model.trial import Trial
from wirespeed.runs import measure_guests
from wirespeed.runs.measure_dpdk import bench_to_resume, plan_of, setup_of
from wirespeed.runs.measure_guests import GuestMeasuring, measured_pairs
from wirespeed.runs.prove_folder import (
    DRIFT,
    PLAN,
    UNDONE,
    ProofFolder,
    capture_name,
    read_proof,
    write_proof_reports,
)
from wirespeed.runs.prove_into import _judged

MARK = "wirespeed-capture 1 m-1234"
SPEC = {
    "hosts": {
        name: {"reach": f"ssh://{name}", "ports": ["0000:01:00.0", "0000:02:00.0"]}
        for name in ("alpha", "beta")
    },
    "approach": "legacy-vlan",
    "underlay": {"subnet": "192.168.9.0/24", "mtu": 9080},
    "networks": {
        "storage": {"segment": 42, "subnet": "192.168.10.0/24", "mtu": 9000},
        "public": {"segment": 40, "subnet": "192.168.20.0/24", "mtu": 1500},
    },
    "guests": {
        "ceph-1": {"host": "alpha", "networks": ["storage"], "kind": "namespace"},
        "ceph-2": {"host": "alpha", "networks": ["storage"], "kind": "namespace"},
        "gpu-1": {"host": "beta", "networks": ["storage", "public"], "kind": "namespace"},
        "cam-1": {"host": "alpha", "networks": ["public"], "kind": "none"},
    },
}


class Nobody:
    """A host that must not be asked."""

    def run(self, *_: object, **__: object):
        raise AssertionError("nothing is run")


def opening(**differs: object) -> Opening:
    fields = {
        "wirespeed": "0.1.0",
        "started_at": "2026-01-01T00:00:00Z",
        "spec_name": "lab.yaml",
        "run_name": "lab.yaml.run",
        "spec": read_spec_data(SPEC),
        "keeps": False,
    }
    return Opening.model_validate({**fields, **differs})


def capture(mtu: int) -> str:
    link = [{"ifindex": 2, "ifname": "enp1s0", "flags": ["UP"], "mtu": mtu}]
    section = ["m-1234 begin ip-link -", json.dumps(link), "m-1234 end 0"]
    return "\n".join([MARK, *section, "m-1234 done", ""])


def leaked() -> IsolationTrial:
    return IsolationTrial(
        forged=ForgedKind.TAGGED,
        sender="ceph-1",
        sender_network="storage",
        receiver="gpu-1",
        receiver_network="public",
        sent=200,
        arrived=7,
        heard_control=20,
        verdict=IsolationVerdict.LEAKED,
        said="02:00:00:00:00:01 > 02:00:00:00:00:02, 802.1Q vlan 40",
    )


def filled(folder: Path) -> Path:
    files = ProofFolder(folder, opening())
    files.captures(When.BEFORE, {"alpha": capture(1400)})
    files.captures(When.APPLIED, {"alpha": capture(9080)})
    files.captures(When.UNDONE, {"alpha": capture(1400)})
    answer = Diagnosis(host="alpha", question=Question(), findings=(), verdicts=(), ledgers=())
    files.findings(When.BEFORE, [answer])
    files.trial(leaked())
    files.line(StageEnd(stage=Stage.DOCTOR, seconds=1, outcome="done", said="0"))
    files.write(UNDONE, Compared(compared=2, differences=()))
    files.close()
    return folder


def test_the_page_is_made_again_from_the_files_of_the_folder_alone(tmp_path: Path):
    folder = filled(tmp_path / "run")
    moved = folder.rename(tmp_path / "elsewhere")
    done = CliRunner().invoke(cli, ["report", str(moved)])
    assert done.exit_code == 0, done.output
    html = (moved / "report.html").read_text()
    assert "Not proven: " in html
    assert "leaked" in html
    assert "802.1Q vlan 40" in html
    assert "\n**Not proven: " in (moved / "report.md").read_text()
    rows = list(csv.DictReader((moved / "results.csv").open()))
    assert [row["verdict"] for row in rows if row["figure"].startswith("arrived")] == ["leaked"]


def test_reading_it_again_gives_what_was_written(tmp_path: Path):
    proof = read_proof(filled(tmp_path / "run"))
    assert proof.opening == opening()
    assert proof.trials == (leaked(),)
    assert proof.undone == Compared(compared=2, differences=())
    assert proof.values[When.APPLIED]["alpha"][("enp1s0", "mtu")] == "9080"
    assert proof.drift is None


def test_what_an_earlier_proof_left_is_not_mixed_into_the_next(tmp_path: Path):
    folder = filled(tmp_path / "run")
    one = Difference(host="alpha", subject="x", what="", before="a", now="b")
    files = ProofFolder(folder, opening())
    files.write(DRIFT, Compared(compared=1, differences=(one,)))
    files.close()
    ProofFolder(folder, opening(spec_name="other.yaml")).close()
    proof = read_proof(folder)
    assert proof.opening.spec_name == "other.yaml"
    assert (proof.stages, proof.trials, proof.found, proof.undone) == ((), (), (), None)
    assert (proof.drift, proof.plan) == (None, None)
    assert not any(proof.values.values())
    assert not (folder / PLAN).exists()


def test_two_proofs_in_one_folder_exclude_each_other(tmp_path: Path):
    first = ProofFolder(tmp_path, opening())
    try:
        with pytest.raises(InputError) as caught:
            ProofFolder(tmp_path, opening())
    finally:
        first.close()
    assert caught.value.what == "run.in_use"


@pytest.mark.parametrize("name", ["network.jsonl", "stages.jsonl", "findings.json", UNDONE])
def test_a_file_that_cannot_be_read_is_named_and_nothing_is_guessed(tmp_path: Path, name: str):
    folder = filled(tmp_path / "run")
    with (folder / name).open("a") as file:
        file.write('{"kind":"riddle"}\n')
    with pytest.raises(InputError) as caught:
        write_proof_reports(folder)
    assert caught.value.what == "run.not_readable"
    assert name in caught.value.where


def test_a_line_that_a_kill_cut_short_is_left_out(tmp_path: Path):
    folder = filled(tmp_path / "run")
    with (folder / "network.jsonl").open("a") as file:
        file.write('{"kind":"isola')
    assert read_proof(folder).trials == (leaked(),)


def test_a_host_is_named_in_a_file_by_what_cannot_be_a_path():
    assert capture_name(When.BEFORE, "alpha") == "facts-before.alpha.capture"
    with pytest.raises(ValueError, match="small letters"):
        opening(spec={**SPEC, "hosts": {"../alpha": SPEC["hosts"]["alpha"]}})


def test_each_network_is_measured_between_its_first_two_guests_on_different_hosts():
    spec = read_spec_data(SPEC)
    pairs = measured_pairs(spec, endpoints_of(spec, {"alpha": Nobody(), "beta": Nobody()}))
    # ceph-2 is on ceph-1's host; cam-1 is nobody of ours, so `public` has one guest only.
    assert [(p.client, p.server, p.network) for p in pairs] == [("ceph-1", "gpu-1", "storage")]


def test_where_nothing_can_be_measured_between_guests_it_is_said_and_nobody_is_asked():
    guests = {name: {**guest, "kind": "none"} for name, guest in SPEC["guests"].items()}
    spec = read_spec_data({**SPEC, "guests": guests})
    with pytest.raises(MeasurementError) as caught:
        GuestMeasuring(spec, {"alpha": Nobody(), "beta": Nobody()}).measure({}, print, print)
    assert caught.value.what == "guests.none"
    assert "kind: namespace" in caught.value.next


def test_a_port_that_may_not_be_set_down_is_refused_before_anything_is_measured(
    monkeypatch: pytest.MonkeyPatch,
):
    has = {"local": "10.0.0.1", "scope": "global"}
    output = json.dumps([{"ifname": "eth0", "flags": ["UP"], "addr_info": [has]}])

    class Host:
        def run(self, argv: Sequence[str], **_: object) -> Completed:
            assert argv[0] == "ip"
            return Completed(argv=tuple(argv), output=output, errors="", returncode=0, duration_s=0)

    monkeypatch.setattr(measure_guests, "carriers", lambda _: {})
    monkeypatch.setattr(measure_guests, "netdev_of", lambda *_: "eth0")
    spec = read_spec_data({**SPEC, "failover": "active-backup"})
    recorded: list[object] = []
    facts: Any = {"alpha": None, "beta": None}
    with pytest.raises(InputError) as caught:
        GuestMeasuring(spec, {"alpha": Host(), "beta": Host()}).measure(
            facts, recorded.append, print
        )
    assert (caught.value.what, recorded) == ("port.in_use", [])


def test_a_run_that_stands_is_not_proven_over(tmp_path: Path):
    spec = tmp_path / "lab.yaml"
    spec.write_text(json.dumps(SPEC))
    journal = JsonlWriter(tmp_path / "lab.yaml.run/journal.jsonl")
    journal.append('{"kind":"begun","at":"2026-01-01T00:00:00Z","plan":{"steps":[]}}')
    journal.append('{"kind":"ended","at":"2026-01-01T00:00:00Z","outcome":"applied"}')
    journal.close()
    with pytest.raises(InputError) as caught:
        CliRunner().invoke(cli, ["prove", str(spec), "--yes"], catch_exceptions=False)
    assert caught.value.what == "run.applied_before"
    assert f"wirespeed undo {tmp_path}/lab.yaml.run" in caught.value.next


@pytest.mark.parametrize(
    ("stages", "left", "code"),
    [((), False, 2), ((Stage.APPLY,), False, 1), ((Stage.APPLY,), True, 3)],
)
def test_a_lost_host_is_bad_input_only_while_nothing_was_changed(
    tmp_path: Path,
    stages: tuple[Stage, ...],
    left: bool,
    code: int,
    monkeypatch: pytest.MonkeyPatch,
):
    files = ProofFolder(tmp_path, opening())
    for stage in stages:
        files.line(StageEnd(stage=stage, seconds=1, outcome="done", said=""))
    files.close()
    monkeypatch.setattr("wirespeed.report.proof_answer.is_left_changed", lambda _: left)
    lost = HostError("ssh.lost", where="alpha", found="no answer", next="look")
    error = _judged(lost, read_proof(tmp_path))
    assert error.exit_code == code
    assert (error.what, error.where, error.found, error.next) == (
        "ssh.lost", "alpha", "no answer", "look",
    )  # fmt: skip
    assert isinstance(error, LeftChangedError) == (code == 3)


def test_secrets_that_a_page_has_of_a_journal_are_for_its_owner_alone(tmp_path: Path):
    folder, pages = tmp_path / "run", tmp_path / "lab.yaml.report"
    shutil.copytree(Path(__file__).parents[1] / "kept" / "proof", folder)
    pages.mkdir()
    (pages / "report.html").touch(mode=0o644)
    proof = write_proof_reports(folder, pages)
    assert proof.plan is not None
    undo = next(command for step in proof.plan.steps for command in step.undo)
    assert str(undo.argv[-1]) in (pages / "report.html").read_text()
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in pages.iterdir()}
    assert modes == dict.fromkeys(("report.html", "report.md", "results.csv"), 0o600)


def bench_spec(**differs: object) -> Spec:
    return read_spec_data(
        {
            "hosts": {
                role: {"reach": f"ssh://{role}", "role": role, "ports": ["0000:01:00.0"]}
                for role in ("tester", "dut")
            },
            "approach": "dpdk",
            "dpdk": {
                "forwarder": "testpmd-io",
                "way_back": "same",
                "hugepages": {"page_kib": 2048, "count": 512},
            },
            "measure": {"rfc2544": {"frame_bytes": [64], **differs}},
        }
    )


def test_a_bench_that_was_cut_short_is_kept_to_go_on_from(tmp_path: Path):
    spec = bench_spec()
    assert isinstance(spec, Dpdk) and spec.measure.rfc2544 is not None
    files = ProofFolder(tmp_path, opening())
    written = [
        setup_of(spec, plan_of(spec, spec.measure.rfc2544)),
        trial(1, load_pps=1e6, missing=0),
    ]
    for record in written:
        files.bench(record)
    files.close()
    with pytest.raises(InputError, match=r"run\.differs"):
        bench_to_resume(bench_spec(seconds=5), tmp_path)
    recorded = bench_to_resume(spec, tmp_path)
    assert recorded == written
    files = ProofFolder(tmp_path, opening(), recorded)
    files.bench(trial(2, load_pps=1e6, missing=0))
    files.close()
    assert [r.number for r in read_records(tmp_path) if isinstance(r, Trial)] == [1, 2]
    ProofFolder(tmp_path, opening()).close()
    assert read_records(tmp_path) == []


def test_what_measures_no_bench_has_nothing_to_go_on_from(tmp_path: Path):
    spec = tmp_path / "spec.yaml"
    spec.write_text(json.dumps(SPEC))
    with pytest.raises(InputError, match=r"run\.nothing_to_resume"):
        prove.main([str(spec), "--resume", "--yes", "--out", str(tmp_path / "out")],
                   standalone_mode=False)  # fmt: skip
