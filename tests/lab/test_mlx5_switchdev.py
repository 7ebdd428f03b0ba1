"""Modelled cards in switchdev mode: frames go by the driver's flow tables, and by nothing else."""

import os
from collections.abc import Iterator

import pytest
from mlx5_host import PORTS, Run, counters, facts_of, mlx5_lab, refused, sh, until

from wirespeed.doctor.host_state import differences, values_of
from wirespeed.lab.machines import Machine, Machines
from wirespeed.model.fact import HostFacts
from wirespeed.steps.bond import Bond
from wirespeed.steps.channels import Channels
from wirespeed.steps.eswitch_mode import EswitchMode
from wirespeed.steps.rings import Rings

pytestmark = [pytest.mark.machines, pytest.mark.rare, pytest.mark.timeout(900)]
NETDEVS = ("enp1s0f0", "enp1s0f1")
UPLINK = NETDEVS[0]
PF = f"/sys/bus/pci/devices/{PORTS[0]}"
REPRESENTORS = (f"{UPLINK}npf0vf0", f"{UPLINK}npf0vf1")
DRIVER = "/sys/bus/pci/drivers/mlx5_core"
BETA = "10.50.0.20"
GUESTS = ("10.50.0.10", "10.50.0.11")


@pytest.fixture(scope="module")
def lab() -> Iterator[Machines]:
    # A bond's ends may use different ports: only a switch joins these.
    with mlx5_lab(f"test-{os.getpid()}-mlx5sw", "alpha", "beta", wiring="switch") as lab:
        sh(lab.hosts["beta"], f"ip address add {BETA}/24 dev {UPLINK}")
        yield lab


def answers(host: Machine, guest: int, address: str) -> bool:
    ping = f"ip netns exec g{guest} ping -c 3 -i 0.2 -W 2 {address} >/dev/null"
    return sh(host, f"{ping} && echo yes || :") == "yes"


def changed(before: HostFacts, after: HostFacts) -> set[tuple[str, str]]:
    """What is not as it was, but for a feature that nobody can set.

    A kernel without offload by tc says `off [fixed]` of it, and `on [fixed]` from the first change
    of mode on, whatever the mode.
    """
    found = differences("alpha", values_of(before), values_of(after))
    return {(one.subject, one.what) for one in found if "hw-tc-offload" not in one.subject}


def vfs_in_namespaces(alpha: Machine) -> None:
    for guest, address in enumerate(GUESTS):
        sh(
            alpha,
            f"basename $(readlink {PF}/virtfn{guest}) >{DRIVER}/bind; udevadm settle\n"
            f"ip netns add g{guest}\n"
            f"ip link set $(ls {PF}/virtfn{guest}/net) netns g{guest} name e0\n"
            f"ip -n g{guest} address add {address}/24 dev e0; ip -n g{guest} link set e0 up\n"
            f"ip link set {REPRESENTORS[guest]} up",
        )


def unbind_vfs(alpha: Machine) -> None:
    sh(alpha, f"for one in {PF}/virtfn*; do basename $(readlink $one) >{DRIVER}/unbind; done")


