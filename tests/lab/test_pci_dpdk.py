"""RFC 2544 between two hosts: tester and forwarder on PCI ports by vfio-pci, from one spec.

The hosts' own words, read by other means, are compared before and after.
"""

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from cable_tap import CableTap, cliff
from pci_story import (
    DROPPED,
    FLOWS,
    MOST_PPS,
    NUMBER,
    OWN_WORDS,
    PORTS,
    QUEUES,
    built_forwarder,
    running,
    sh,
    spec_in,
)
from program import processes_with, start, wirespeed

from wirespeed.apply.run_place import run_folder
from wirespeed.apply.spec_file import parse_spec
from wirespeed.approaches.dpdk_vfs import vf_mac
from wirespeed.host.clock import Deadline, sleep_s
from wirespeed.host.guest_script import send_files
from wirespeed.lab.machine_spec import LabSpec, MachineSpec
from wirespeed.lab.machines import Machine, Machines
from wirespeed.measure.bench.run_folder import TRIALS
from wirespeed.measure.search.ledger import build_ledger
from wirespeed.model.capture import parse_capture
from wirespeed.model.error import HostError, MeasurementError
from wirespeed.model.fact import HostFacts
from wirespeed.model.proof import Stage
from wirespeed.model.spec.members import Dpdk
from wirespeed.model.trial import DutReading, Outcome, Record, Setup, Trial
from wirespeed.report.proof_page import Proof
from wirespeed.report.result import reset_s
from wirespeed.runs.measure_dpdk import DpdkMeasuring
from wirespeed.runs.prove_folder import read_proof

