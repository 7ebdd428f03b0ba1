"""Comparing approaches: what cannot be asked for is refused before a host is."""

import json
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from wirespeed.cli import cli
from wirespeed.commands import compare as compare_module
from wirespeed.commands import measure as measure_command
from wirespeed.commands.compare import compare
from wirespeed.commands.report import report
from wirespeed.model.error import InputError, LeftChangedError, WirespeedError
from wirespeed.runs import compare_paths
from wirespeed.runs.bench_request import BenchRequest
from wirespeed.runs.compare_folder import compare_folder

SPEC = {
    "hosts": {
        name: {"reach": f"ssh://{name}.invalid", "ports": ["0000:01:00.0", "0000:02:00.0"]}
        for name in ("alpha", "beta")
    },
    "approach": "legacy-vlan",
    "underlay": {"subnet": "192.168.9.0/24", "mtu": 9080},
    "networks": {"storage": {"segment": 42, "subnet": "192.168.10.0/24", "mtu": 9000}},
    "guests": {"ceph-1": {"host": "alpha", "networks": ["storage"], "kind": "namespace"}},
}


def written(folder: Path, **differs: object) -> str:
    path = folder / "spec.yaml"
    path.write_text(json.dumps({**SPEC, **differs}))
    return str(path)


@pytest.mark.parametrize("approaches", ["legacy-vlan,magic", "ovs-tc,ovs-tc", ""])
def test_an_approach_is_named_once_and_known(tmp_path: Path, approaches: str):
    done = CliRunner().invoke(cli, ["compare", written(tmp_path), "--approaches", approaches])
    assert done.exit_code == 2
    assert "each once, of legacy-vlan" in done.output


def test_a_spec_that_one_of_them_cannot_carry_out_is_refused_for_all(tmp_path: Path):
    small = {"subnet": "192.168.9.0/24", "mtu": 9000}
    path = written(tmp_path, underlay=small)
    with pytest.raises(InputError) as caught:
        compare.main([path, "--approaches", "legacy-vlan,ovs-tc"], standalone_mode=False)
    assert (caught.value.what, caught.value.where) == ("spec.invalid", "ovs-tc")
    assert "do not fit into the underlay's 9000" in caught.value.found
    assert not (tmp_path / "spec.yaml.compare").exists()


WITHOUT_GUESTS = {
    "none": {},
    "wsl2": {"underlay": {"subnet": "192.168.9.0/24", "mtu": 9000}},
    "esxi": {"esxi": {"parameters": {"max_vfs": "1,1"}}},
    "dpdk": {
        "dpdk": {"way_back": "same", "hugepages": {"page_kib": 1048576, "count": 64}},
        "measure": {"rfc2544": {"frame_bytes": [64], "flows": 100}},
    },
}  # fmt: skip
ROLES = {"alpha": {"role": "tester", "cores": "2-3"}, "beta": {"role": "dut", "cores": "2-3"}}


@pytest.mark.parametrize("approach", WITHOUT_GUESTS)
def test_a_spec_without_networks_of_guests_is_refused_with_the_reason(
    tmp_path: Path, approach: str
):
    hosts = {
        name: {
            "reach": f"ssh://{name}.invalid", "ports": ["0000:01:00.0"],
            **(ROLES[name] if approach == "dpdk" else {}),
        }
        for name in ROLES
    }  # fmt: skip
    path = tmp_path / "spec.yaml"
    path.write_text(json.dumps({"hosts": hosts, "approach": approach, **WITHOUT_GUESTS[approach]}))
    for named in ((), ("--approaches", "legacy-vlan")):
        with pytest.raises(InputError) as caught:
            compare.main([str(path), "--yes", *named], standalone_mode=False)
        assert (caught.value.what, caught.value.where) == ("spec.not_comparable", str(path))
        assert f"approach: {approach} makes no network of guests" in caught.value.found
        assert "a spec of legacy-vlan, ovs-dpdk, ovs-tc" in caught.value.next
    assert [one.name for one in tmp_path.iterdir()] == ["spec.yaml"]


@pytest.mark.parametrize("approach", WITHOUT_GUESTS)
def test_an_approach_without_networks_of_guests_is_refused_with_the_reason(
    tmp_path: Path, approach: str
):
    done = CliRunner().invoke(
        cli, ["compare", written(tmp_path), "--approaches", f"legacy-vlan,{approach}"]
    )
    assert done.exit_code == 2
    text = " ".join(done.output.split())
    assert "each once, of legacy-vlan, ovs-dpdk, ovs-tc" in text
    assert f"approach: {approach} makes no network of guests" in text


def test_approaches_whose_hosts_are_not_reached_stand_on_the_page_with_the_reason(tmp_path: Path):
    argv = [written(tmp_path), "--approaches", "legacy-vlan,ovs-tc", "--yes"]
    assert compare.main(argv, standalone_mode=False) == 1
    page = (tmp_path / "spec.yaml.compare" / "report.html").read_text()
    assert page.count('<div class="big">not shown</div>') == 2
    assert "Name or service not known" in page or "name resolution" in page


