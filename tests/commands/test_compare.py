"""Comparing approaches: what cannot be asked for is refused before a host is."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from wirespeed.cli import cli
from wirespeed.commands.compare import compare
from wirespeed.model.error import InputError

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


def test_approaches_whose_hosts_are_not_reached_stand_on_the_page_with_the_reason(tmp_path: Path):
    argv = [written(tmp_path), "--approaches", "legacy-vlan,ovs-tc", "--yes"]
    assert compare.main(argv, standalone_mode=False) == 1
    page = (tmp_path / "spec.yaml.compare" / "report.html").read_text()
    assert page.count('<div class="big">not shown</div>') == 2
    assert "Name or service not known" in page or "name resolution" in page
