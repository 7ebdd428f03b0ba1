"""Where Open vSwitch with DPDK is looked for."""

from pathlib import Path

import pytest

from wirespeed.measure.bench.ovs_programs import find_ovs
from wirespeed.model.error import InputError

FILES = (
    "usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk",
    "usr/sbin/ovsdb-server",
    "usr/bin/ovsdb-tool",
    "usr/bin/ovs-vsctl",
    "usr/bin/ovs-ofctl",
    "usr/share/openvswitch/vswitch.ovsschema",
)


def installed(root: Path, but: str = "") -> Path:
    for name in FILES:
        if name != but:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).touch()
    return root


def test_the_first_place_that_has_all_of_it(tmp_path: Path):
    half = installed(tmp_path / "half", but="usr/sbin/ovsdb-server")
    whole = installed(tmp_path / "whole")
    assert find_ovs((half, whole)).root == whole
    assert find_ovs((whole, half)).daemon == str(whole / FILES[0])


@pytest.mark.parametrize("missing", FILES)
def test_what_is_missing_is_named_with_two_ways_to_get_it(tmp_path: Path, missing: str):
    with pytest.raises(InputError) as error:
        find_ovs((installed(tmp_path, but=missing), tmp_path / "nothing"))
    assert error.value.what == "dut.not_installed"
    assert error.value.where == str(tmp_path / missing)
    assert "fetch-ovs-dpdk.sh" in error.value.next
    assert "apt-get install openvswitch-switch-dpdk" in error.value.next