def prove_fails(monkeypatch: pytest.MonkeyPatch, *errors: WirespeedError) -> list[str]:
    """Let each approach fail so in its turn; give the names of the folders that came to it."""
    folders: list[str] = []
    left = list(errors)

    def prove_into(folder: Path, *_: object, **__: object) -> None:
        folders.append(folder.name)
        raise left.pop(0)

    monkeypatch.setattr(compare_module, "prove_into", prove_into)
    return folders


def test_after_a_host_was_left_changed_nothing_else_is_built_and_the_page_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    error = LeftChangedError("undo.failed", found="the bond stands", next="wirespeed undo x")
    folders = prove_fails(monkeypatch, error)
    argv = [written(tmp_path), "--approaches", "legacy-vlan,ovs-tc", "--yes"]
    with pytest.raises(LeftChangedError):
        compare.main(argv, standalone_mode=False)
    assert folders == ["legacy-vlan"]
    page = (tmp_path / "spec.yaml.compare" / "report.html").read_text()
    assert "the bond stands" in page
    assert "it was stopped before this approach" in page


def test_the_page_is_made_again_from_the_folder_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    errors = [InputError("spec.no_ovs", found=f"none on {host}") for host in ("alpha", "beta")]
    prove_fails(monkeypatch, *errors)
    argv = [written(tmp_path), "--approaches", "legacy-vlan,ovs-tc", "--yes"]
    assert compare.main(argv, standalone_mode=False) == 1
    folder = tmp_path / "spec.yaml.compare"
    pages = [(folder / name).read_text() for name in ("report.html", "report.md")]
    (tmp_path / "spec.yaml").unlink()
    assert report.main([str(folder), "--out", str(tmp_path / "new")], standalone_mode=False) == 0
    assert [(tmp_path / "new" / n).read_text() for n in ("report.html", "report.md")] == pages


def test_the_answer_is_told_in_80_columns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    found = "openvswitch-switch-dpdk is not among the programs of this host " * 4
    prove_fails(monkeypatch, InputError("spec.no_ovs", found=found))
    argv = [written(tmp_path), "--approaches", "ovs-dpdk", "--yes"]
    compare.main(argv, standalone_mode=False)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "None can be recommended: none is proven on these hosts."
    assert all(len(line) <= 80 for line in lines[:-1])


def test_what_an_earlier_comparison_left_is_not_shown_as_this_one_s(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    folder = tmp_path / "spec.yaml.compare"
    for old in (folder / "ovs-tc" / "stages.jsonl", folder / "ovs-tc" / "report.html"):
        old.parent.mkdir(parents=True, exist_ok=True)
        old.write_text("old\n")
    (folder / "rfc2544" / "ovs-tc").mkdir(parents=True)
    (folder / "rfc2544" / "ovs-tc" / "trials.jsonl").write_text("old\n")
    prove_fails(monkeypatch, InputError("ssh.unreachable", found="no route"))
    argv = [written(tmp_path), "--approaches", "ovs-tc", "--yes"]
    assert compare.main(argv, standalone_mode=False) == 1
    assert "its own page" not in (folder / "report.html").read_text()


def test_rfc_2544_goes_through_the_paths_that_the_spec_asks_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    asked: list[BenchRequest] = []

    def measure_bench(request: BenchRequest) -> None:
        asked.append(request)
        raise InputError("dut.not_installed", found="no ovs-vswitchd", next="fetch it")

    monkeypatch.setattr(compare_paths, "measure_bench", measure_bench)
    prove_fails(monkeypatch, *[InputError("x.y", found="z")] * 3)
    measure = {"rfc2544": {"frame_bytes": [64, 1518], "flows": 100, "seconds": 0.5}}
    names = "legacy-vlan,ovs-dpdk,ovs-tc"
    argv = [written(tmp_path, measure=measure), "--approaches", names, "--yes"]
    compare.main(argv, standalone_mode=False)
    folder = compare_folder(tmp_path / "spec.yaml")
    rest = {"frame_bytes": "64,1518", "flows": 100, "trial_seconds": 0.5, "confirm_seconds": 0.5}
    rest["windowed"] = False
    out = folder / "rfc2544"
    # That one of them failed keeps the other from nothing.
    assert asked == [
        BenchRequest(out=out / "ovs-dpdk", duts=("ovs-dpdk-vxlan", "ovs-dpdk"), **rest),
        BenchRequest(out=out / "ovs-tc", duts=("kernel-vxlan", "kernel-bridge"), **rest),
    ]
    # What is printed does the same when a person types it.
    printed = [line for line in capsys.readouterr().err.splitlines() if " rfc2544 " in line]
    typed = list(asked)
    asked.clear()
    monkeypatch.setattr(measure_command, "measure_bench", measure_bench)
    for line in printed:
        argv = shlex.split(line)[3:]
        with pytest.raises(InputError):
            measure_command.rfc2544.main(argv, standalone_mode=False)
    assert asked == typed
    page = (tmp_path / "spec.yaml.compare" / "report.html").read_text()
    assert "not measured: dut.not_installed: no ovs-vswitchd; next: fetch it" in page
    # Its frames are moved by the card.
    assert "not measured: the card moves the frames" in page
