"""What stories of Open vSwitch look at: what is the user's, who is heard, what a host has.

For approaches whose guests are namespaces on two hosts, each in one of two networks.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from wirespeed.doctor.host_state import Values, values_of
from wirespeed.host.clock import Deadline, sleep_s
from wirespeed.host.reach_destination import Remote
from wirespeed.host.runner import Runner
from wirespeed.lab.machines import Machines
from wirespeed.measure.network.endpoint import Endpoint
from wirespeed.measure.network.failover import HostBond, failovers
from wirespeed.measure.network.isolation import isolation
from wirespeed.measure.network.port_switch import port_set_down
from wirespeed.model.network_trial import (
    FailoverTrial,
    ForgedKind,
    IsolationTrial,
    IsolationVerdict,
    NetworkTrial,
    Pair,
)
from wirespeed.model.spec.measure import FailoverSpec, IsolationSpec
from wirespeed.model.spec.spec import Spec
from wirespeed.runs.captures import Gathered, gather
from wirespeed.runs.measure_guests import host_ends

HOSTS = ("alpha", "beta")
PORTS = ("0000:01:00.0", "0000:02:00.0")
NETDEVS = ("enp1s0", "enp2s0")
PAIR = Pair(client="ceph-1", server="ceph-2", network="storage")
STORY: dict[str, Any] = {
    "underlay": {"subnet": "192.168.9.0/24", "mtu": 9080},
    "networks": {
        "storage": {"segment": 42, "subnet": "192.168.10.0/24", "mtu": 9000},
        "public": {"segment": 40, "subnet": "192.168.20.0/24", "mtu": 9000},
    },
    "guests": {
        "ceph-1": {"host": "alpha", "networks": ["storage"], "kind": "namespace"},
        "ceph-2": {"host": "beta", "networks": ["storage"], "kind": "namespace"},
        "web-1": {"host": "alpha", "networks": ["public"], "kind": "namespace"},
        "web-2": {"host": "beta", "networks": ["public"], "kind": "namespace"},
    },
}
FRAMES = 200
# Started within 10 s of the boot, Open vSwitch 3.1 counts no CPU (its log: "Overriding
# n-handler-threads to 0"); when it then finds one, it hears nothing of the bridges of before.
AWAKE = "until [ $(cut -d. -f1 /proc/uptime) -gt 10 ]; do sleep 0.1; done"
OVS = "/usr/share/openvswitch/scripts/ovs-ctl start --system-id=random --no-record-hostname"
START = f"{AWAKE}; {OVS}"
USER = """\
ovs-vsctl add-br br-user -- add-port br-user user0 -- set Interface user0 type=internal
ovs-vsctl set Port user0 external_ids:owner=somebody tag=7
ovs-ofctl add-flow br-user priority=7,in_port=user0,actions=drop
"""
SLEEPS = """\
ovs-vsctl set Open_vSwitch . other_config:pmd-maxsleep=500 other_config:pmd-sleep-max=500
"""
"""A user's own setting: a polling core that finds nothing to do sleeps for up to 500 us. Without it
the cores of two hosts take both CPUs of a small machine. 3.1's name, and that since 3.2."""
USER_ROWS = 5
"""Bridge, its own port and user0, each port with its interface."""
COUNTED = {"statistics", "cur_cfg", "next_cfg"}
"""Columns of the database that count up."""
CAPTURE_TIMEOUT_S = 180
"""An emulated host on a busy machine takes its time."""
HEADERS_BYTES = 28
"""IPv4 and ICMP: what `ping -s` leaves out."""


Database = dict[str, list[dict[str, str]]]
"""Rows by table, each cell as it is printed."""
Users = tuple[list[dict[str, str]], str]
"""Rows and flows."""


def written_spec(lab: Machines, approach: str, path: Path) -> Path:
    """Write the story's spec for an approach."""
    hosts = {n: {"reach": f"ssh://{lab.hosts[n].state.destination}", "ports": PORTS} for n in HOSTS}
    # JSON is YAML too.
    path.write_text(json.dumps({"approach": approach, "hosts": hosts, **STORY}))
    return path


def sh(lab: Machines, host: str, script: str) -> str:
    done = lab.hosts[host].run(["sh", "-ec", script])
    assert done.returncode == 0, f"{script}\n{done.output}\n{done.errors}"
    return done.output


def standing(lab: Machines, hosts: Sequence[str]) -> dict[str, Values]:
    """All that is set on every host, by a fresh capture."""
    places = [lab.hosts[name].state.destination for name in hosts]
    found = {}
    for gathered in gather([Remote(p, p) for p in places], timeout_s=CAPTURE_TIMEOUT_S):
        assert isinstance(gathered, Gathered), gathered
        assert gathered.facts.capture.complete, "cut off: there is nothing to compare"
        found[gathered.destination.text] = values_of(gathered.facts)
    assert len(found) == len(hosts)
    return found


