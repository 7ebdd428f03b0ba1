"""VFs of modelled cards: what the driver asks of the switch is enforced, frame by frame."""

import json
import os
from collections.abc import Iterator

import pytest
from mlx5_host import PORTS, counters, mlx5_lab, sh, until

from wirespeed.lab.machines import Machine, Machines

pytestmark = [pytest.mark.machines, pytest.mark.timeout(900)]
NETDEV = "enp1s0f0"
PF = f"/sys/bus/pci/devices/{PORTS[0]}"
PEER = "10.40.0.2"


@pytest.fixture(scope="module")
def lab() -> Iterator[Machines]:
    with mlx5_lab(f"test-{os.getpid()}-mlx5vf", "alpha", "beta") as lab:
        yield lab


def answered(host: Machine, netdev: str) -> bool:
    return (
        sh(host, f"ping -c 3 -i 0.2 -W 2 -I {netdev} {PEER} >/dev/null && echo yes || :") == "yes"
    )


def vf_packets(host: Machine) -> dict[str, int]:
    """What the PF's driver says of VF 0, by the card's counters."""
    (link,) = json.loads(sh(host, f"ip -s -j link show dev {NETDEV}"))
    stats = link["vfinfo_list"][0]["stats"]
    return {"rx": stats["rx"]["packets"], "tx": stats["tx"]["tx_packets"]}


def test_mlx5_a_vfs_vlan_and_spoof_check_are_enforced(lab: Machines):
    alpha, beta = lab.hosts["alpha"], lab.hosts["beta"]
    sh(beta, f"ip link add link {NETDEV} name v40 type vlan id 40; ip link set v40 up")
    sh(beta, f"ip address add {PEER}/24 dev v40")
    sh(alpha, f"echo 1 >{PF}/sriov_numvfs")
    sh(alpha, f"ip link set {NETDEV} vf 0 mac 02:00:00:00:40:01; udevadm settle || :")
    # Its driver takes the address that it was given when it is bound again.
    vf = sh(alpha, f"basename $(readlink {PF}/virtfn0)")
    driver = "/sys/bus/pci/drivers/mlx5_core"
    sh(alpha, f"echo {vf} >{driver}/unbind; echo {vf} >{driver}/bind; udevadm settle || :")
    netdev = sh(alpha, f"ls {PF}/virtfn0/net")
    assert sh(alpha, f"cat /sys/class/net/{netdev}/address") == "02:00:00:00:40:01"
    sh(alpha, f"ip link set {NETDEV} vf 0 vlan 40; ip link set {netdev} up")
    sh(alpha, f"ip address add 10.40.0.1/24 dev {netdev}")
    # The driver sets the card's tables after the command has returned, and ARP asks again.
    until(lambda: answered(alpha, netdev))  # the switch tags with the VF's VLAN, and takes it off
    counted = vf_packets(alpha)
    assert answered(alpha, netdev)
    for way in ("rx", "tx"):
        assert vf_packets(alpha)[way] - counted[way] >= 3, way
    seen = counters(beta, NETDEV)["rx_removed_vlan_packets"]
    assert seen > 0, "the tag is on the wire"

    sh(alpha, f"ip link set {NETDEV} vf 0 vlan 41")
    assert not answered(alpha, netdev), "another VLAN leads elsewhere"
    sh(alpha, f"ip link set {NETDEV} vf 0 vlan 40")
    until(lambda: answered(alpha, netdev))

    # As a guest that forges its address: a second source behind the same VF.
    sh(alpha, f"ip link set {netdev} promisc on")
    sh(alpha, f"ip link set {netdev} down; ip link set {netdev} address 02:00:00:00:40:99")
    sh(alpha, f"ip link set {netdev} up")
    sh(alpha, f"ip link set {NETDEV} vf 0 spoofchk on")
    sh(beta, "ip neighbour flush dev v40")
    assert not answered(alpha, netdev), "a forged address is stopped"
    sh(alpha, f"ip link set {NETDEV} vf 0 spoofchk off")
    until(lambda: answered(alpha, netdev))  # it was stopped by the check alone

    # A promiscuous VF hears other addresses only while it is trusted.
    stranger = "02:00:00:00:40:77"
    sh(beta, f"ip neighbour replace 10.40.0.7 lladdr {stranger} dev v40 nud permanent")
    for trust, is_heard in (("on", True), ("off", False)):
        sh(alpha, f"ip link set {NETDEV} vf 0 trust {trust}; ip link set {netdev} promisc off")
        sh(alpha, f"ip link set {netdev} promisc on; sleep 1")
        before = vf_packets(alpha)["rx"]
        sh(beta, "ping -c 20 -i 0.05 -W 1 10.40.0.7 >/dev/null || :")
        assert (vf_packets(alpha)["rx"] - before >= 20) == is_heard, trust

    sh(alpha, f"echo 0 >{PF}/sriov_numvfs")
    assert sh(alpha, "lspci | grep -c 'Virtual Function' || :") == "0"
    sh(beta, "ip link del v40")
