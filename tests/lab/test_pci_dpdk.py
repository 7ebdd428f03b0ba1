"""RFC 2544 between two hosts: tester and forwarder on PCI ports by vfio-pci, from one spec.

The hosts' own words, read by other means, are compared before and after.
"""

import json
import os
import signal
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from cable_tap import CableTap, cliff
from program import start, wirespeed

from wirespeed.apply.run_place import run_folder
from wirespeed.approaches.dpdk_vfs import vf_mac
from wirespeed.host.clock import Deadline, sleep_s
from wirespeed.host.local import LocalRunner
from wirespeed.host.send_files import send_files
from wirespeed.lab.machine_spec import LabSpec, MachineSpec
from wirespeed.lab.machines import Machine, Machines
from wirespeed.measure.bench.run_folder import TRIALS
from wirespeed.measure.search.ledger import build_ledger
from wirespeed.model.proof import Stage
from wirespeed.model.trial import Outcome, Setup, Trial
from wirespeed.report.proof_page import Proof
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
            "flows": 64,
            "seconds": 1,
            "width": 0.05,
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
cat /sys/bus/pci/devices/0000:0[12]:00.0/sriov_numvfs
ls /sys/bus/pci/devices
cat /sys/class/net/*/flags
ls /sys/module | grep vfio
ls -d /run/wirespeed*
"""
PROGRAMS = "testpmd|wirespeed-tester|dropping"
FORWARDER = Path(__file__).parent / "dropping_forwarder.c"
RUNNING = f"ls /proc/[0-9]*/exe -l 2>/dev/null | grep -E '{PROGRAMS}' | wc -l"
DROPPED, NUMBER, FLOWS = 5, 14, 64
"""Of a trial of more than 14 x 64 frames, the frames number 14 of the first 5 of 64 flows: none of
a slower one."""


@pytest.fixture(scope="module")
def lab() -> Iterator[Machines]:
    hosts = tuple(MachineSpec(name=name, memory_mib=1024) for name in ("alpha", "beta"))
    with Machines(LabSpec(hosts=hosts), name=f"test-{os.getpid()}-pci") as lab:
        yield lab


def sh(host: Machine, script: str) -> str:
    return host.run(["sh", "-c", script]).output


def running(host: Machine) -> int:
    return int(sh(host, RUNNING))


def spec_in(
    folder: Path, lab: Machines, *, frame_bytes: Sequence[int] = (64,), use_vfs: bool = False
) -> Path:
    roles = {"alpha": "tester", "beta": "dut"}
    hosts = {
        name: {
            "reach": f"ssh://{lab.hosts[name].state.destination}",
            "role": role,
            "cores": "0",
            "ports": PORTS,
            "use_vfs": use_vfs,
        }
        for name, role in roles.items()
    }
    path = folder / "spec.yaml"
    story = json.loads(json.dumps({"hosts": hosts, **STORY}))
    story["measure"]["rfc2544"]["frame_bytes"] = frame_bytes
    path.write_text(json.dumps(story))
    return path


def built_forwarder(folder: Path) -> Path:
    """Build the forwarder that drops known frames, with DPDK's headers of this machine."""
    made = folder / "dropping"
    here = LocalRunner()
    asked = here.run(["pkg-config", "--cflags", "--libs", "libdpdk"])
    assert asked.returncode == 0, asked.errors
    # Of its libraries only those that it needs: the lab's hosts do not have all.
    argv = ["cc", "-O2", "-o", str(made), str(FORWARDER), "-Wl,--as-needed", *asked.output.split()]
    compiled = here.run(argv)
    assert compiled.returncode == 0, compiled.errors
    return made


def await_trial(trials: Path, process: "subprocess.Popen[str]") -> None:
    deadline = Deadline(300)
    while not trials.exists() or '"kind":"trial"' not in trials.read_text():
        assert process.poll() is None, process.communicate()[1]
        assert not deadline.expired
        sleep_s(0.2)


def proven(lab: Machines, spec: Path) -> Proof:
    """Prove a spec: every stage is done, and both hosts are then as they were."""
    before = {name: sh(host, OWN_WORDS) for name, host in lab.hosts.items()}
    assert before["beta"].startswith("igb\n(null)\nenp1s0\nigb\n(null)\nenp2s0\n0\n0\n0\n")
    done = wirespeed("prove", str(spec), "--yes", timeout_s=800)
    said = done.stdout[-3000:] + done.stderr[-3000:]
    proof = read_proof(run_folder(spec))
    assert [end.outcome for end in proof.stages] == ["done"] * len(Stage), said
    assert done.returncode == 0, said
    assert proof.undone is not None
    assert proof.undone.is_equal, proof.undone.differences
    assert {name: sh(host, OWN_WORDS) for name, host in lab.hosts.items()} == before
    assert [running(host) for host in lab.hosts.values()] == [0, 0]
    return proof


