"""RFC 2544 between two hosts: tester and forwarder on PCI ports by vfio-pci, from one spec.

The hosts' own words, read by other means, are compared before and after.
"""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from program import start, wirespeed

from wirespeed.apply.run_place import run_folder
from wirespeed.host.clock import Deadline, sleep_s
from wirespeed.lab.machine_spec import LabSpec, MachineSpec
from wirespeed.lab.machines import Machine, Machines
from wirespeed.measure.bench.run_folder import TRIALS
from wirespeed.model.proof import Stage
from wirespeed.model.trial import Outcome, Setup, Trial
from wirespeed.runs.prove_folder import read_proof

pytestmark = [pytest.mark.polls, pytest.mark.machines, pytest.mark.rare, pytest.mark.timeout(900)]
PORTS = ("0000:01:00.0", "0000:02:00.0")
MOST_PPS = 1000
STORY = {
    "approach": "dpdk",
    "dpdk": {
        "forwarder": "testpmd-io",
        "memory_mib": 256,
        "hugepages": {"page_kib": 2048, "count": 160},
        "rx_descriptors": 512,
        "tx_descriptors": 512,
    },
    "measure": {
        "rfc2544": {
            "frame_bytes": [64],
            "flows": 64,
            "seconds": 1,
            "max_load_pps": MOST_PPS,
            # QEMU stands still for 10 to 40 % of a trial.
            "gap_limit_ms": 1000,
            "stalled_share": 1,
        }
    },
}
OWN_WORDS = """
for port in 0000:01:00.0 0000:02:00.0; do
    basename $(readlink -f /sys/bus/pci/devices/$port/driver)
    cat /sys/bus/pci/devices/$port/driver_override
    ls /sys/bus/pci/devices/$port/net
done
cat /proc/sys/vm/nr_hugepages
ls /sys/module | grep vfio
ls -d /run/wirespeed*
"""
RUNNING = "ls /proc/[0-9]*/exe -l 2>/dev/null | grep -E 'testpmd|wirespeed-tester' | wc -l"


@pytest.fixture(scope="module")
def lab() -> Iterator[Machines]:
    hosts = tuple(MachineSpec(name=name, memory_mib=1024) for name in ("alpha", "beta"))
    with Machines(LabSpec(hosts=hosts), name=f"test-{os.getpid()}-pci") as lab:
        yield lab


def sh(host: Machine, script: str) -> str:
    return host.run(["sh", "-c", script]).output


def running(host: Machine) -> int:
    return int(sh(host, RUNNING))


def spec_in(folder: Path, lab: Machines) -> Path:
    roles = {"alpha": "tester", "beta": "dut"}
    hosts = {
        name: {
            "reach": f"ssh://{lab.hosts[name].state.destination}",
            "role": role,
            "cores": "0",
            "ports": PORTS,
        }
        for name, role in roles.items()
    }
    path = folder / "spec.yaml"
    path.write_text(json.dumps({"hosts": hosts, **STORY}))
    return path


def await_trial(trials: Path, process: "subprocess.Popen[str]") -> None:
    deadline = Deadline(300)
    while not trials.exists() or '"kind":"trial"' not in trials.read_text():
        assert process.poll() is None, process.communicate()[1]
        assert not deadline.expired
        sleep_s(0.2)


def test_pci_one_spec_goes_from_doctor_to_undo_with_exact_counts(lab: Machines, tmp_path: Path):
    before = {name: sh(host, OWN_WORDS) for name, host in lab.hosts.items()}
    assert before["beta"].startswith("igb\n(null)\nenp1s0\nigb\n(null)\nenp2s0\n0\n")
    spec = spec_in(tmp_path, lab)
    done = wirespeed("prove", str(spec), "--yes", timeout_s=800)
    said = done.stdout[-3000:] + done.stderr[-3000:]
    proof = read_proof(run_folder(spec))
    assert [end.outcome for end in proof.stages] == ["done"] * len(Stage), said
    assert done.returncode == 0, said

    trials = [one for one in proof.bench if isinstance(one, Trial) and one.valid]
    confirmed = trials[-1]
    assert confirmed.offered_frames == MOST_PPS
    assert confirmed.missing_frames == 0
    # The forwarder's two ports on the other host, and the tester's own, all say the same.
    reading = confirmed.dut_reading
    assert reading is not None and reading.far
    assert [(p.ipackets, p.opackets) for p in reading.ports] == [(MOST_PPS, 0), (0, MOST_PPS)]
    assert [(p.opackets, p.ipackets) for p in confirmed.tester_ports] == [
        (MOST_PPS, 0), (0, MOST_PPS),
    ]  # fmt: skip
    assert reading.busy_cycles_per_packet is not None
    (outcome,) = (one for one in proof.bench if isinstance(one, Outcome))
    assert outcome.throughput_pps is not None
    assert outcome.ledger.unexplained_frames == 0
    (setup,) = (one for one in proof.bench if isinstance(one, Setup))
    assert "loosened" in setup.settings["bounds of the tester"]
    page = (tmp_path / "spec.yaml.report/report.html").read_text()
    assert "net_e1000_igb" in page
    assert "away for 1000 ms at once" in page

    assert proof.undone is not None
    assert proof.undone.is_equal, proof.undone.differences
    assert {name: sh(host, OWN_WORDS) for name, host in lab.hosts.items()} == before
    assert [running(host) for host in lab.hosts.values()] == [0, 0]


