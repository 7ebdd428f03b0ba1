"""VFs of modelled cards: what the driver asks of the switch is enforced, frame by frame."""

import json
import os
from collections.abc import Iterator

import pytest
from mlx5_host import PORTS, complaints, counters, mlx5_lab, refused, sh, until

from wirespeed.lab.machines import Machine, Machines

pytestmark = [pytest.mark.machines, pytest.mark.rare, pytest.mark.timeout(900)]
NETDEV = "enp1s0f0"
PF = f"/sys/bus/pci/devices/{PORTS[0]}"
DRIVER = "/sys/bus/pci/drivers/mlx5_core"
VF = "0000:01:00.2"
PEER = "10.40.0.2"
HELD_MBPS = 5
RING = """
import mmap, struct
path = "/sys/bus/pci/devices/VF/resource0"
with open(path, "r+b") as file, mmap.mmap(file.fileno(), 4096) as bar:
    for at, word in WORDS:
        bar[at : at + 4] = struct.pack(">I", word)
"""
"""What a driver does at the initialisation segment, without one: write words of 4 bytes."""
QUEUE, BELL = "((0x10, 0), (0x14, 0x10000000))", "((0x18, 1),)"
"""Where the queue of commands lies, an address that the IOMMU maps for nobody; look there."""


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
    sh(alpha, f"echo {vf} >{DRIVER}/unbind; echo {vf} >{DRIVER}/bind; udevadm settle || :")
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


def joined(alpha: Machine, beta: Machine) -> str:
    """A VF with its driver, which reaches the other host."""
    sh(beta, f"ip address replace {PEER}/24 dev {NETDEV}")
    sh(alpha, f"echo 1 >{PF}/sriov_numvfs; udevadm settle || :")
    return reaches(alpha)


def reaches(alpha: Machine) -> str:
    netdev = sh(alpha, f"ls {PF}/virtfn0/net")
    sh(alpha, f"ip address add 10.40.0.1/24 dev {netdev}; ip link set {netdev} up")
    until(lambda: answered(alpha, netdev))
    return netdev


def received_mbps(alpha: Machine) -> float:
    """What arrives of one TCP stream from the VF in 2 s, as the receiver counted it."""
    end = json.loads(sh(alpha, f"iperf3 -J -t 2 -B 10.40.0.1 -c {PEER}"))["end"]
    return float(end["sum_received"]["bits_per_second"]) / 1e6


def test_mlx5_a_vfs_rate_limit_holds_what_it_sends(lab: Machines):
    alpha, beta = lab.hosts["alpha"], lab.hosts["beta"]
    joined(alpha, beta)
    sh(beta, "iperf3 -s -D >/dev/null 2>&1")
    sh(alpha, f"ip link set {NETDEV} vf 0 max_tx_rate {HELD_MBPS}")
    held = received_mbps(alpha)
    # Above the first frames of TCP, which may pass at once.
    assert 1 < held <= HELD_MBPS * 1.15, "it is held to the rate, and is not cut off"
    # Shares are not modelled, so the driver is not told that there are any.
    share = f"ip link set {NETDEV} vf 0 min_tx_rate 5 2>&1 || :"
    assert "Operation not supported" in sh(alpha, share)
    # The limit alone held it, and goes with its VF.
    sh(alpha, f"echo 0 >{PF}/sriov_numvfs")
    joined(alpha, beta)
    assert received_mbps(alpha) > HELD_MBPS * 2
    sh(alpha, f"ip link set {NETDEV} vf 0 max_tx_rate {HELD_MBPS}; echo 0 >{PF}/sriov_numvfs")
    assert refused(lab, "alpha") == ""
    sh(beta, "pkill -x iperf3")


def test_mlx5_after_a_function_reset_a_vf_touches_no_memory_and_serves_again(lab: Machines):
    alpha, beta = lab.hosts["alpha"], lab.hosts["beta"]
    joined(alpha, beta)
    assert sh(alpha, f"cat /sys/bus/pci/devices/{VF}/reset_method") == "flr"

    # As a driver that died left it: a queue of commands in memory that is no longer the VF's.
    program = RING.replace("VF", VF)
    ring = f"python3 -c '{program.replace('WORDS', BELL)}'; sleep 0.5"
    sh(alpha, f"echo {VF} >{DRIVER}/unbind; setpci -s {VF} COMMAND=6")
    assert complaints(alpha) == ""
    sh(alpha, f"python3 -c '{program.replace('WORDS', QUEUE)}'; {ring}")
    assert "DMAR" in complaints(alpha), "before the reset, the card reads there"
    sh(alpha, f"dmesg -C; echo 1 >/sys/bus/pci/devices/{VF}/reset; {ring}")
    assert complaints(alpha) == ""
    sh(alpha, f"echo {VF} >{DRIVER}/bind; udevadm settle")
    reaches(alpha)

    # Under its driver, which is not told: frames still come, and cause neither write nor interrupt.
    sh(beta, "ping -i 0.02 -q 10.40.0.1 >/dev/null 2>&1 & echo $! >/run/ping")
    interrupts = "awk '/mlx5_comp.*01:00.2/ { sum += $2 + $3 } END { print sum }' /proc/interrupts"
    count = f"set -- $({interrupts}); sleep 1; echo $(($({interrupts}) - $1))"
    assert int(sh(alpha, count)) > 10
    sh(alpha, f"echo 1 >/sys/bus/pci/devices/{VF}/reset")
    assert int(sh(alpha, count)) == 0
    sh(beta, f"kill $(cat /run/ping); ip address flush dev {NETDEV}")
    # It keeps its driver, which would wait for answers before it is unbound.