pytestmark = [pytest.mark.polls, pytest.mark.machines, pytest.mark.rare, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def lab() -> Iterator[Machines]:
    hosts = tuple(MachineSpec(name=name, memory_mib=1536) for name in ("alpha", "beta"))
    with Machines(LabSpec(hosts=hosts), name=f"test-{os.getpid()}-pci") as lab:
        yield lab


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
    require_ports(trial, trial.offered_frames, 0)
    return trial


def require_ports(trial: Trial, there: int, back: int) -> None:
    """Hold what both programs counted to frames that went one way and the other, and came back."""
    reading = trial.dut_reading
    assert 0.5 * MOST_PPS < there + back <= MOST_PPS and not trial.missing_frames
    assert reading is not None and reading.far
    assert [(p.ipackets, p.opackets) for p in reading.ports] == [(there, back), (back, there)]
    of_tester = [(p.opackets, p.ipackets) for p in trial.tester_ports]
    assert of_tester == [(there, back), (back, there)]


def require_located(proof: Proof, size: int, place: str, limit: str, queues: int = 1) -> int:
    """Hold the trials of a size to the frames that were dropped at a place; give their sum."""
    dropped, exact = 0, []
    for trial in trials_of(proof, size):
        ledger = build_ledger(trial)
        # Each queue sends one frame of each of its flows in turn.
        of_first = -(-trial.offered_frames // queues)
        gone = max(0, min(DROPPED, of_first - NUMBER * FLOWS // queues))
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
    story = json.loads(spec.read_text())
    # The first sends the lower half of the flows, the second the rest; RSS deals what comes back.
    story["dpdk"]["tester"] = {"queues": QUEUES, "rx_descriptors": 1024, "tx_descriptors": 1024}
    spec.write_text(json.dumps(story))
    to_dut = CableTap(lab.folder / "beta.0", cliff(124, DROPPED, NUMBER))
    from_dut = CableTap(lab.folder / "alpha.1", cliff(252, DROPPED, NUMBER))
    with to_dut, from_dut:
        proof = proven(lab, spec)
    confirmed = require_exact(proof, 64)
    # What void trials lost, if there were some, was dropped as well.
    assert to_dut.dropped >= require_located(proof, 128, "wire to the DUT", "wire", QUEUES)
    assert from_dut.dropped >= require_located(proof, 256, "wire from the DUT", "wire", QUEUES)

    assert confirmed.dut_reading is not None
    assert confirmed.dut_reading.busy_cycles_per_packet is not None
    # Its driver's own statistics of both ports, which are exact as well.
    rose = [port.rose for port in confirmed.dut_reading.statistics]
    assert rose[0]["rx_total_packets"] == rose[1]["tx_total_packets"] == confirmed.offered_frames
    (setup,) = (one for one in proof.bench if isinstance(one, Setup))
    assert "GCC" in setup.tester["compiler"]
    assert all("compiler" in told for told in setup.duts.values())
    assert "loosened" in setup.settings["bounds of the tester"]
    page = (tmp_path / "spec.yaml.report/report.html").read_text()
    assert "net_e1000_igb" in page
    assert "away for 1000 ms at once" in page
    assert f"{QUEUES} of each port, each way" in page
    assert "wire to the DUT" in page
    assert "wire from the DUT" in page


def test_pci_frames_come_back_by_their_port_through_l3fwd_that_is_reset(
    lab: Machines, tmp_path: Path
):
    """As in the published report's first test: l3fwd is built here, and sent to its host."""
    spec = spec_in(tmp_path, lab, frame_bytes=[64])
    story = json.loads(spec.read_text())
    for host in story["hosts"].values():
        host["ports"] = PORTS[:1]
    story["dpdk"] |= {"forwarder": "l3fwd-lpm", "way_back": "same"}
    story["measure"]["rfc2544"] |= {"single_core": True, "resets": 1}
    spec.write_text(json.dumps(story))
    proof = proven(lab, spec)
    trial = [one for one in trials_of(proof, 64) if not one.missing_frames][-1]
    sent, reading = trial.offered_frames, trial.dut_reading
    assert 0.5 * MOST_PPS < sent <= MOST_PPS
    assert reading is not None and reading.far
    # Each frame came in by the one port of each, and left by it.
    assert [(p.ipackets, p.opackets) for p in reading.ports] == [(sent, sent)]
    assert [(p.opackets, p.ipackets) for p in trial.tester_ports] == [(sent, sent)]
    # Once after the search: at the highest load, and with the forwarder ended and started again.
    lines = [one for one in proof.bench if isinstance(one, Trial) and one.purpose == "line"]
    assert {one.intended_load_pps for one in lines} == {MOST_PPS}
    (reset,) = [one for one in trials_of(proof, 64) if one.purpose == "reset"]
    away_s = reset_s(reset)
    assert away_s is not None and 0.1 < away_s < reset.measured_seconds
    page = (tmp_path / "spec.yaml.report/report.html").read_text()
    assert "At line rate" in page
    assert "a reset of the program (RFC 6201)" in page


def _without_buffer(reading: DutReading) -> int:
    return sum(port.rx_nombuf for port in reading.ports)


def test_pci_over_vfs_counts_are_exact_and_what_the_users_own_forwarder_drops_is_located(
    lab: Machines, tmp_path: Path
):
    spec = spec_in(tmp_path, lab, use_vfs=True, frame_bytes=[64, 128, 256])
    # A VF receives frames to its own address alone: the forwarder writes that of the tester's.
    peers = " ".join(vf_mac("alpha", port) for port in PORTS)
    sent = send_files(lab.hosts["beta"], "/usr/local/bin", {"dropping": built_forwarder(tmp_path)})
    assert sent.returncode == 0, sent.errors
    story = json.loads(spec.read_text())
    story["dpdk"] |= {
        "forwarder": "command",
        "command": f"/usr/local/bin/dropping {{eal}} -- {peers} 124 {DROPPED} {NUMBER} 252",
        "expect": "mac",
    }
    spec.write_text(json.dumps(story))
    proof = proven(lab, spec)
    require_exact(proof, 64)
    require_located(proof, 128, "DUT transmit", "cannot tell")
    # Of 256 bytes it takes all buffers for a while: the driver tries again, and loses none.
    starved = [t for t in trials_of(proof, 256) if t.dut_reading and _without_buffer(t.dut_reading)]
    whole = [build_ledger(trial) for trial in starved if not trial.missing_frames]
    assert whole
    assert [ledger for ledger in whole if ledger.lost or ledger.unexplained_frames] == []
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
    # One that is void is made again.
    assert {t.mix.label for t in trials if t.recovery is not None} == {"64", "128"}
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


class Kept:
    """The records of a bench over all its interruptions; `after` is called behind each trial."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.after: Callable[[], None] = lambda: None

    @property
    def recorded(self) -> list[Record]:
        return list(self.records)

    def bench(self, record: Record) -> None:
        self.records.append(record)
        if isinstance(record, Trial):
            self.after()


def facts_of(host: Machine, name: str, folder: Path) -> HostFacts:
    capture = folder / f"{name}.txt"
    done = wirespeed("capture", host.state.destination, "--seconds", "0", "--out", str(capture))
    assert done.returncode == 0, done.stderr
    return HostFacts(name, parse_capture(capture.read_text(), name))


def await_none_running(*hosts: Machine) -> None:
    deadline = Deadline(60)
    while any(running(host) for host in hosts):
        assert not deadline.expired
        sleep_s(0.5)


def boot_id(host: Machine) -> str:
    try:
        return sh(host, "cat /proc/sys/kernel/random/boot_id")
    except (HostError, MeasurementError):
        return ""


def await_boot(host: Machine, former: str) -> None:
    deadline = Deadline(180)
    while boot_id(host) in ("", former):
        assert not deadline.expired
        sleep_s(0.5)


def test_pci_a_tester_ssh_and_both_hosts_that_are_killed_lose_no_trial_and_leave_nothing(
    lab: Machines, tmp_path: Path
):
    alpha, beta = lab.hosts["alpha"], lab.hosts["beta"]
    before = {name: sh(host, OWN_WORDS) for name, host in lab.hosts.items()}
    booted = {host: boot_id(host) for host in (alpha, beta)}
    # A size for each of the four kills, and one that is left to measure at the last of them.
    path = spec_in(tmp_path, lab, frame_bytes=[64, 128, 256, 512, 1024])
    facts = {name: facts_of(host, name, tmp_path) for name, host in lab.hosts.items()}
    applied = wirespeed("apply", str(path), "--yes", timeout_s=300)
    assert applied.returncode == 0, applied.stderr
    spec = parse_spec(path.read_text(), path.name)
    assert isinstance(spec, Dpdk)
    kept = Kept()

    def kill_tester() -> None:
        assert sh(alpha, "kill -KILL $(pidof wirespeed-tester) && echo killed") == "killed\n"

    def kill_ssh() -> None:
        ours = processes_with(f"ssh://beta.{lab.folder.name}")
        pipes = [pid for pid, line in ours.items() if "ssh_pipe" in line]
        assert pipes
        for pid in pipes:
            os.kill(pid, signal.SIGKILL)

    def kill_host(host: Machine) -> None:
        at_once = "(sleep 0.2; echo b >/proc/sysrq-trigger) </dev/null >/dev/null 2>&1 &"
        sh(host, f"echo 1 >/proc/sys/kernel/sysrq; {at_once}")

    kills: list[tuple[Callable[[], None], Machine | None]] = [
        (kill_tester, None),
        (kill_ssh, None),
        (lambda: kill_host(beta), beta),
        (lambda: kill_host(alpha), alpha),
    ]
    for kill, gone in kills:
        made = [one for one in kept.records if isinstance(one, Trial)]
        kept.after = kill
        with pytest.raises((MeasurementError, HostError)):
            DpdkMeasuring(spec, lab.hosts, kept).measure(facts, lambda _: None, lambda _: None)
        trials = [one for one in kept.records if isinstance(one, Trial)]
        assert len(trials) == len(made) + 1 and trials[:-1] == made, "none lost, none made again"
        assert [one.number for one in trials] == list(range(1, len(trials) + 1))
        await_none_running(*(host for host in (alpha, beta) if host is not gone))
        if gone is not None:
            await_boot(gone, booted[gone])
            undone = wirespeed("undo", str(path), timeout_s=300)
            assert undone.returncode == 0, undone.stderr[-2000:]
            assert {name: sh(host, OWN_WORDS) for name, host in lab.hosts.items()} == before
            assert [running(host) for host in lab.hosts.values()] == [0, 0]
        if gone is beta:
            again = wirespeed("apply", str(path), "--yes", timeout_s=300)
            assert again.returncode == 0, again.stderr


OTHERS: tuple[dict[str, str | bool], ...] = (
    {"forwarder": "testpmd-mac"},
    {"forwarder": "testpmd-macswap"},
    {"forwarder": "testpmd-5tswap"},
    {"forwarder": "l3fwd-em"},
    {"forwarder": "l3fwd-lpm", "bidirectional": True},
)
"""What the specs above do not name."""


def test_pci_every_other_forwarder_returns_each_frame_by_the_port_that_is_expected(
    lab: Machines, tmp_path: Path
):
    """Each frame is judged: one that came back without its forwarder's change is corrupted."""
    before = {name: sh(host, OWN_WORDS) for name, host in lab.hosts.items()}
    path = spec_in(tmp_path, lab)
    story = json.loads(path.read_text())
    # Each of l3fwd-em's two tables has room for four million flows.
    story["dpdk"] |= {"memory_mib": 640, "hugepages": {"page_kib": 2048, "count": 336}}
    path.write_text(json.dumps(story))
    facts = {name: facts_of(host, name, tmp_path) for name, host in lab.hosts.items()}
    applied = wirespeed("apply", str(path), "--yes", timeout_s=300)
    assert applied.returncode == 0, applied.stderr
    for other in OTHERS:
        own = json.dumps({**story, "dpdk": {**story["dpdk"], **other}})
        spec, kept = parse_spec(own, path.name), Kept()
        assert isinstance(spec, Dpdk)
        DpdkMeasuring(spec, lab.hosts, kept).measure(facts, lambda _: None, lambda _: None)
        trial = [one for one in kept.records if isinstance(one, Trial) and one.valid][-1]
        assert trial.dut == other["forwarder"]
        there, *back = (stream.offered_frames for stream in trial.streams)
        assert len(back) == ("bidirectional" in other)
        require_ports(trial, there, sum(back))
        assert [running(host) for host in lab.hosts.values()] == [0, 0]
    undone = wirespeed("undo", str(path), timeout_s=300)
    assert undone.returncode == 0, undone.stderr[-2000:]
    assert {name: sh(host, OWN_WORDS) for name, host in lab.hosts.items()} == before
