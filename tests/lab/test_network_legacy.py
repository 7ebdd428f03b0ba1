"""What is measured between guests, on real kernels: guests are namespaces, cards are emulated.

Figures of an emulated card mean nothing: what is asserted is what was measured, and the verdicts.
"""

import json
import os
from collections.abc import Iterator
from typing import TypeAlias, TypeVar

import pytest
from program import wirespeed

from wirespeed.host.runner import Runner
from wirespeed.lab.machine_cable import lab_cable, lab_control
from wirespeed.lab.machine_spec import LabSpec, MachineSpec
from wirespeed.lab.machines import Machines
from wirespeed.measure.network.endpoint import Endpoint
from wirespeed.measure.network.endpoints import endpoints_of
from wirespeed.measure.network.failover import failovers
from wirespeed.measure.network.forged import PLAIN_KINDS
from wirespeed.measure.network.iperf3 import iperf3_matrix
from wirespeed.measure.network.isolation import isolation
from wirespeed.measure.network.ping import flood_pings
from wirespeed.measure.network.summary import summarize
from wirespeed.model.network_trial import (
    FailoverTrial,
    ForgedKind,
    Iperf3Trial,
    IsolationTrial,
    IsolationVerdict,
    NetworkTrial,
    Pair,
    PingTrial,
)
from wirespeed.model.spec.measure import FailoverSpec, Iperf3Spec, IsolationSpec, PingSpec
from wirespeed.runs.hosts_of_spec import read_spec, runners_of

pytestmark = [pytest.mark.machines, pytest.mark.rare, pytest.mark.timeout(900)]
HOSTS = ("alpha", "beta")
PORTS = ("0000:01:00.0", "0000:02:00.0")
NETDEVS = ("enp1s0", "enp2s0")
STORY = {
    "approach": "legacy-vlan",
    "underlay": {"subnet": "192.168.9.0/24", "mtu": 9080},
    "networks": {
        "storage": {"segment": 42, "subnet": "192.168.10.0/24", "mtu": 9000},
        "public": {"segment": 40, "subnet": "192.168.20.0/24", "mtu": 1500},
    },
    "guests": {
        "ceph-1": {"host": "alpha", "networks": ["storage"], "kind": "namespace"},
        "ceph-2": {"host": "beta", "networks": ["storage"], "kind": "namespace"},
        # Nobody else is in its network: the ports of a host have to show that it hears.
        "web-1": {"host": "alpha", "networks": ["public"], "kind": "namespace"},
    },
}
PAIR = Pair(client="ceph-1", server="ceph-2", network="storage")
FRAMES = 200
EVERY_WAY = 3
"""The bond and its two members."""
Applied: TypeAlias = tuple[dict[str, Endpoint], dict[str, Runner]]
Trial = TypeVar("Trial", Iperf3Trial, PingTrial, FailoverTrial, IsolationTrial)


@pytest.fixture(scope="module")
def lab() -> Iterator[Machines]:
    hosts = tuple(MachineSpec(name=name) for name in HOSTS)
    # Bonds of both ends may use different ports: only a switch joins these.
    with Machines(LabSpec(hosts=hosts, wiring="switch"), name=f"test-{os.getpid()}-net") as lab:
        yield lab


@pytest.fixture(scope="module")
def applied(lab: Machines, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Applied]:
    """The guests, and what runs commands on the hosts."""
    path = tmp_path_factory.mktemp("net") / "spec.yaml"
    hosts = {n: {"reach": f"ssh://{lab.hosts[n].state.destination}", "ports": PORTS} for n in HOSTS}
    path.write_text(json.dumps({"hosts": hosts, **STORY}))
    done = wirespeed("apply", str(path), "--yes", timeout_s=600)
    assert done.returncode == 0, done.stdout + done.stderr
    spec = read_spec(path)
    with runners_of(spec) as runners:
        yield endpoints_of(spec, runners), dict(runners)
    undone = wirespeed("undo", str(path), timeout_s=600)
    assert undone.returncode == 0, undone.stdout + undone.stderr


def only(kind: type[Trial], trials: list[NetworkTrial]) -> list[Trial]:
    found = [trial for trial in trials if isinstance(trial, kind)]
    assert len(found) == len(trials)
    return found


def mtus(guest: Endpoint) -> list[str]:
    paths = [f"/sys/class/net/{netdev}/mtu" for netdev in ("bond0", "net0p0", "net0p1")]
    return guest.runner.run(("cat", *paths)).output.split()


def test_legacy_iperf3_measures_every_cell_and_puts_the_mtu_back(applied: Applied):
    guests, hosts = applied
    recorded: list[NetworkTrial] = []
    seen: list[list[str]] = []

    def record(trial: NetworkTrial) -> None:
        recorded.append(trial)
        seen.append(mtus(guests["ceph-2"]))

    # 9200 is above what the network carries: it is not tried.
    # Seconds enough for a frame to arrive where the machine starves a host for one of them.
    spec = Iperf3Spec(mtu=(1500, 9000, 9200), streams=(2,), runs=2, seconds=3)
    iperf3_matrix(guests, hosts, spec, [PAIR], record)
    trials = only(Iperf3Trial, recorded)
    assert [trial.failed for trial in trials] == [""] * 4
    order = [(trial.number, trial.mtu) for trial in trials]
    assert order == [(1, 1500), (1, 9000), (2, 1500), (2, 9000)]
    assert seen == [["1500"] * 3, ["9000"] * 3] * 2
    assert mtus(guests["ceph-1"]) == ["9000"] * 3
    for trial in trials:
        assert trial.sent_bps > 0
        assert trial.returned_bps
        assert [cpu.host for cpu in trial.host_cpu] == ["alpha", "beta"]
        assert all(0 < cpu.busy_cores <= cpu.cores for cpu in trial.host_cpu)
    assert [cell.bps.n if cell.bps else 0 for cell in summarize(recorded).iperf3] == [4, 4]
    left = hosts["beta"].run(("sh", "-c", "ps ax | grep -E '[i]perf3|[w]irespeed-'")).output
    assert left == "", "no server and no guard is left"


