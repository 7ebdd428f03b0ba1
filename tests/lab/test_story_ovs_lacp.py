"""Open vSwitch over a bond by LACP: both cables are one LAG, of the kernel and of a modelled card.

Fail-over is not shown: the far end of an emulated cable does not see that a port went down, and
LACP takes 90 s to notice.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from mlx5_host import PORTS, counters, mlx5_lab, refused, until
from ovs_story import HOSTS, STORY, assert_talk, sh
from program import wirespeed

from wirespeed.lab.machines import Machines
from wirespeed.measure.network.endpoints import endpoints_of
from wirespeed.measure.network.offload import read_offload
from wirespeed.model.network_trial import OffloadVerdict
from wirespeed.runs.hosts_of_spec import read_spec, runners_of

pytestmark = [pytest.mark.machines, pytest.mark.rare, pytest.mark.timeout(900)]
FULL_MAC = "00:00:00:00:00:00"
NETDEVS = ("enp1s0f0", "enp1s0f1")


@pytest.fixture(scope="module")
def lab() -> Iterator[Machines]:
    # Each port's cable ends at the same port of the other host: the two bonds are partners.
    with mlx5_lab(f"test-{os.getpid()}-lacp", *HOSTS, kernel="6.1", systemd=True) as lab:
        yield lab


def sent(lab: Machines) -> list[int]:
    """Frames that alpha's ports have sent, as the card counts them."""
    return [counters(lab.hosts["alpha"], netdev)["tx_packets_phy"] for netdev in NETDEVS]


def test_ovs_over_lacp_mlx5_ports_are_one_lag_and_a_vf_sends_by_both(lab: Machines, tmp_path: Path):
    path = tmp_path / "spec.yaml"
    hosts = {n: {"reach": f"ssh://{lab.hosts[n].state.destination}", "ports": PORTS} for n in HOSTS}
    guests = {name: STORY["guests"][name] for name in ("ceph-1", "ceph-2")}
    own = {"approach": "ovs-tc", "failover": "lacp", "steering": "as-found"}
    path.write_text(json.dumps({**STORY, "guests": guests, "hosts": hosts, **own}))
    for host in HOSTS:
        sh(lab, host, "systemctl enable --now openvswitch-switch 2>&1")
    applied = wirespeed("apply", str(path), "--yes", timeout_s=600)
    assert applied.returncode == 0, applied.stdout + applied.stderr

    # The kernel's own account of the partner: it is the other host, and has both ports.
    bond = "cat /proc/net/bonding/underlay0"
    until(lambda: "Number of ports: 2" in sh(lab, "alpha", bond))
    state = sh(lab, "alpha", bond)
    assert f"Partner Mac Address: {FULL_MAC}" not in state
    assert "IEEE 802.3ad" in state and "layer3+4" in state
    # The driver's account of the card: active, each send queue's port is itself.
    lag = f"/sys/kernel/debug/mlx5/{PORTS[0]}/lag"
    until(lambda: sh(lab, "alpha", f"cat {lag}/state").strip() == "active")
    until(lambda: sh(lab, "alpha", f"cat {lag}/mapping").split() == ["1:1", "2:2"])

    wanted = read_spec(path)
    with runners_of(wanted) as runners:
        ends = endpoints_of(wanted, runners)
        assert_talk(ends["ceph-1"], ends["ceph-2"], "storage")
        before = sent(lab)
        ends["ceph-2"].runner.run(("iperf3", "-s", "-1", "-D"))
        address = str(ends["ceph-2"].attachments["storage"].address)
        flows = ("iperf3", "-c", address, "-P", "8", "-t", "3", "--connect-timeout", "9000")
        done = ends["ceph-1"].runner.run(flows)
        assert done.returncode == 0, done.output + done.errors
        # The VF's queues belong to different ports of the LAG.
        grown = [after - was for was, after in zip(before, sent(lab), strict=True)]
        assert min(grown) >= 100, grown
        reading = read_offload(runners["alpha"], "alpha", ["ceph-1-n0", "vxlan_sys_4789"])
        assert reading.verdict is OffloadVerdict.HIT, reading

    undone = wirespeed("undo", str(path), timeout_s=600)
    assert undone.returncode == 0, undone.stdout + undone.stderr
    for host in HOSTS:
        assert "underlay0" not in sh(lab, host, "ip -br link")
        assert refused(lab, host) == ""
