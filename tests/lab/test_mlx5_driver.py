"""The real mlx5_core on modelled cards: probed, read, set, put back, and carrying frames."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from mlx5_host import PORTS, Run, counters, facts_of, mlx5_lab, refused, sh
from program import wirespeed

from wirespeed.doctor.host_state import differences, values_of
from wirespeed.lab.machines import Machines
from wirespeed.model.step import Step
from wirespeed.steps.channels import Channels
from wirespeed.steps.coalescing import Coalescing
from wirespeed.steps.fec import Fec
from wirespeed.steps.link_mode import LinkMode
from wirespeed.steps.mtu import Mtu
from wirespeed.steps.pause import Pause
from wirespeed.steps.rings import Rings

pytestmark = [pytest.mark.machines, pytest.mark.rare, pytest.mark.timeout(900)]
NETDEV = "enp1s0f0"
STEPS: tuple[Step, ...] = (
    Channels(netdev=NETDEV, combined=1),
    Rings(netdev=NETDEV, rx=4096, tx=512),
    Coalescing(netdev=NETDEV, adaptive_rx=False, adaptive_tx=False, rx_usecs=30, rx_frames=64),
    Pause(netdev=NETDEV, autoneg=False, rx=False, tx=False),
    Mtu(netdev=NETDEV, mtu=9000),
    Fec(netdev=NETDEV, encoding="off"),
    LinkMode(netdev=NETDEV, autoneg=False, link_mbit_per_s=25000, duplex="full"),
)
OWN_WORDS = f"""
ethtool -l {NETDEV}; ethtool -g {NETDEV}; ethtool -c {NETDEV}; ethtool -a {NETDEV}
ethtool --show-fec {NETDEV}; ethtool {NETDEV}; ethtool -k {NETDEV}; ethtool -x {NETDEV}
cat /sys/class/net/{NETDEV}/mtu
"""


@pytest.fixture(scope="module")
def lab() -> Iterator[Machines]:
    with mlx5_lab(f"test-{os.getpid()}-mlx5", "alpha", "beta") as lab:
        yield lab


def test_mlx5_the_driver_probes_both_ports_and_the_doctor_reads_them(lab: Machines):
    alpha = lab.hosts["alpha"]
    for port in PORTS:
        driver = sh(alpha, f"basename $(readlink -f /sys/bus/pci/devices/{port}/driver)")
        assert driver == "mlx5_core"
    # What the model says of itself, by the driver's words: its firmware, a cable of 100 Gb/s.
    assert "firmware-version: 16.35.4030 (WSP_MODEL_00001)" in sh(alpha, f"ethtool -i {NETDEV}")
    assert "Speed: 100000Mb/s" in sh(alpha, f"ethtool {NETDEV}")
    assert "100G Base-CR4" in sh(alpha, f"ethtool -m {NETDEV}")

    # From a lab of its own folder, as a user's.
    read = wirespeed("doctor", f"{alpha.state.destination}")
    assert read.returncode == 0, read.stdout + read.stderr
    assert "enp1s0f0: mlx5_core, 15b3:1017, at 0000:01:00.0, 100 Gb/s" in read.stdout
    assert refused(lab, "alpha") == ""


def test_mlx5_steps_are_applied_and_undone_and_the_host_is_as_found(lab: Machines):
    alpha = lab.hosts["alpha"]
    found, before = facts_of(alpha), sh(alpha, OWN_WORDS)
    run = Run(alpha, STEPS)
    assert not [step for step in run.plan.steps if step.no_op]
    run.executor().apply()
    assert "Speed: 25000Mb/s" in sh(alpha, f"ethtool {NETDEV}")
    assert "Active FEC encoding: Off" in sh(alpha, f"ethtool --show-fec {NETDEV}")
    assert sh(alpha, f"ethtool -g {NETDEV} | awk '/^RX:/ {{ print $2 }}' | tail -1") == "4096"
    run.executor().undo()
    assert sh(alpha, OWN_WORDS) == before
    assert not differences("alpha", values_of(found), values_of(facts_of(alpha)))
    assert refused(lab, "alpha") == ""


def test_mlx5_a_spec_is_applied_frames_pass_and_are_counted_and_it_is_undone(
    lab: Machines, tmp_path: Path
):
    alpha, beta = lab.hosts["alpha"], lab.hosts["beta"]
    before = {name: sh(host, OWN_WORDS) for name, host in lab.hosts.items()}
    spec = tmp_path / "spec.yaml"
    story = {
        "hosts": {
            name: {"reach": f"ssh://{host.state.destination}", "ports": PORTS[:1]}
            for name, host in lab.hosts.items()
        },
        "approach": "none",
        "underlay": {"subnet": "192.168.9.0/24", "mtu": 9000},
    }
    spec.write_text(json.dumps(story))
    applied = wirespeed("apply", str(spec), "--yes")
    assert applied.returncode == 0, applied.stdout + applied.stderr

    sent, arrived = counters(alpha, NETDEV), counters(beta, NETDEV)
    # Of 8972 + 28 bytes: no frame of a smaller MTU carries one.
    assert "20 received" in sh(alpha, "ping -c 20 -i 0.02 -M do -s 8972 192.168.9.2")
    assert counters(alpha, NETDEV)["tx_packets_phy"] - sent["tx_packets_phy"] >= 20
    large = "rx_8192_to_10239_bytes_phy"
    assert counters(beta, NETDEV)[large] - arrived[large] == 20

    # TCP: segmented by the sending card, checked by the receiving one.
    sh(beta, "iperf3 -s -1 -D")
    done = json.loads(sh(alpha, "iperf3 -c 192.168.9.2 -t 3 -J"))
    # Hundreds of megabytes on an idle machine: what is on its way at the end is small beside it.
    assert done["end"]["sum_received"]["bytes"] >= 1 << 20
    assert counters(alpha, NETDEV)["tx_tso_packets"] > sent["tx_tso_packets"]
    assert counters(beta, NETDEV)["rx_csum_complete"] > arrived["rx_csum_complete"]
    wrong = "awk '/^Tcp:/ { last = $NF } END { print last }' /proc/net/snmp"
    assert sh(beta, wrong) == "0", "InCsumErrors"

    undone = wirespeed("undo", str(spec))
    assert undone.returncode == 0, undone.stdout + undone.stderr
    assert {name: sh(host, OWN_WORDS) for name, host in lab.hosts.items()} == before


def test_mlx5_remedy_applies_what_the_doctor_found_and_undo_takes_it_back(
    lab: Machines, tmp_path: Path
):
    alpha, run = lab.hosts["alpha"], tmp_path / "run"
    setting = f"ethtool -k {NETDEV} | grep '^tcp-segmentation-offload'"
    sh(alpha, f"ethtool -K {NETDEV} tso off")
    where = f"ssh://{alpha.state.destination}"
    own = ("--of", "offloads.segmentation_off", "--run", str(run))
    planned = wirespeed("remedy", where, *own)
    assert planned.returncode == 1 and sh(alpha, setting).endswith(": off"), planned.stdout
    done = wirespeed("remedy", where, *own, "--apply", "--yes")
    assert done.returncode == 0, done.stdout + done.stderr
    assert sh(alpha, setting).endswith(": on")
    undone = wirespeed("undo", str(run))
    assert undone.returncode == 0 and sh(alpha, setting).endswith(": off"), undone.stderr
    sh(alpha, f"ethtool -K {NETDEV} tso on")
    assert refused(lab, "alpha") == ""
