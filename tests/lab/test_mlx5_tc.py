"""Flows that a modelled ConnectX applies by itself, by tc and by Open vSwitch, on Linux 6.1.

`skip_sw`: the kernel takes such a flow only if the driver takes it, and applies it to no packet.
Debian's kernel 6.12 has no offload by tc for mlx5 (CONFIG_MLX5_CLS_ACT), 6.1 has.
"""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from mlx5_host import PORTS, mlx5_lab, refused, sh, until
from ovs_story import HOSTS, assert_talk
from program import wirespeed

from wirespeed.apply.control_posix import PosixControl
from wirespeed.apply.run_place import run_folder
from wirespeed.host.reach_destination import Remote
from wirespeed.host.ssh_session import SshSession
from wirespeed.lab.machines import Machine, Machines
from wirespeed.measure.network.endpoints import endpoints_of
from wirespeed.model.network_trial import FailoverVerdict, IsolationVerdict, OffloadVerdict
from wirespeed.model.proof import Stage
from wirespeed.runs.hosts_of_spec import read_spec, runners_of
from wirespeed.runs.prove_folder import read_proof

pytestmark = [pytest.mark.machines, pytest.mark.rare, pytest.mark.timeout(1200)]
UPLINK, OTHER = "enp1s0f0", "enp1s0f1"
PF = f"/sys/bus/pci/devices/{PORTS[0]}"
REPRESENTORS = (f"{UPLINK}npf0vf0", f"{UPLINK}npf0vf1")
EXAMPLE = Path(__file__).parents[2] / "examples/ovs-tc-modelled.yaml"
DRIVER = "/sys/bus/pci/drivers/mlx5_core"
BETA = "10.50.0.20"
GUESTS = ("10.50.0.10", "10.50.0.11")
BETAS_MAC = "02:00:00:01:00:00"


@pytest.fixture(scope="module")
def lab() -> Iterator[Machines]:
    name = f"test-{os.getpid()}-mlx5tc"
    with mlx5_lab(name, *HOSTS, wiring="switch", kernel="6.1", systemd=True, disk=True) as lab:
        for host in HOSTS:
            sh(lab.hosts[host], "systemctl enable --now openvswitch-switch 2>&1")
        yield lab


@pytest.fixture
def switched(lab: Machines) -> Iterator[Machine]:
    """Alpha's first port in switchdev mode, two VFs in namespaces g0 and g1; then as before."""
    alpha, beta = lab.hosts["alpha"], lab.hosts["beta"]
    # Beta's other port would answer for this one's address.
    sh(beta, f"ip link set {OTHER} down; ip address add {BETA}/24 dev {UPLINK}")
    sh(alpha, f"ip link set {OTHER} down; echo 2 >{PF}/sriov_numvfs; udevadm settle")
    sh(alpha, f"for one in {PF}/virtfn*; do basename $(readlink $one) >{DRIVER}/unbind; done")
    sh(alpha, f"devlink dev eswitch set pci/{PORTS[0]} mode switchdev")
    for vf, address in enumerate(GUESTS):
        sh(
            alpha,
            f"basename $(readlink {PF}/virtfn{vf}) >{DRIVER}/bind; udevadm settle\n"
            f"ip netns add g{vf}\n"
            f"ip link set $(ls {PF}/virtfn{vf}/net) netns g{vf} name e0\n"
            f"ip -n g{vf} link set e0 address {mac(vf)}\n"
            f"ip -n g{vf} address add {address}/24 dev e0; ip -n g{vf} link set e0 up\n"
            f"ip link set {REPRESENTORS[vf]} up",
        )
    for netdev in (*REPRESENTORS, UPLINK):
        sh(alpha, f"ethtool -K {netdev} hw-tc-offload on; tc qdisc add dev {netdev} ingress")
    yield alpha
    # While the card has flows, the driver refuses another mode: E-Switch is busy.
    for netdev in (*REPRESENTORS, UPLINK):
        sh(alpha, f"tc qdisc del dev {netdev} ingress")
    sh(alpha, "for one in g0 g1; do ip netns del $one; done; udevadm settle")
    sh(alpha, f"for one in {PF}/virtfn*; do basename $(readlink $one) >{DRIVER}/unbind; done")
    sh(alpha, f"devlink dev eswitch set pci/{PORTS[0]} mode legacy; echo 0 >{PF}/sriov_numvfs")
    sh(alpha, f"ethtool -L {UPLINK} combined 2; ip link set {OTHER} up")
    sh(beta, f"ip address del {BETA}/24 dev {UPLINK}; ip link set {OTHER} up")


def mac(vf: int) -> str:
    return f"02:00:00:aa:00:0{vf}"