def test_legacy_flood_pings_are_a_warm_up_and_three_runs(applied: Applied):
    guests, _ = applied
    recorded: list[NetworkTrial] = []
    flood_pings(guests, PingSpec(count=1000), [PAIR], recorded.append)
    trials = only(PingTrial, recorded)
    assert [trial.failed for trial in trials] == [""] * 4
    assert [trial.is_warmup for trial in trials] == [True, False, False, False]
    assert all(trial.sent == 1000 for trial in trials)
    (cell,) = summarize(recorded).pings
    assert cell.mean_us is not None
    assert cell.mean_us.n == 3


def test_legacy_a_flow_survives_the_cable_of_the_port_that_carries_it(
    lab: Machines, applied: Applied
):
    guests, _ = applied
    control = lab_control(lab.hosts["alpha"].state.destination)
    assert control is not None
    cables = [
        lab_cable(control, host="alpha", port=port, number=number)
        for number, port in enumerate(PORTS)
    ]
    recorded: list[NetworkTrial] = []
    failovers(guests, FailoverSpec(load_pps=50, seconds=5), PAIR, cables, recorded.append)
    trials = only(FailoverTrial, recorded)
    # A busy machine makes some invalid; the port that does not carry it is not touched.
    assert {trial.verdict for trial in trials} <= {"survived", "not touched", "invalid"}, trials
    survived = [trial for trial in trials if trial.verdict == "survived"]
    assert survived, trials
    for trial in survived:
        number = PORTS.index(trial.port)
        assert trial.carried_before == f"net0p{number}"
        assert trial.carried_during == f"net0p{1 - number}"
        assert trial.outage_ms > 20, "one packet is due every 20 ms"
        assert 0 < trial.lost_packets < trial.offered_packets
        assert trial.received_packets + trial.lost_packets == trial.offered_packets


def test_legacy_nothing_leaks_and_the_card_does_not_check_sources(applied: Applied):
    guests, hosts = applied
    recorded: list[NetworkTrial] = []
    ports = dict.fromkeys(HOSTS, NETDEVS)
    isolation(guests, hosts, IsolationSpec(frames=FRAMES), recorded.append, ports)
    trials = only(IsolationTrial, recorded)
    apart = [trial for trial in trials if trial.sender_network != trial.receiver_network]
    ways = {(trial.sender, trial.receiver) for trial in apart}
    assert ways == {
        ("ceph-1", "web-1"), ("ceph-2", "web-1"), ("web-1", "ceph-1"), ("web-1", "ceph-2"),
    }  # fmt: skip
    assert len(apart) == len(ways) * len(PLAIN_KINDS)
    for trial in apart:
        assert trial.verdict is IsolationVerdict.APART, trial
        assert trial.sent == EVERY_WAY * FRAMES
        assert trial.heard_control > 0
    spoofed = [trial for trial in trials if trial not in apart]
    assert [(trial.sender, trial.receiver) for trial in spoofed] == [
        ("ceph-1", "ceph-2"),
        ("ceph-2", "ceph-1"),
    ]
    for trial in spoofed:
        assert trial.verdict is IsolationVerdict.NOT_ENFORCED, trial
        assert trial.arrived > 0


def test_legacy_what_leaks_without_its_vlan_is_named(applied: Applied):
    guests, hosts = applied
    alpha = hosts["alpha"]
    mac = guests["web-1"].attachments["public"].mac
    links = json.loads(alpha.run(("ip", "-j", "link", "show", "dev", NETDEVS[0])).output)
    (vf,) = (one["vf"] for one in links[0]["vfinfo_list"] if one["address"] == mac)

    def put_into(vlan: int) -> None:
        for netdev in NETDEVS:
            words = ("dev", netdev, "vf", str(vf), "vlan", str(vlan))
            assert alpha.run(("ip", "link", "set", *words)).returncode == 0

    two = {name: guests[name] for name in ("web-1", "ceph-2")}
    recorded: list[NetworkTrial] = []
    put_into(42)
    try:
        isolation(two, hosts, IsolationSpec(frames=FRAMES), recorded.append)
    finally:
        put_into(40)
    trials = only(IsolationTrial, recorded)
    to_ceph = {trial.forged: trial for trial in trials if trial.receiver == "ceph-2"}
    leaked = [kind for kind, trial in to_ceph.items() if trial.verdict == "leaked"]
    # Each goes over the wire with the tag of the other network, put on by the card.
    assert ForgedKind.UNTAGGED in leaked
    assert ForgedKind.BROADCAST in leaked
    assert ForgedKind.ARP in leaked
    assert ForgedKind.IPV4 in leaked
    assert f"{mac} > {two['ceph-2'].attachments['storage'].mac}" in (
        to_ceph[ForgedKind.UNTAGGED].said
    )
    rows = summarize(recorded).isolation
    assert [row.verdict for row in rows if row.receiver == "ceph-2"] == [IsolationVerdict.LEAKED]
