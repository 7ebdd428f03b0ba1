"""Open vSwitch with the kernel's datapath, on real kernels: two tenants on two hosts, and back.

A user's own bridge with a port and a flow is on the same Open vSwitch all the time.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from ovs_story import (
    HOSTS,
    OVS,
    START,
    USER,
    Database,
    Users,
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

from wirespeed.doctor.host_state import Values, differences
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
from wirespeed.model.spec.spec import Spec
from wirespeed.runs.hosts_of_spec import read_spec, runners_of

pytestmark = [pytest.mark.machines, pytest.mark.rare, pytest.mark.timeout(900)]
BY_TC = "ovs-vsctl set Open_vSwitch . other_config:hw-offload=true other_config:tc-policy=skip_hw"


@pytest.fixture(scope="module")
def lab() -> Iterator[Machines]:
    hosts = tuple(MachineSpec(name=name, memory_mib=768, cpus=2) for name in HOSTS)
    # Bonds of both ends may use different ports: only a switch joins these.
    with Machines(LabSpec(hosts=hosts, wiring="switch"), name=f"test-{os.getpid()}-ovs") as lab:
        yield lab


class Found(NamedTuple):
    """What the hosts had before the story, by their own words."""

    standing: dict[str, Values]
    databases: dict[str, Database]
    users: dict[str, Users]


class Story(NamedTuple):
    """The story, applied."""

    path: Path
    found: Found
    spec: Spec
    guests: dict[str, Endpoint]
    hosts: dict[str, Runner]


@pytest.fixture(scope="module")
def story(lab: Machines, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    """Apply it once for all tests of this file; the last of them undoes it."""
    path = written_spec(lab, "ovs-tc", tmp_path_factory.mktemp("story") / "spec.yaml")
    for host in HOSTS:
        sh(lab, host, START)
        sh(lab, host, USER)
    # One host's flows go by filters of tc, as its administrator asked; the other's by the module.
    sh(lab, "alpha", f"{BY_TC}; {OVS.replace('start', 'restart', 1)}")
    found = Found(
        standing(lab, HOSTS),
        {host: database(lab, host) for host in HOSTS},
        {host: users(lab, host) for host in HOSTS},
    )
    applied = wirespeed("apply", str(path), "--yes", timeout_s=600)
    assert applied.returncode == 0, applied.stdout + applied.stderr
    wanted = read_spec(path)
    with runners_of(wanted) as runners:
        yield Story(path, found, wanted, endpoints_of(wanted, runners), dict(runners))


def test_ovs_a_second_apply_has_nothing_to_do(story: Story):
    again = wirespeed("apply", str(story.path), "--yes", timeout_s=600)
    assert again.returncode == 0, again.stdout + again.stderr
    assert "\n0 of " in again.stdout, again.stdout


def test_ovs_guests_of_a_network_talk_and_others_do_not(lab: Machines, story: Story):
    guests = story.guests
    assert_talk(guests["ceph-1"], guests["ceph-2"], "storage")
    assert_talk(guests["web-2"], guests["web-1"], "public")
    ping(guests["ceph-1"], guests["ceph-2"].attachments["storage"].address, mtu=9000, count=5)
    for host, layer, netdev in (
        ("alpha", "dp:tc", "ceph-1-n0"),
        ("beta", "dp:ovs", "ceph-2-n0"),
    ):
        reading = read_offload(story.hosts[host], host, [netdev])
        assert reading.verdict is OffloadVerdict.IN_SOFTWARE, reading
        flows = sh(lab, host, "ovs-appctl dpctl/dump-flows -m | grep tunnel")
        assert layer in flows, flows
    filters = sh(lab, "alpha", "tc -s filter show dev ceph-1-n0 ingress")
    assert "tunnel_key" in filters and "not_in_hw" in filters, filters
    assert_apart(guests["web-1"], guests["ceph-2"], "storage")
    assert_apart(guests["web-1"], guests["ceph-1"], "storage")


def test_ovs_fails_over(story: Story):
    assert_fails_over(story.guests, story.hosts)


def test_ovs_no_forged_frame_reaches_another_tenant(story: Story):
    assert_nothing_leaks(forged(story.spec, story.guests, story.hosts))


def test_ovs_leaks_are_seen(lab: Machines, story: Story):
    assert_leaks_are_seen(lab, story.spec, story.guests, story.hosts)


def test_ovs_is_undone_as_found_and_the_users_own_bridge_stays(lab: Machines, story: Story):
    found = story.found
    assert {host: users(lab, host) for host in HOSTS} == found.users
    undone = wirespeed("undo", str(story.path), timeout_s=600)
    assert undone.returncode == 0, undone.stdout + undone.stderr
    assert {host: database(lab, host) for host in HOSTS} == found.databases
    assert {host: users(lab, host) for host in HOSTS} == found.users
    now = standing(lab, HOSTS)
    before = found.standing
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