def flow(host: Machine, netdev: str, priority: int, match: str, *actions: str) -> None:
    """Add a flow that the card alone applies."""
    done = " pipe ".join(f"action {one}" for one in actions)
    sh(host, f"tc filter add dev {netdev} ingress prio {priority} {match} {done}")


def to(netdev: str) -> str:
    return f"mirred egress redirect dev {netdev}"


def in_hardware(host: Machine, netdev: str) -> list[int]:
    """Packets that the card counts for each flow that it applied to any."""
    said = sh(host, f"tc -s filter show dev {netdev} ingress")
    assert "not_in_hw" not in said, said
    return [int(count) for count in re.findall(r"Sent hardware \d+ bytes (\d+) pkt", said)]


def answers(host: Machine, guest: int, address: str, more: str = "") -> bool:
    ping = f"ip netns exec g{guest} ping -c 3 -i 0.2 -W 2 {more} {address} >/dev/null"
    return sh(host, f"{ping} && echo yes || :") == "yes"


def arp(host: Machine, guest: int, address: str, of: str) -> None:
    """What ARP would find: no flow here takes it along."""
    sh(host, f"ip -n g{guest} neigh replace {address} lladdr {of} dev e0")


def test_mlx5_tc_the_card_forwards_drops_and_counts_by_itself(lab: Machines, switched: Machine):
    alpha, beta = switched, lab.hosts["beta"]
    arp(alpha, 0, GUESTS[1], mac(1))
    arp(alpha, 1, GUESTS[0], mac(0))
    for guest in (0, 1):
        arp(alpha, guest, BETA, BETAS_MAC)
        sh(beta, f"ip neigh replace {GUESTS[guest]} lladdr {mac(guest)} dev {UPLINK}")
    assert not answers(alpha, 0, GUESTS[1]), "no flow joins them yet"

    ip = "protocol ip flower skip_sw"
    flow(alpha, REPRESENTORS[0], 1, f"{ip} dst_mac {mac(1)}", to(REPRESENTORS[1]))
    flow(alpha, REPRESENTORS[1], 1, f"{ip} dst_mac {mac(0)}", to(REPRESENTORS[0]))
    assert answers(alpha, 0, GUESTS[1])
    for netdev in REPRESENTORS:
        until(lambda netdev=netdev: in_hardware(alpha, netdev) == [3])
    # The cable's way; then a flow of a lower number, which is looked at first, drops.
    flow(alpha, REPRESENTORS[0], 2, f"{ip} dst_mac {BETAS_MAC}", to(UPLINK))
    flow(alpha, UPLINK, 2, f"{ip} dst_mac {mac(0)}", to(REPRESENTORS[0]))
    assert answers(alpha, 0, BETA)
    sh(alpha, f"tc filter del dev {REPRESENTORS[0]} ingress prio 1")
    flow(alpha, REPRESENTORS[0], 1, f"{ip} dst_ip {BETA}", "drop")
    assert not answers(alpha, 0, BETA)
    until(lambda: in_hardware(alpha, REPRESENTORS[0]) == [3, 3])
    sh(alpha, f"tc filter del dev {REPRESENTORS[0]} ingress prio 1")
    assert answers(alpha, 0, BETA)

    # A tag is put on and taken off; another VLAN's is not.
    sh(
        beta,
        f"ip link add v77 link {UPLINK} type vlan id 77; ip address add 10.77.0.20/24 dev v77\n"
        f"ip link set v77 up; ip neigh replace 10.77.0.10 lladdr {mac(0)} dev v77",
    )
    sh(alpha, "ip -n g0 address add 10.77.0.10/24 dev e0")
    arp(alpha, 0, "10.77.0.20", BETAS_MAC)
    push = f"{ip} dst_ip 10.77.0.20"
    pop = f"protocol 802.1Q flower skip_sw vlan_id 77 dst_mac {mac(0)}"
    flow(alpha, REPRESENTORS[0], 1, push, "vlan push id 78", to(UPLINK))
    flow(alpha, UPLINK, 5, pop, "vlan pop", to(REPRESENTORS[0]))
    assert not answers(alpha, 0, "10.77.0.20")
    sh(alpha, f"tc filter del dev {REPRESENTORS[0]} ingress prio 1")
    flow(alpha, REPRESENTORS[0], 1, push, "vlan push id 77", to(UPLINK))
    assert answers(alpha, 0, "10.77.0.20")
    sh(beta, "ip link del v77")

    # Addresses are rewritten both ways, with checksums that the receivers' kernels accept.
    arp(alpha, 0, "10.50.0.99", "02:00:00:bb:00:99")
    there = f"munge eth dst set {BETAS_MAC} munge ip dst set {BETA} munge ip ttl add 0xff"
    back = "munge ip src set 10.50.0.99"
    csum = "csum ip and tcp"
    flow(
        alpha, REPRESENTORS[0], 4, f"{ip} ip_proto tcp dst_ip 10.50.0.99",
        f"pedit ex {there}", csum, to(UPLINK),
    )  # fmt: skip
    flow(
        alpha, UPLINK, 1, f"{ip} ip_proto tcp src_ip {BETA}", f"pedit ex {back}", csum,
        to(REPRESENTORS[0]),
    )  # fmt: skip
    sh(beta, "iperf3 -s -D -1")
    said = sh(alpha, "ip netns exec g0 iperf3 -J -c 10.50.0.99 -t 3 --connect-timeout 9000")
    # Of some megabytes: with a wrong checksum, not even the connection comes about.
    assert json.loads(said)["end"]["sum_received"]["bytes"] >= 100 * 1024
    assert refused(lab, "alpha") == ""


