"""The whole legacy VLAN story by one command: from hosts badly set to a page, and back to as found.

The page's facts are held against the hosts' own words, read by other means before and after.
"""

import json
import os
import signal
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest
from program import start, wirespeed

from wirespeed.apply.run_place import run_folder
from wirespeed.host.clock import Deadline, sleep_s
from wirespeed.lab.machine_spec import LabSpec, MachineSpec
from wirespeed.lab.machines import Machine, Machines
from wirespeed.model.network_trial import FailoverVerdict, IsolationVerdict
from wirespeed.model.proof import Stage
from wirespeed.runs.prove_folder import read_proof

pytestmark = [pytest.mark.machines, pytest.mark.rare, pytest.mark.timeout(900)]
HOSTS = ("alpha", "beta")
PORTS = ("0000:01:00.0", "0000:02:00.0")
NETDEVS = ("enp1s0", "enp2s0")
STORY = {
    "approach": "legacy-vlan",
    "failover": "active-backup",
    "underlay": {"subnet": "192.168.9.0/24", "mtu": 9080},
    "networks": {
        "storage": {"segment": 42, "subnet": "192.168.10.0/24", "mtu": 9000},
        "public": {"segment": 40, "subnet": "192.168.20.0/24", "mtu": 1500},
    },
    "guests": {
        "ceph-1": {"host": "alpha", "networks": ["storage"], "kind": "namespace"},
        "gpu-1": {"host": "beta", "networks": ["storage"], "kind": "namespace"},
        "tv-1": {"host": "beta", "networks": ["public"], "kind": "namespace"},
    },
    "measure": {
        "iperf3": {"mtu": [9000], "streams": [2], "runs": 1, "seconds": 1},
        "ping": {"count": 50, "warmup": 1, "runs": 3},
        "failover": {"load_pps": 100, "seconds": 5},
        "isolation": {"frames": 200},
    },
}
BADLY = """
set -e
ip link set dev enp2s0 mtu 1400
ethtool -L enp1s0 combined 1
sysctl -q -w net.ipv4.tcp_moderate_rcvbuf=0
"""
OWN_WORDS = """
for port in enp1s0 enp2s0; do
    cat /sys/class/net/$port/mtu /sys/class/net/$port/device/sriov_numvfs
    ethtool -l $port
    ip -d link show dev $port | sed 's/state [A-Z]*//; s/,LOWER_UP//; s/NO-CARRIER,//'
done
ip netns list
ip link show type bond
lspci | grep -c Virtual
ls /sys/module | grep -x bonding
sysctl net.ipv4.tcp_moderate_rcvbuf
ls /run/wirespeed* /etc/sysctl.d
"""
"""What the host says of itself, by none of our own readers. Drivers that the kernel loaded for the
VFs by itself (igbvf) stay, as they would after `echo 0`."""


@pytest.fixture(scope="module")
def lab() -> Iterator[Machines]:
    hosts = tuple(MachineSpec(name=name, cpus=2) for name in HOSTS)
    name = f"test-{os.getpid()}-prove"
    with Machines(LabSpec(hosts=hosts, wiring="switch"), name=name) as lab:
        yield lab


def sh(host: Machine, script: str) -> str:
    done = host.run(["sh", "-c", script])
    return done.output


def links_are_up(host: Machine) -> None:
    deadline = Deadline(60)
    carriers = " ".join(f"/sys/class/net/{netdev}/carrier" for netdev in NETDEVS)
    while sh(host, f"cat {carriers}").split() != ["1", "1"]:
        assert not deadline.expired
        sleep_s(0.5)


def spec_in(folder: Path, lab: Machines) -> Path:
    path = folder / "spec.yaml"
    hosts = {n: {"reach": f"ssh://{lab.hosts[n].state.destination}", "ports": PORTS} for n in HOSTS}
    path.write_text(json.dumps({"hosts": hosts, **STORY}))
    return path


