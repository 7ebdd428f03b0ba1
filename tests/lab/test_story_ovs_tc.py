"""Open vSwitch with the kernel's datapath, on real kernels: two tenants on two hosts, and back.

A user's own bridge with a port and a flow is on the same Open vSwitch all the time.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from ovs_story import (
    HOSTS,
    OVS,
    START,
    USER,
    assert_apart,
    assert_fails_over,
    assert_nothing_leaks,
    assert_talk,
    database,
    forged,
    leaked,
    ping,
    sh,
    standing,
    users,
    written_spec,
)
from program import wirespeed

from wirespeed.commands.hosts_of_spec import read_spec, runners_of
from wirespeed.doctor.host_state import differences
from wirespeed.host.runner import Runner
from wirespeed.lab.machine_spec import LabSpec, MachineSpec
from wirespeed.lab.machines import Machines
from wirespeed.measure.network.endpoint import Endpoint
from wirespeed.measure.network.endpoints import endpoints_of
from wirespeed.measure.network.offload import read_offload
from wirespeed.model.network_trial import (
    ForgedKind,
    OffloadVerdict,
)
from wirespeed.model.spec import Spec

pytestmark = [pytest.mark.machines, pytest.mark.timeout(900)]
BY_TC = "ovs-vsctl set Open_vSwitch . other_config:hw-offload=true other_config:tc-policy=skip_hw"


@pytest.fixture(scope="module")
def lab() -> Iterator[Machines]:
    hosts = tuple(MachineSpec(name=name, memory_mib=768, cpus=2) for name in HOSTS)
    # Bonds of both ends may use different ports: only a switch joins these.
    with Machines(LabSpec(hosts=hosts, wiring="switch"), name=f"test-{os.getpid()}-ovs") as lab:
        yield lab


@pytest.fixture
def spec(lab: Machines, tmp_path: Path) -> Path:
    return written_spec(lab, "ovs-tc", tmp_path / "spec.yaml")


def test_ovs_as_found_apply_talk_fail_over_apart_undo_as_found(lab: Machines, spec: Path):
    for host in HOSTS:
        sh(lab, host, START)
        sh(lab, host, USER)
    # One host's flows go by filters of tc, as its administrator asked; the other's by the module.
    sh(lab, "alpha", f"{BY_TC}; {OVS.replace('start', 'restart', 1)}")
    before = standing(lab, HOSTS)
    databases = {host: database(lab, host) for host in HOSTS}
    theirs = {host: users(lab, host) for host in HOSTS}

    applied = wirespeed("apply", str(spec), "--yes", timeout_s=600)
    assert applied.returncode == 0, applied.stdout + applied.stderr
    again = wirespeed("apply", str(spec), "--yes", timeout_s=600)
    assert again.returncode == 0, again.stdout + again.stderr
    assert "\n0 of " in again.stdout, again.stdout

    wanted = read_spec(spec)
    with runners_of(wanted) as runners:
        guests, hosts = endpoints_of(wanted, runners), dict(runners)
        assert_talk(guests["ceph-1"], guests["ceph-2"], "storage")
        assert_talk(guests["web-2"], guests["web-1"], "public")
        ping(guests["ceph-1"], guests["ceph-2"].attachments["storage"].address, mtu=9000, count=5)
        for host, layer, netdev in (
            ("alpha", "dp:tc", "ceph-1-n0"),
            ("beta", "dp:ovs", "ceph-2-n0"),
        ):
            reading = read_offload(hosts[host], host, [netdev])
            assert reading.verdict is OffloadVerdict.IN_SOFTWARE, reading
            flows = sh(lab, host, "ovs-appctl dpctl/dump-flows -m | grep tunnel")
            assert layer in flows, flows
        filters = sh(lab, "alpha", "tc -s filter show dev ceph-1-n0 ingress")
        assert "tunnel_key" in filters and "not_in_hw" in filters, filters
        assert_apart(guests["web-1"], guests["ceph-2"], "storage")
        assert_apart(guests["web-1"], guests["ceph-1"], "storage")
        assert_fails_over(guests, hosts)
        assert_nothing_leaks(forged(wanted, guests, hosts))
        assert_leaks_are_seen(lab, wanted, guests, hosts)
    assert {host: users(lab, host) for host in HOSTS} == theirs

    undone = wirespeed("undo", str(spec), timeout_s=600)
    assert undone.returncode == 0, undone.stdout + undone.stderr
    assert {host: database(lab, host) for host in HOSTS} == databases
    assert {host: users(lab, host) for host in HOSTS} == theirs
    now = standing(lab, HOSTS)
    assert [d for host in before for d in differences(host, before[host], now[host])] == []


def assert_leaks_are_seen(
    lab: Machines, spec: Spec, guests: dict[str, Endpoint], hosts: dict[str, Runner]
) -> None:
    """Equal keys, and a bridge that hands its host what guests send: both are named as leaks."""
    two = {name: guests[name] for name in ("web-1", "ceph-2")}
    sh(
        lab,
        "alpha",
        "ovs-vsctl set Interface t42-beta options:key=99; "
        "ovs-vsctl set Interface t40-beta options:key=42",
    )
    try:
        found = leaked(forged(spec, two, hosts))
    finally:
        sh(
            lab,
            "alpha",
            "ovs-vsctl set Interface t40-beta options:key=40; "
            "ovs-vsctl set Interface t42-beta options:key=42",
        )
    assert ("web-1", "ceph-2", ForgedKind.UNTAGGED) in found, found
    assert ("web-1", "ceph-2", ForgedKind.ARP) in found, found

    three = {name: guests[name] for name in ("web-1", "ceph-1", "ceph-2")}
    sh(lab, "beta", "ip link set dev br-public up")
    try:
        found = leaked(forged(spec, three, hosts))
    finally:
        sh(lab, "beta", "ip link set dev br-public down")
    assert found == {("web-1", "ceph-2", ForgedKind.VXLAN_BROADCAST)}