def test_mlx5_ovs_tc_prove_offloaded_and_hit_over_vf_lag_and_back(lab: Machines, tmp_path: Path):
    path = tmp_path / "spec.yaml"
    path.write_text(EXAMPLE.read_text().replace(".lab", f".{lab.folder.name}"))
    done = wirespeed("prove", str(path), "--yes", timeout_s=1000)
    said = done.stdout[-3000:] + done.stderr[-3000:]
    assert done.returncode in (0, 1), said
    proof = read_proof(run_folder(path))
    assert [end.outcome for end in proof.stages] == ["done"] * len(Stage), said
    assert proof.drift is not None and proof.drift.is_equal, said

    assert {one.verdict for one in proof.summary.offloads} == {OffloadVerdict.HIT}, said
    apart = [one for one in proof.isolation if one.sender_network != one.receiver_network]
    assert apart and {one.verdict for one in apart} == {IsolationVerdict.APART}, apart
    # A port that is set down on its host: the driver maps both ports to the other, and the flows
    # of VFs, which the host does not forward, leave by that. A busy machine makes some invalid.
    failovers = proof.summary.failovers
    assert {one.port for one in failovers if one.host == "alpha"} == set(PORTS), said
    verdicts = {one.verdict for one in failovers}
    allowed = {FailoverVerdict.SURVIVED, FailoverVerdict.NOT_TOUCHED, FailoverVerdict.INVALID}
    assert verdicts <= allowed and FailoverVerdict.SURVIVED in verdicts, failovers
    assert proof.undone is not None and proof.undone.is_equal, proof.undone
    for host in HOSTS:
        assert refused(lab, host) == ""


def test_mlx5_ovs_tc_is_there_again_after_a_reboot(lab: Machines, tmp_path: Path):
    path = tmp_path / "spec.yaml"
    path.write_text(EXAMPLE.read_text().replace(".lab", f".{lab.folder.name}"))
    for command in ("apply", "persist"):
        done = wirespeed(command, str(path), "--yes", timeout_s=600)
        assert done.returncode == 0, done.stdout + done.stderr
    for host in HOSTS:
        place = lab.hosts[host].state.destination
        with SshSession(Remote(place, place)) as session:
            control = PosixControl(host, session)
            control.reboot(control.boot_id())
            # The unit that makes all of it again is part of the boot.
            started = session.run(["systemctl", "is-system-running", "--wait"], timeout_s=240)
            assert started.output.strip() == "running", started
    drifted = wirespeed("drift", str(path), timeout_s=300)
    # Of as many as the journal's plan has.
    begun = json.loads((run_folder(path) / "journal.jsonl").read_text().partition("\n")[0])
    steps = len(begun["plan"]["steps"])
    assert drifted.returncode == 0 and f"0 of {steps} steps" in drifted.stdout, drifted.stdout
    wanted = read_spec(path)
    with runners_of(wanted) as runners:
        ends = endpoints_of(wanted, runners)
        assert_talk(ends["ceph-1"], ends["ceph-2"], "storage")
        filters = "tc -s filter show dev ceph-1-n0 ingress"

        def is_in_hardware() -> bool:
            # Open vSwitch removes a flow that had no packet for 10 s.
            assert_talk(ends["ceph-1"], ends["ceph-2"], "storage")
            return "Sent hardware" in sh(lab.hosts["alpha"], filters)

        until(is_in_hardware)

    for words in (("persist", "--remove", "--yes"), ("undo",)):
        done = wirespeed(words[0], str(path), *words[1:], timeout_s=600)
        assert done.returncode == 0, done.stdout + done.stderr