def test_pci_a_forwarder_that_is_killed_leaves_nothing_bound_or_running(
    lab: Machines, tmp_path: Path
):
    before = {name: sh(host, OWN_WORDS) for name, host in lab.hosts.items()}
    spec = spec_in(tmp_path, lab)
    story = json.loads(spec.read_text())
    story["measure"]["rfc2544"]["frame_bytes"] = [64, 128]
    story["measure"]["rfc2544"] |= {"recoveries": 1, "overload_seconds": 1}
    spec.write_text(json.dumps(story))
    process = start("prove", str(spec), "--yes")
    await_trial(run_folder(spec) / TRIALS, process)
    assert sh(lab.hosts["beta"], "kill -KILL $(pidof dpdk-testpmd) && echo killed") == "killed\n"
    _, errors = process.communicate(timeout=400)
    assert process.returncode == 1, errors
    proof = read_proof(run_folder(spec))
    ended = {end.stage: (end.outcome, end.error) for end in proof.stages}
    assert ended[Stage.MEASURE][0] == "failed"
    assert ended[Stage.MEASURE][1].startswith(("dut.", "telemetry.")), errors
    assert ended[Stage.UNDO] == ("done", "")
    made = [one for one in proof.bench if isinstance(one, Trial)]
    assert made
    assert {name: sh(host, OWN_WORDS) for name, host in lab.hosts.items()} == before
    assert [running(host) for host in lab.hosts.values()] == [0, 0]

    done = wirespeed("prove", str(spec), "--yes", "--resume", timeout_s=400)
    assert done.returncode == 0, done.stderr[-2000:]
    again = read_proof(run_folder(spec))
    trials = [one for one in again.bench if isinstance(one, Trial)]
    assert trials[: len(made)] == made, "no trial is lost, and none is made again"
    assert [one.number for one in trials] == list(range(1, len(trials) + 1))
    assert {one.mix.label for one in again.bench if isinstance(one, Outcome)} == {"64", "128"}
    assert [t.mix.label for t in trials if t.recovery is not None] == ["64", "128"]
    assert {name: sh(host, OWN_WORDS) for name, host in lab.hosts.items()} == before


def test_pci_without_a_spec_programs_end_with_a_controller_that_is_killed_and_undo_puts_back(
    lab: Machines, tmp_path: Path
):
    """--dut-on makes the spec, keeps it, and goes the same way: by it, undo puts all back."""
    before = {name: sh(host, OWN_WORDS) for name, host in lab.hosts.items()}
    gen, fwd = (f"ssh://{lab.hosts[name].state.destination}" for name in ("alpha", "beta"))
    ports = [word for port in PORTS for word in ("--port", port)]
    held = ["--cores", "0", "--dut-cores", "0", "--memory-mib", "256"]
    loose = ["--gap-limit-ms", "1000", "--stalled-share", "1", "--max-load", str(MOST_PPS)]
    size = ["--frame-bytes", "64", "--flows", "64", "--confirm-seconds", "1"]
    out = tmp_path / "out"
    process = start(
        "measure", "rfc2544", "--dut-on", fwd, "--tester-on", gen, "--dut", "testpmd-io",
        *ports, *held, *loose, *size, "--out", str(out), "--yes",
    )  # fmt: skip
    spec = out / "spec.yaml"
    deadline = Deadline(300)
    while not spec.exists():
        assert process.poll() is None, process.communicate()[1]
        assert not deadline.expired
        sleep_s(0.2)
    await_trial(run_folder(spec) / TRIALS, process)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=30)
    deadline = Deadline(60)
    while any(running(host) for host in lab.hosts.values()):
        assert not deadline.expired
        sleep_s(0.5)
    assert "vfio-pci" in sh(lab.hosts["beta"], OWN_WORDS)
    done = wirespeed("undo", str(spec), timeout_s=200)
    assert done.returncode == 0, done.stderr[-2000:]
    assert {name: sh(host, OWN_WORDS) for name, host in lab.hosts.items()} == before