def trials_of(proof: Proof, size: int) -> list[Trial]:
    """Give the trials of one size of frames that are not void."""
    trials = [one for one in proof.bench if isinstance(one, Trial) and one.valid]
    return [one for one in trials if one.mix.label == str(size)]


def require_exact(proof: Proof, size: int) -> Trial:
    """Hold a trial without loss to what the forwarder's two ports and the tester's own counted."""
    trial = [one for one in trials_of(proof, size) if not one.missing_frames][-1]
    sent, reading = trial.offered_frames, trial.dut_reading
    assert 0.5 * MOST_PPS < sent <= MOST_PPS
    assert reading is not None and reading.far
    assert [(p.ipackets, p.opackets) for p in reading.ports] == [(sent, 0), (0, sent)]
    assert [(p.opackets, p.ipackets) for p in trial.tester_ports] == [(sent, 0), (0, sent)]
    return trial


def require_located(proof: Proof, size: int, place: str, limit: str) -> int:
    """Hold the trials of a size to the frames that were dropped at a place; give their sum."""
    dropped, exact = 0, []
    for trial in trials_of(proof, size):
        ledger = build_ledger(trial)
        # One frame of each flow in turn.
        gone = max(0, min(DROPPED, trial.offered_frames - NUMBER * FLOWS))
        lost = {fate.place: fate.frames for fate in ledger.lost}
        assert ledger.unexplained_frames == 0
        # A machine that stands still loses more, in places of its own.
        assert lost.get(place, 0) >= gone
        if trial.missing_frames == gone:
            assert lost == ({place: gone} if gone else {})
            exact.append(gone)
        dropped += gone
    assert DROPPED in exact
    (outcome,) = (o for o in proof.bench if isinstance(o, Outcome) and o.mix.label == str(size))
    assert place in [fate.place for fate in outcome.ledger.lost], "the page names it"
    # Not a core that was away, however often an emulated host is.
    assert outcome.limit.by == limit
    # In a trial of a second, the first of them is the one after so many.
    assert outcome.found_load_pps is not None
    assert outcome.found_load_pps <= NUMBER * FLOWS + 0.5
    return dropped


def test_pci_one_spec_goes_from_doctor_to_undo_and_locates_what_the_cables_drop(
    lab: Machines, tmp_path: Path
):
    spec = spec_in(tmp_path, lab, frame_bytes=[64, 128, 256])
    to_dut = CableTap(lab.folder / "beta.0", cliff(124, DROPPED, NUMBER))
    from_dut = CableTap(lab.folder / "alpha.1", cliff(252, DROPPED, NUMBER))
    with to_dut, from_dut:
        proof = proven(lab, spec)
    confirmed = require_exact(proof, 64)
    # What void trials lost, if there were some, was dropped as well.
    assert to_dut.dropped >= require_located(proof, 128, "wire to the DUT", "wire")
    assert from_dut.dropped >= require_located(proof, 256, "wire from the DUT", "wire")

    assert confirmed.dut_reading is not None
    assert confirmed.dut_reading.busy_cycles_per_packet is not None
    (setup,) = (one for one in proof.bench if isinstance(one, Setup))
    assert "loosened" in setup.settings["bounds of the tester"]
    page = (tmp_path / "spec.yaml.report/report.html").read_text()
    assert "net_e1000_igb" in page
    assert "away for 1000 ms at once" in page
    assert "wire to the DUT" in page
    assert "wire from the DUT" in page


def test_pci_over_vfs_counts_are_exact_and_what_the_users_own_forwarder_drops_is_located(
    lab: Machines, tmp_path: Path
):
    spec = spec_in(tmp_path, lab, use_vfs=True, frame_bytes=[64, 128])
    # A VF receives frames to its own address alone: the forwarder writes that of the tester's.
    peers = " ".join(vf_mac("alpha", port) for port in PORTS)
    sent = send_files(lab.hosts["beta"], "/usr/local/bin", {"dropping": built_forwarder(tmp_path)})
    assert sent.returncode == 0, sent.errors
    story = json.loads(spec.read_text())
    story["dpdk"] |= {
        "forwarder": "command",
        "command": f"/usr/local/bin/dropping {{eal}} -- {peers} 124 {DROPPED} {NUMBER}",
        "expect": "mac",
    }
    spec.write_text(json.dumps(story))
    proof = proven(lab, spec)
    require_exact(proof, 64)
    require_located(proof, 128, "DUT transmit", "cannot tell")
    page = (tmp_path / "spec.yaml.report/report.html").read_text()
    assert "net_e1000_igb_vf" in page
    assert "DUT transmit" in page


def test_pci_a_forwarder_that_is_killed_leaves_nothing_bound_or_running(
    lab: Machines, tmp_path: Path
):
    before = {name: sh(host, OWN_WORDS) for name, host in lab.hosts.items()}
    spec = spec_in(tmp_path, lab, frame_bytes=[64, 128])
    story = json.loads(spec.read_text())
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