def database(lab: Machines, host: str) -> Database:
    """Every table with every row, but what counts up; each cell as it is printed."""
    found: Database = {}
    for line in sh(lab, host, "ovsdb-client --format=json dump Open_vSwitch").splitlines():
        if line:
            table = json.loads(line)
            found[table["caption"]] = sorted(
                (
                    {
                        heading: json.dumps(cell)
                        for heading, cell in zip(table["headings"], row, strict=True)
                        if heading not in COUNTED
                    }
                    for row in table["data"]
                ),
                key=str,
            )
    assert len(found) > 3
    return found


def users(lab: Machines, host: str) -> Users:
    """What the user has: rows of bridge, ports and interfaces, and flows."""
    rows = [
        row
        for rows in database(lab, host).values()
        for row in rows
        if row.get("name") in ('"br-user"', '"user0"')
    ]
    flows = sh(lab, host, "ovs-ofctl dump-flows --no-stats br-user")
    assert len(rows) == USER_ROWS and "priority=7" in flows
    return rows, flows


def ping(guest: Endpoint, address: object, *, mtu: int, count: int = 3) -> str:
    """Packets of exactly so many bytes, which nobody may cut into pieces."""
    size = str(mtu - HEADERS_BYTES)
    argv = ("ping", "-n", "-M", "do", "-s", size, "-c", str(count), "-W", "2", str(address))
    done = guest.runner.run(argv, timeout_s=60)
    return done.output + done.errors


def assert_talk(one: Endpoint, other: Endpoint, network: str) -> None:
    mtu, address = one.attachments[network].mtu, other.attachments[network].address
    deadline = Deadline(60)
    while " 0% packet loss" not in (said := ping(one, address, mtu=mtu, count=1)):
        assert not deadline.expired, said
        sleep_s(0.5)
    assert f"message too long, mtu={mtu}" in ping(one, address, mtu=mtu + 1, count=1)


def assert_apart(one: Endpoint, other: Endpoint, network: str) -> None:
    """With an address of the other's own subnet."""
    address = other.attachments[network].address
    forced = ("192.168.10.201/24", "dev", next(iter(one.attachments.values())).netdev)
    assert one.runner.run(("ip", "addr", "add", *forced)).returncode == 0
    try:
        assert "100% packet loss" in ping(one, address, mtu=100, count=2)
    finally:
        assert one.runner.run(("ip", "addr", "del", *forced)).returncode == 0


def forged(
    spec: Spec, guests: dict[str, Endpoint], hosts: dict[str, Runner]
) -> list[IsolationTrial]:
    recorded: list[NetworkTrial] = []
    ends = host_ends(spec, hosts)
    isolation(guests, hosts, IsolationSpec(frames=FRAMES), recorded.append, underlay=ends)
    return [trial for trial in recorded if isinstance(trial, IsolationTrial)]


def leaked(trials: list[IsolationTrial]) -> set[tuple[str, str, ForgedKind]]:
    return {(t.sender, t.receiver, t.forged) for t in trials if t.verdict == "leaked"}


def assert_fails_over(guests: dict[str, Endpoint], hosts: dict[str, Runner]) -> None:
    alpha = hosts["alpha"]
    bonds = {"alpha": HostBond(alpha, "underlay0", NETDEVS)}
    switches = [
        port_set_down(alpha, host="alpha", port=port, number=n, netdev=NETDEVS[n], carried={})
        for n, port in enumerate(PORTS)
    ]
    recorded: list[NetworkTrial] = []
    failovers(
        guests, FailoverSpec(load_pps=50, seconds=3), PAIR, switches, recorded.append, bonds=bonds
    )
    trials = [trial for trial in recorded if isinstance(trial, FailoverTrial)]
    # A busy machine makes some invalid; the port that does not carry it is not touched.
    assert {trial.verdict for trial in trials} <= {"survived", "not touched", "invalid"}, trials
    survived = [trial for trial in trials if trial.verdict == "survived"]
    assert survived, trials
    for trial in survived:
        number = PORTS.index(trial.port)
        assert trial.carried_before == NETDEVS[number]
        assert trial.carried_during == NETDEVS[1 - number]
        assert trial.received_packets + trial.lost_packets == trial.offered_packets


def assert_nothing_leaks(trials: list[IsolationTrial]) -> None:
    """Every way between two tenants, over the wire and within a host."""
    ways = {(trial.sender, trial.receiver) for trial in trials}
    tenants = (("ceph-1", "ceph-2"), ("web-1", "web-2"))
    assert ways == {
        pair for one in tenants[0] for other in tenants[1] for pair in ((one, other), (other, one))
    }
    assert len(trials) == len(ways) * len(ForgedKind)
    for trial in trials:
        assert trial.verdict is IsolationVerdict.APART, trial
        assert trial.sent == FRAMES
        assert trial.heard_control > 0
