"""Open vSwitch in userspace, on real kernels: two tenants on two hosts, and back.

The cards here are none that DPDK drives beside the kernel: the switch takes the kernel's netdevs. A
user's own bridge, of the kernel's datapath, is on the same Open vSwitch all the time.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from ovs_story import (
    HOSTS,
    PAIR,
    SLEEPS,
    START,
    USER,
    assert_apart,
    assert_fails_over,
    assert_nothing_leaks,
    assert_talk,
    database,
    forged,
    leaked,
    sh,
    standing,
    users,
    written_spec,
)
from program import wirespeed

from wirespeed.doctor.host_state import differences
from wirespeed.host.runner import Runner
from wirespeed.lab.machine_spec import LabSpec, MachineSpec
from wirespeed.lab.machines import Machines
from wirespeed.measure.network.endpoint import Endpoint
from wirespeed.measure.network.endpoints import endpoints_of
from wirespeed.measure.network.iperf3 import iperf3_matrix
from wirespeed.model.network_trial import (
    ForgedKind,
    Iperf3Trial,
    NetworkTrial,
)
from wirespeed.model.spec.measure import Iperf3Spec
from wirespeed.model.spec.spec import Spec
from wirespeed.runs.hosts_of_spec import read_spec, runners_of

pytestmark = [pytest.mark.machines, pytest.mark.rare, pytest.mark.timeout(1800)]
Guests = dict[str, Endpoint]
Hosts = dict[str, Runner]


@pytest.fixture(scope="module")
def lab() -> Iterator[Machines]:
    hosts = tuple(MachineSpec(name=name, memory_mib=768, cpus=2) for name in HOSTS)
    # Bonds of both ends may use different ports: only a switch joins these.
    with Machines(LabSpec(hosts=hosts, wiring="switch"), name=f"test-{os.getpid()}-dpdk") as lab:
        yield lab


@pytest.fixture
def spec(lab: Machines, tmp_path: Path) -> Path:
    return written_spec(lab, "ovs-dpdk", tmp_path / "spec.yaml")


def test_ovs_dpdk_as_found_apply_talk_fail_over_apart_undo_as_found(lab: Machines, spec: Path):
    for host in HOSTS:
        sh(lab, host, START)
        sh(lab, host, USER)
        sh(lab, host, SLEEPS)
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
        assert_tcp_flows_in_userspace(lab, guests, hosts)
        assert_apart(guests["web-1"], guests["ceph-2"], "storage")
        assert_apart(guests["web-1"], guests["ceph-1"], "storage")
        assert_the_hosts_own_stack_is_not_there(lab, guests)
        assert_fails_over(guests, hosts)
        assert_nothing_leaks(forged(wanted, guests, hosts))
        assert_leaks_are_seen(lab, wanted, guests, hosts)
    assert {host: users(lab, host) for host in HOSTS} == theirs

    undone = wirespeed("undo", str(spec), timeout_s=600)
    assert undone.returncode == 0, undone.stdout + undone.stderr
    assert {host: database(lab, host) for host in HOSTS} == databases
    assert {host: users(lab, host) for host in HOSTS} == theirs
    assert {sh(lab, host, "nft list ruleset") for host in HOSTS} == {""}
    now = standing(lab, HOSTS)
    assert [d for host in before for d in differences(host, before[host], now[host])] == []


def assert_tcp_flows_in_userspace(lab: Machines, guests: Guests, hosts: Hosts) -> None:
    """A checksum that nobody made would let ping through, and no TCP."""
    recorded: list[NetworkTrial] = []
    of = Iperf3Spec(mtu=(9000,), streams=(1,), bidirectional=False, runs=1, seconds=2)
    iperf3_matrix(guests, hosts, of, [PAIR], recorded.append)
    (trial,) = recorded
    assert isinstance(trial, Iperf3Trial) and not trial.failed and trial.sent_bps > 0, trial
    flows = sh(lab, "alpha", "ovs-appctl dpctl/dump-flows netdev@ovs-netdev")
    assert "tnl_push" in flows and "vni=0x2a" in flows, flows
    assert "tnl_pop" in flows, flows


def assert_the_hosts_own_stack_is_not_there(lab: Machines, guests: Guests) -> None:
    """A guest that asks for an address of its host hears nothing; the underlay has one answer."""
    asked = ("arping", "-c", "2", "-w", "3", "-I", "net0p0")
    for address in ("192.168.9.1", "10.0.2.15"):
        said = guests["ceph-1"].runner.run((*asked, address), timeout_s=30)
        assert "Received 0 response" in said.output, said.output
    sh(lab, "beta", "ip neigh flush dev br-phy")
    said_once = sh(lab, "beta", "arping -c 2 -w 5 -I br-phy 192.168.9.1")
    assert "Received 2 response" in said_once, said_once
    macs = {line.split("[")[1].split("]")[0] for line in said_once.splitlines() if "reply" in line}
    assert macs == {sh(lab, "alpha", "cat /sys/class/net/br-phy/address").strip().upper()}


def assert_leaks_are_seen(lab: Machines, spec: Spec, guests: Guests, hosts: Hosts) -> None:
    """Equal keys, and a port of the switch that has an address: both are named as leaks."""
    two = {name: guests[name] for name in ("web-1", "ceph-2")}
    keys = (
        "ovs-vsctl set Interface t42-beta options:key={} -- set Interface t40-beta options:key={}"
    )
    sh(lab, "alpha", keys.format(99, 42))
    try:
        found = leaked(forged(spec, two, hosts))
    finally:
        sh(lab, "alpha", keys.format(42, 40))
    assert ("web-1", "ceph-2", ForgedKind.UNTAGGED) in found, found
    assert ("web-1", "ceph-2", ForgedKind.ARP) in found, found

    three = {name: guests[name] for name in ("web-1", "ceph-1", "ceph-2")}
    sh(lab, "beta", "ip address add fe80::1/64 dev web-2-n0")
    try:
        found = leaked(forged(spec, three, hosts))
    finally:
        sh(lab, "beta", "ip address del fe80::1/64 dev web-2-n0")
    assert found == {("web-1", "ceph-2", ForgedKind.VXLAN)}