class Text(HTMLParser):
    """What a reader sees."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.text = ""
        self.feed(html)

    def handle_data(self, data: str) -> None:
        self.text += f"{data} "


def test_legacy_prove_from_badly_set_to_a_page_and_back(lab: Machines, tmp_path: Path):
    for host in lab.hosts.values():
        assert host.run(["sh", "-c", BADLY]).returncode == 0
        links_are_up(host)
    before = {name: sh(host, OWN_WORDS) for name, host in lab.hosts.items()}
    assert "1400\n0\n" in before["alpha"]

    spec = spec_in(tmp_path, lab)
    done = wirespeed("prove", str(spec), "--yes", timeout_s=800)
    folder = run_folder(spec)
    said = done.stdout[-3000:] + done.stderr[-3000:]
    assert done.returncode in (0, 1), said
    proof = read_proof(folder)

    # As found: what was set badly, and what is missing, was found; and it is named on the page.
    page = " ".join(Text((tmp_path / "spec.yaml.report/report.html").read_text()).text.split())
    assert "sriov.no_vfs" in page
    assert "tcp.autotuning_off" in page
    # Planned, done, verified.
    assert [end.outcome for end in proof.stages] == ["done"] * len(Stage), said
    assert proof.drift is not None
    assert proof.drift.is_equal
    assert "mtu 1400 → mtu 9080" in page
    assert "combined 1 → combined 2" in page
    # Measured: traffic, round trips.
    (cell,) = proof.summary.iperf3
    assert cell.bps is not None, cell.failed
    assert cell.bps.n == 2
    (ping,) = proof.summary.pings
    assert ping.mean_us is not None, ping.failed
    # Port 0 is pulled: the flow goes on over the other port, and after it is back. On a machine
    # that is busy with other things the sender may falter, which is nobody's loss.
    verdicts = {trial.verdict for trial in proof.summary.failovers}
    assert {trial.port for trial in proof.summary.failovers} == set(PORTS)
    assert FailoverVerdict.LOST not in verdicts
    assert verdicts & {FailoverVerdict.SURVIVED, FailoverVerdict.INVALID}
    # Tenants: nothing leaks, in 200 frames of each kind at least; spoofing is told of.
    apart = [t for t in proof.isolation if t.sender_network != t.receiver_network]
    assert len({(t.sender, t.receiver) for t in apart}) == 4
    assert all(t.arrived == 0 for t in apart), page[-3000:]
    shown = [t for t in apart if t.verdict is IsolationVerdict.APART and t.sent >= 200]
    assert {t.forged for t in shown} == {t.forged for t in apart}, page[-3000:]
    unknown = {t.verdict for t in apart} - {IsolationVerdict.APART}
    assert unknown <= {IsolationVerdict.NOT_SHOWN}
    assert "not enforced by this card" in page
    # Undone: by our own comparison, and by the host's own words.
    assert proof.undone is not None
    assert proof.undone.is_equal, proof.undone.differences
    for host in lab.hosts.values():
        links_are_up(host)
    for name, host in lab.hosts.items():
        assert sh(host, OWN_WORDS).splitlines() == before[name].splitlines()
    # The exit code is the page's own answer.
    assert ("Not proven" in page) == (done.returncode == 1)
    if verdicts == {FailoverVerdict.SURVIVED} and not unknown:
        assert done.returncode == 0, said

    # The page is made again from the folder alone, with no host to ask.
    page_file = tmp_path / "spec.yaml.report/report.html"
    page_before = page_file.read_text()
    page_file.unlink()
    assert wirespeed("report", str(spec)).returncode == 0
    assert page_file.read_text() == page_before


def test_legacy_prove_that_is_stopped_in_its_midst_takes_all_back(lab: Machines, tmp_path: Path):
    before = {name: sh(host, OWN_WORDS) for name, host in lab.hosts.items()}
    spec = spec_in(tmp_path, lab)
    story = json.loads(spec.read_text())
    del story["guests"]["tv-1"]
    spec.write_text(json.dumps(story))
    stages = run_folder(spec) / "stages.jsonl"
    process = start("prove", str(spec), "--yes")
    deadline = Deadline(600)
    while not stages.exists() or '"stage":"verify"' not in stages.read_text():
        assert process.poll() is None and not deadline.expired
        sleep_s(0.1)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 130, errors
    proof = read_proof(stages.parent)
    ended = {end.stage: (end.outcome, end.error) for end in proof.stages}
    assert ended[Stage.MEASURE] == ("failed", "interrupted")
    assert ended[Stage.UNDO] == ("done", "")
    assert proof.undone is not None
    assert proof.undone.is_equal, proof.undone.differences
    page = (tmp_path / "spec.yaml.report/report.html").read_text()
    assert "Not proven: measure failed" in page
    for host in lab.hosts.values():
        links_are_up(host)
    for name, host in lab.hosts.items():
        assert sh(host, OWN_WORDS).splitlines() == before[name].splitlines()


def test_hosts_without_guests_are_tuned_measured_and_back(lab: Machines, tmp_path: Path):
    before = {name: sh(host, OWN_WORDS) for name, host in lab.hosts.items()}
    spec = spec_in(tmp_path, lab)
    hosts = json.loads(spec.read_text())["hosts"]
    only = {name: {**host, "ports": [PORTS[0]]} for name, host in hosts.items()}
    wanted = {
        "hosts": only,
        "approach": "none",
        # After a port's MTU was changed back and forth, QEMU's igb may lose what is above 1500.
        "underlay": {"subnet": "192.168.9.0/24", "mtu": 1500, "vlan": 40},
        "tuning": {"rings": "largest", "pause": False},
        "measure": {
            "iperf3": {"mtu": [1500, 9000], "streams": [1, 2], "runs": 1, "seconds": 1},
            "ping": {"count": 50, "warmup": 1, "runs": 1},
        },
    }
    spec.write_text(json.dumps(wanted))
    done = wirespeed("prove", str(spec), "--yes", timeout_s=400)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    proof = read_proof(run_folder(spec))
    assert [end.outcome for end in proof.stages] == ["done"] * len(Stage)
    assert {(c.mtu, c.streams): c.bps.n for c in proof.summary.iperf3 if c.bps} == {
        (1500, 1): 2, (1500, 2): 2,
    }  # fmt: skip
    (ping,) = proof.summary.pings
    assert ping.pair.client == "alpha" and ping.pair.server == "beta" and ping.mean_us is not None
    page = " ".join(Text((tmp_path / "spec.yaml.report/report.html").read_text()).text.split())
    assert "rx 256, tx 256 → rx 4096, tx 4096" in page
    assert "ip link add link enp1s0 name enp1s0.40 type vlan id 40" in page
    assert "sriov.no_vfs" not in page
    for name, host in lab.hosts.items():
        links_are_up(host)
        assert sh(host, OWN_WORDS).splitlines() == before[name].splitlines()