def test_mlx5_switchdev_frames_go_by_the_tables_and_undo_brings_all_back(lab: Machines):
    alpha = lab.hosts["alpha"]
    sh(alpha, f"ethtool -L {UPLINK} combined 1; ethtool -G {UPLINK} rx 512")
    sh(alpha, f"echo 2 >{PF}/sriov_numvfs; udevadm settle")
    unbind_vfs(alpha)
    found = facts_of(alpha)
    run = Run(
        alpha,
        (
            EswitchMode(
                pci_address=PORTS[0],
                mode="switchdev",
                netdev=UPLINK,
                combined=1,
                rx=512,
                tx=1024,
            ),
            Channels(netdev=UPLINK, combined=2),
            Rings(netdev=UPLINK, rx=2048),
        ),
    )
    run.executor().apply()
    assert sh(alpha, f"ethtool -l {UPLINK} | awk '/^Combined/ {{ print $2 }}' | tail -1") == "2"
    ports = sh(alpha, "devlink port show")
    for vf, netdev in enumerate(REPRESENTORS):
        assert f" netdev {netdev} flavour pcivf controller 0 pfnum 0 vfnum {vf} " in ports
    vfs_in_namespaces(alpha)

    # What a VF sends comes to its own representor, and to no other.
    sh(alpha, f"ip address add 10.50.0.1/24 dev {REPRESENTORS[0]}")
    until(lambda: answers(alpha, 0, "10.50.0.1"))
    assert not answers(alpha, 1, "10.50.0.1"), "the other VF has a representor of its own"
    assert not answers(alpha, 0, GUESTS[1]) and not answers(alpha, 0, BETA), "none joins them"
    sh(alpha, f"ip address flush dev {REPRESENTORS[0]}")

    # Joined by the host: representors and the cable, by a bridge of the kernel's.
    joined = " ".join((*REPRESENTORS, UPLINK))
    sh(alpha, "ip link add br0 type bridge; ip link set br0 up")
    sh(alpha, f"for one in {joined}; do ip link set $one master br0; done")
    until(lambda: answers(alpha, 0, BETA))
    assert answers(alpha, 1, BETA) and answers(alpha, 0, GUESTS[1])
    # The representor counts what its VF sent as received: by the driver, of the card's counters.
    counted = counters(alpha, REPRESENTORS[0])["vport_rx_packets"]
    assert answers(alpha, 0, BETA)
    assert counters(alpha, REPRESENTORS[0])["vport_rx_packets"] - counted >= 3
    # Down, the driver takes its rules away: nothing else leads to that VF.
    sh(alpha, f"ip link set {REPRESENTORS[0]} down")
    assert not answers(alpha, 0, BETA) and answers(alpha, 1, BETA)

    sh(alpha, "ip link del br0; for one in g0 g1; do ip netns del $one; done; udevadm settle")
    unbind_vfs(alpha)
    run.executor().undo()
    # The driver gives a channel for each CPU and rings of 1024 by itself: found were others.
    assert changed(found, facts_of(alpha)) == set()
    sh(
        alpha,
        f"ethtool -L {UPLINK} combined 2; ethtool -G {UPLINK} rx 1024; echo 0 >{PF}/sriov_numvfs",
    )
    assert refused(lab, "alpha") == ""


def test_mlx5_vf_lag_maps_both_ports_to_the_one_that_is_up(lab: Machines):
    alpha = lab.hosts["alpha"]
    found = facts_of(alpha)
    sh(alpha, "modprobe bonding max_bonds=0")
    bond = Bond(netdev="underlay0", members=NETDEVS, mode="active-backup", miimon_ms=100)
    modes = [
        EswitchMode(pci_address=port, mode="switchdev", netdev=netdev, combined=2)
        for port, netdev in zip(PORTS, NETDEVS, strict=True)
    ]
    run = Run(alpha, (*modes, bond))
    run.executor().apply()
    lag = f"/sys/kernel/debug/mlx5/{PORTS[0]}/lag"
    until(lambda: sh(alpha, f"cat {lag}/state") == "active")
    assert sh(alpha, f"cat {lag}/type") == "switchdev"
    sh(alpha, "ip address add 10.50.0.30/24 dev underlay0; ip link set underlay0 up")
    reach = f"ping -c 3 -i 0.2 -W 2 {BETA} >/dev/null && echo yes || :"
    until(lambda: sh(alpha, reach) == "yes")

    for down, other in ((0, 1), (1, 0)):
        sh(alpha, f"ip link set {NETDEVS[other]} up")
        carrier = f"cat /sys/class/net/{NETDEVS[other]}/carrier"
        until(lambda carrier=carrier: sh(alpha, carrier) == "1")
        lab.hosts["alpha"].set_link(down, up=False)
        both = " ".join(f"{port}:{other + 1}" for port in (1, 2))
        until(lambda both=both: " ".join(sh(alpha, f"cat {lag}/mapping").split()) == both)
        until(lambda: sh(alpha, reach) == "yes")
        lab.hosts["alpha"].set_link(down, up=True)
        carrier = f"cat /sys/class/net/{NETDEVS[down]}/carrier"
        until(lambda carrier=carrier: sh(alpha, carrier) == "1")
    sh(alpha, "ip address flush dev underlay0")
    run.executor().undo()
    assert changed(found, facts_of(alpha)) == set()
    assert sh(alpha, f"cat {lag}/state") == "disabled"
    assert refused(lab, "alpha") == ""
