"""Guests that are namespaces, on real kernels: two tenants, each on both hosts, and back again."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from namespace_story import HOSTS, PORTS, STORY, assert_as_before, standing, written
from program import wirespeed

from wirespeed.host.clock import Deadline, sleep_s
from wirespeed.lab.machines import Machines
from wirespeed.measure.network.endpoint import Endpoint
from wirespeed.measure.network.endpoints import endpoints_of
from wirespeed.runs.hosts_of_spec import read_spec, runners_of

pytestmark = [pytest.mark.machines, pytest.mark.rare, pytest.mark.timeout(900)]
HEADERS_BYTES = 28
"""IPv4 and ICMP: what `ping -s` leaves out."""


@pytest.fixture(scope="module")
def lab() -> Iterator[Machines]:
    with Machines(name=f"test-{os.getpid()}-namespace") as lab:
        yield lab


def ping(guest: Endpoint, address: object, *, mtu: int, count: int = 3) -> str:
    """Packets of exactly so many bytes, which nobody may cut into pieces."""
    size = str(mtu - HEADERS_BYTES)
    argv = ("ping", "-n", "-M", "do", "-s", size, "-c", str(count), "-W", "2", str(address))
    done = guest.runner.run(argv, timeout_s=60)
    return done.output + done.errors


def assert_talk(one: Endpoint, other: Endpoint, network: str) -> None:
    mine, address = one.attachments[network], other.attachments[network].address
    # Both bonds have to find the port that the other one uses.
    deadline = Deadline(90)
    while " 0% packet loss" not in ping(one, address, mtu=mine.mtu, count=1):
        assert not deadline.expired, ping(one, address, mtu=mine.mtu)
        sleep_s(0.5)
    assert "message too long, mtu=" in ping(one, address, mtu=mine.mtu + 1, count=1)


def assert_apart(one: Endpoint, other: Endpoint, network: str) -> None:
    """With an address of the other's own subnet, too."""
    address = other.attachments[network].address
    netdev = next(iter(one.attachments.values())).netdev
    assert "Network is unreachable" in ping(one, address, mtu=100, count=1)
    forced = ("192.168.10.201/24", "dev", netdev)
    assert one.runner.run(("ip", "addr", "add", *forced)).returncode == 0
    try:
        assert "100% packet loss" in ping(one, address, mtu=100)
    finally:
        assert one.runner.run(("ip", "addr", "del", *forced)).returncode == 0


def test_legacy_namespaces_of_one_network_talk_and_of_two_do_not(lab: Machines, tmp_path: Path):
    spec = written(lab, tmp_path / "spec.yaml", STORY, dict.fromkeys(HOSTS, PORTS))
    before = standing(lab)

    applied = wirespeed("apply", str(spec), "--yes", timeout_s=600)
    assert applied.returncode == 0, applied.stdout + applied.stderr

    wanted = read_spec(spec)
    with runners_of(wanted) as runners:
        guests = endpoints_of(wanted, runners)
        assert set(guests) == set(STORY["guests"])
        assert_talk(guests["ceph-1"], guests["ceph-2"], "storage")
        assert_talk(guests["web-1"], guests["web-2"], "public")
        # Over the wire, and within one card.
        assert_apart(guests["web-1"], guests["ceph-2"], "storage")
        assert_apart(guests["web-1"], guests["ceph-1"], "storage")
        assert_talk(guests["ceph-2"], guests["ceph-1"], "storage")

    again = wirespeed("apply", str(spec), "--yes")
    assert again.returncode == 0, again.stdout + again.stderr
    assert "\n0 of " in again.stdout, again.stdout

    undone = wirespeed("undo", str(spec), timeout_s=600)
    assert undone.returncode == 0, undone.stdout + undone.stderr
    assert_as_before(lab, before)


def test_legacy_a_namespace_of_somebody_else_is_left_alone(lab: Machines, tmp_path: Path):
    story = STORY | {"guests": {"ceph-1": STORY["guests"]["ceph-1"]}}
    spec = written(lab, tmp_path / "spec.yaml", story, dict.fromkeys(HOSTS, PORTS))
    host = lab.hosts["alpha"]
    assert host.run(["ip", "netns", "add", "ceph-1"]).returncode == 0
    try:
        refused = wirespeed("apply", str(spec), "--yes")
    finally:
        assert host.run(["ip", "netns", "del", "ceph-1"]).returncode == 0
    assert refused.returncode == 2, refused.stdout + refused.stderr
    assert "its owner is not known" in " ".join(refused.stderr.split())
