"""Open vSwitch with DPDK itself, on hosts that systemd runs: its faults, and then traffic.

DPDK drives a whole port of each host (`igb`, by vfio-pci behind the IOMMU).
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
from ovs_story import SLEEPS, assert_talk, sh, standing
from program import wirespeed

from wirespeed.doctor.host_state import differences
from wirespeed.host.clock import Deadline, sleep_s
from wirespeed.lab.machine_spec import LabSpec, MachineSpec
from wirespeed.lab.machines import Machines
from wirespeed.measure.network.endpoints import endpoints_of
from wirespeed.runs.hosts_of_spec import read_spec, runners_of

pytestmark = [pytest.mark.machines, pytest.mark.rare, pytest.mark.timeout(1800)]
HOSTS = ("alpha", "beta")
PORT = "0000:02:00.0"
STORY: dict[str, Any] = {
    "approach": "ovs-dpdk",
    "failover": "none",
    "underlay": {"subnet": "192.168.9.0/24", "mtu": 1600, "driver": "vfio-pci"},
    "networks": {"storage": {"segment": 42, "subnet": "192.168.10.0/24", "mtu": 1500}},
    "guests": {
        "ceph-1": {"host": "alpha", "networks": ["storage"], "kind": "namespace"},
        "ceph-2": {"host": "beta", "networks": ["storage"], "kind": "namespace"},
        "gpu-1": {"host": "alpha", "networks": ["storage"], "kind": "none"},
    },
}
DPDK = "/usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk"
PAGES = "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages"
RUNS = "readlink /proc/$(cat /run/openvswitch/ovs-vswitchd.pid)/exe"
DRIVER = f"readlink /sys/bus/pci/devices/{PORT}/driver"
OURS = "ovs-vsctl get Open_vSwitch . other_config"
THEIRS = '{pmd-maxsleep="500", pmd-sleep-max="500"}'
"""As found: the user's own."""
ENOUGH_MIB = 3072
"""1024 pages of 2 MiB, and an eighth for all else."""


@pytest.fixture(scope="module")
def lab() -> Iterator[Machines]:
    hosts = tuple(
        MachineSpec(name=name, memory_mib=ENOUGH_MIB, cpus=2, systemd=True) for name in HOSTS
    )
    with Machines(LabSpec(hosts=hosts), name=f"test-{os.getpid()}-dpdkf") as lab:
        for host in HOSTS:
            sh(lab, host, "systemctl start openvswitch-switch")
            sh(lab, host, SLEEPS)
        yield lab


@pytest.fixture
def spec(lab: Machines, tmp_path: Path) -> Path:
    path = tmp_path / "spec.yaml"
    hosts = {
        n: {"reach": f"ssh://{lab.hosts[n].state.destination}", "ports": [PORT]} for n in HOSTS
    }
    # JSON is YAML too.
    path.write_text(json.dumps({"hosts": hosts, **STORY}))
    return path


def applied(spec: Path) -> CompletedProcess[str]:
    return wirespeed("apply", str(spec), "--yes", timeout_s=900)


def in_one_line(text: str) -> str:
    return " ".join(text.split())


def assert_refused(lab: Machines, spec: Path, why: str) -> None:
    """Before anything was changed."""
    refused = applied(spec)
    assert refused.returncode == 2, refused.stdout + refused.stderr
    assert why in in_one_line(refused.stderr), refused.stderr
    assert sh(lab, "alpha", OURS).strip() == THEIRS


def test_ovs_dpdk_whose_build_is_not_installed_is_refused(lab: Machines, spec: Path):
    sh(lab, "alpha", f"update-alternatives --remove ovs-vswitchd {DPDK}")
    try:
        assert_refused(lab, spec, "apt install openvswitch-switch-dpdk")
    finally:
        sh(
            lab,
            "alpha",
            f"update-alternatives --install /usr/sbin/ovs-vswitchd ovs-vswitchd {DPDK} 50",
        )


def test_ovs_dpdk_that_cannot_start_is_not_done_and_all_is_put_back(lab: Machines, spec: Path):
    """The pages are there, and somebody else has them: 3.1 ends itself then."""
    sh(lab, "alpha", f"echo 1024 >{PAGES}; fallocate -l 2G /dev/hugepages/others")
    try:
        failed = applied(spec)
    finally:
        sh(lab, "alpha", f"rm /dev/hugepages/others; echo 0 >{PAGES}")
    assert failed.returncode == 1, failed.stdout + failed.stderr
    said = in_one_line(failed.stderr)
    assert "ERROR step.failed other_config:dpdk-init on alpha" in said, said
    assert "systemctl restart openvswitch-switch.service: return code 1" in said, said
    assert "all earlier steps were undone" in said, said
    assert "-dpdk" not in sh(lab, "alpha", RUNS)
    assert sh(lab, "alpha", OURS).strip() == THEIRS
    assert sh(lab, "alpha", DRIVER).strip().endswith("/igb")


def test_ovs_dpdk_drives_the_port_survives_a_kill_and_is_undone(lab: Machines, spec: Path):
    before = standing(lab, HOSTS)
    done = applied(spec)
    assert done.returncode == 0, done.stdout + done.stderr
    for host in HOSTS:
        assert sh(lab, host, "ovs-vsctl get Open_vSwitch . dpdk_initialized").strip() == "true"
        assert sh(lab, host, DRIVER).strip().endswith("/vfio-pci")
        driver = sh(lab, host, "ovs-vsctl get Interface phy-p0 status:driver_name")
        assert driver.strip() == "net_e1000_igb"
    socket = "ovs-vsctl get Interface gpu-1-n0 type error options:vhost-server-path"
    shown = ["dpdkvhostuserclient", "[]", '"/run/openvswitch/gpu-1-n0"']
    assert sh(lab, "alpha", socket).split() == shown
    wanted = read_spec(spec)
    with runners_of(wanted) as runners:
        guests = endpoints_of(wanted, runners)
        assert_talk(guests["ceph-1"], guests["ceph-2"], "storage")
        sh(lab, "alpha", "kill -KILL $(cat /run/openvswitch/ovs-vswitchd.pid)")
        deadline = Deadline(120)
        # systemd starts it again (Restart=on-failure), with DPDK and all its ports.
        while sh(lab, "alpha", "systemctl is-active ovs-vswitchd || true").strip() != "active":
            assert not deadline.expired
            sleep_s(0.5)
        assert_talk(guests["ceph-1"], guests["ceph-2"], "storage")
    undone = wirespeed("undo", str(spec), timeout_s=900)
    assert undone.returncode == 0, undone.stdout + undone.stderr
    for host in HOSTS:
        assert "-dpdk" not in sh(lab, host, RUNS)
    now = standing(lab, HOSTS)
    assert [d for host in before for d in differences(host, before[host], now[host])] == []
