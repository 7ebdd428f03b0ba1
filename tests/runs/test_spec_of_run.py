"""The spec by which the hosts of a run are reached again."""

from pathlib import Path

import pytest

from wirespeed.apply.spec_file import parse_spec
from wirespeed.model.error import InputError
from wirespeed.runs.run_hosts import spec_of_run

SPEC = """
hosts: {alpha: {reach: ssh://root@alpha, ports: ["0000:03:00.0"]}}
approach: legacy-vlan
failover: none
underlay: {subnet: 192.168.9.0/24, mtu: 9080}
networks: {storage: {segment: 8, subnet: 192.168.10.0/24, mtu: 9000}}
guests: {ceph-1: {host: alpha, networks: [storage]}}
"""


@pytest.mark.parametrize("refused", ["segment: '8'", "segment: yes", "segment: [", "color: red"])
def test_a_file_that_is_refused_by_now_keeps_no_run_from_its_undo(
    refused: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    """An older release took it, so the run stands on the hosts."""
    own, path = parse_spec(SPEC, "spec.yaml"), tmp_path / "spec.yaml"
    path.write_text(SPEC.replace("segment: 8", refused))
    assert spec_of_run(path, own) == own
    assert "the spec in the journal is used" in capsys.readouterr().err


def test_a_run_without_a_spec_of_its_own_needs_the_file(tmp_path: Path):
    (tmp_path / "spec.yaml").write_text("segment: [")
    with pytest.raises(InputError):
        spec_of_run(tmp_path / "spec.yaml", None)


def test_a_host_that_is_reached_another_way_by_now_is_reached_by_the_file(tmp_path: Path):
    own, path = parse_spec(SPEC, "spec.yaml"), tmp_path / "spec.yaml"
    path.write_text(SPEC.replace("root@alpha", "root@elsewhere"))
    assert spec_of_run(path, own).hosts["alpha"].reach == "ssh://root@elsewhere"
