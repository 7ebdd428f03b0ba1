"""A testbed in memory: every frame there and back on either wire, and deaths told as deaths."""

import contextlib
import os
import signal
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from patience import patiently_measured

from wirespeed.host.clock import Deadline, monotonic_s, sleep_s
from wirespeed.lab.bed import VirtualBed
from wirespeed.lab.wire import MEMIFS
from wirespeed.measure.bench import trial_maker
from wirespeed.measure.bench.testbed import BedTrial
from wirespeed.measure.bench.tester_protocol import TrialRequest
from wirespeed.measure.bench.trial_maker import TrialMaker, TrialSettings
from wirespeed.measure.search.ledger import build_ledger
from wirespeed.model.error import InputError, MeasurementError
from wirespeed.model.frame_mix import FrameMix
from wirespeed.model.trial import Trial
from wirespeed.report.result import reset_s

pytestmark = pytest.mark.dpdk

NOTICED_S = 10.0
"""For a death to be noticed and the bed to be closed; below 2 s on a machine that is not busy."""
LOAD_PPS = 20_000


@pytest.fixture(autouse=True)
def temporary(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A short temporary folder; afterwards there is neither a process nor a file of the beds'."""
    with tempfile.TemporaryDirectory(prefix="ws-bed-", dir="/tmp") as path:
        monkeypatch.setenv("TMPDIR", path)
        monkeypatch.setattr(tempfile, "tempdir", None)
        yield Path(path)
        deadline = Deadline(NOTICED_S)
        while left := processes(Path(path)):
            assert not deadline.expired, left
            sleep_s(0.01)
        assert list(Path(path).iterdir()) == []


def processes(folder: Path) -> dict[int, list[str]]:
    """Processes that have `folder` in their environment, with their arguments."""
    found, mark = {}, f"TMPDIR={folder}".encode()
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and mark in (entry / "environ").read_bytes().split(b"\0"):
                line = (entry / "cmdline").read_bytes().decode(errors="replace")
                found[int(entry.name)] = line.split("\0")
    return found


def dut_pid(folder: Path) -> int:
    (pid,) = (pid for pid, argv in processes(folder).items() if "testpmd" in argv[0])
    return pid


@contextlib.contextmanager
def opened(dut: str, wire: str = "vhost", frame_bytes_max: int = 1518) -> Iterator[VirtualBed]:
    bed = VirtualBed(dut, wire, flows=64, frame_bytes_max=frame_bytes_max)
    try:
        yield bed
    finally:
        bed.close()


def request(bed: VirtualBed, number: int, mix: str = "64", seconds: float = 0.05) -> TrialRequest:
    return TrialRequest(
        number=number,
        mix=FrameMix.parse(mix),
        flows=64,
        load_pps=LOAD_PPS,
        seconds=seconds,
        expect=bed.dut.expect,
        cpus=bed.cpus,
    )


def frames(made: BedTrial) -> tuple[int, int]:
    return made.result.streams[0].offered_frames, made.result.streams[0].unique_frames


@pytest.mark.parametrize("wire", ["vhost", "memif", "memif-direct"])
@pytest.mark.parametrize("dut", ["testpmd-macswap", "testpmd-5tswap", "l3fwd-lpm"])
def test_what_goes_out_comes_back_as_the_dut_counts_it(dut: str, wire: str):
    with opened(dut, wire, frame_bytes_max=9600) as bed:
        assert bed.dut.name == dut
        trials: list[Trial] = []
        maker = TrialMaker(
            lambda: bed,
            TrialSettings(search=1, mix=FrameMix.parse("64x7+594x4+9600x1"), flows=64),
            next_number=lambda: len(trials) + 1,
            record=trials.append,
        )
        sample = patiently_measured(maker, LOAD_PPS, 0.05)
    trial = trials[-1]
    assert sample.missing_frames == 0
    assert 0.999 <= trial.offered_frames / (LOAD_PPS * 0.05) <= 1.0
    assert trial.dut_reading is not None
    (port,) = trial.dut_reading.ports
    assert (port.ipackets, port.opackets) == (trial.offered_frames, trial.offered_frames)
    assert trial.dut_reading.cpu_run_ns
    assert build_ledger(trial).lost == ()
    # Each frame was what the DUT is known to make of it.
    assert trial.streams[0].corrupted_frames == trial.streams[0].misdelivered_frames == 0


def test_a_forwarder_is_ended_and_started_again_while_frames_are_sent():
    """The time that nothing came is the loss over the load, but for what the tester was away."""
    bounds = trial_maker.TesterBounds(gap_limit_ms=10_000, stalled_share=1)
    with opened("testpmd-macswap") as bed:
        trials: list[Trial] = []
        maker = TrialMaker(
            lambda: bed,
            TrialSettings(search=1, mix=FrameMix.parse("64"), flows=64, bounds=bounds),
            next_number=lambda: len(trials) + 1,
            record=trials.append,
        )
        maker.measure(LOAD_PPS, 5.0, "reset")
        reset = trials[-1]
        assert reset_s(reset) is not None and 0 < reset_s(reset) < 5
        away = reset.tester.stalled_ns / 1e9
        assert abs(reset.missing_frames / LOAD_PPS - reset_s(reset)) < 0.2 + away
        assert reset.streams[0].corrupted_frames == 0
        # What was started forwards all, and its counters are its own again.
        assert patiently_measured(maker, LOAD_PPS, 0.05).missing_frames == 0
        reading = trials[-1].dut_reading
        assert reading is not None
        assert reading.ports[0].ipackets == trials[-1].offered_frames


@pytest.mark.parametrize("wire", MEMIFS)
def test_a_forwarder_on_memif_is_not_ended_under_the_tester(wire: str):
    with opened("testpmd-macswap", wire) as bed:
        with pytest.raises(InputError, match=r"dut\.no_reset"):
            bed.reset()
        assert bed.run(request(bed, 1)).result.streams[0].unique_frames > 0


def test_the_record_says_which_priority_tester_and_dut_have(temporary: Path):
    with opened("testpmd-macswap") as bed:
        told = [dict(bed.tester_details)["priority"], dict(bed.dut.details)["priority"]]
        for pid, priority in zip((bed.tester_pid, dut_pid(temporary)), told, strict=True):
            tasks = [int(task.name) for task in Path(f"/proc/{pid}/task").iterdir()]
            assert {f"nice {os.getpriority(os.PRIO_PROCESS, tid)}" for tid in tasks} == {priority}
        assert os.geteuid() != 0 or told == ["nice -20"] * 2


def test_beds_side_by_side_do_not_meet():
    with opened("testpmd-io") as one, opened("testpmd-io") as two:
        for bed in (one, two):
            offered, returned = frames(bed.run(request(bed, 1)))
            assert offered == returned > 0


def test_a_second_close_does_nothing_and_a_closed_bed_makes_no_trial():
    with opened("testpmd-io") as bed:
        asked = request(bed, 1)
    bed.close()
    with pytest.raises(AssertionError, match="closed"):
        bed.run(asked)


def test_an_unknown_dut_leaves_nothing_behind():
    with pytest.raises(InputError) as error, opened("testpmd-warp"):
        pass
    assert error.value.what == "dut.unknown"


@pytest.mark.parametrize("wire", ["vhost", "memif", "memif-direct"])
@pytest.mark.parametrize("victim", ["dut", "tester"])
@pytest.mark.parametrize("moment", ["between trials", "in mid-trial"])
def test_a_death_is_noticed_in_time_and_told_as_what_it_is(
    temporary: Path, victim: str, wire: str, moment: str
):
    with opened("testpmd-macswap", wire) as bed:
        bed.run(request(bed, 1))
        pid = bed.tester_pid if victim == "tester" else dut_pid(temporary)
        kill = threading.Timer(0.3, os.kill, (pid, signal.SIGKILL))
        kill.start()
        if moment == "between trials":
            kill.join()
            sleep_s(0.3)  # The other one may find its link down by now.
        started = monotonic_s()
        with pytest.raises(MeasurementError) as error:
            bed.run(request(bed, 2, seconds=60 if moment == "in mid-trial" else 0.05))
        kill.join()
        assert error.value.what == f"{victim}.died"
        assert "killed by SIGKILL" in error.value.found
        bed.close()
        assert monotonic_s() - started < NOTICED_S


def test_of_two_deaths_the_one_that_the_other_followed_is_told(temporary: Path):
    # A peer that polls a memif may fault when its other end goes, and be seen to end first.
    with opened("testpmd-macswap", "memif") as bed:
        bed.run(request(bed, 1))
        dut = dut_pid(temporary)
        # Stopped, it cannot fault in its turn before it is killed.
        ends = (
            (0.3, dut, signal.SIGSTOP),
            (0.35, bed.tester_pid, signal.SIGSEGV),
            (0.4, dut, signal.SIGKILL),
        )
        kills = [threading.Timer(after, os.kill, (pid, by)) for after, pid, by in ends]
        for kill in kills:
            kill.start()
        with pytest.raises(MeasurementError) as error:
            bed.run(request(bed, 2, seconds=60))
        for kill in kills:
            kill.join()
    assert error.value.what == "dut.died"
    assert "killed by SIGKILL" in error.value.found


def test_progress_is_told_while_a_trial_runs():
    seconds: list[float] = []
    with opened("testpmd-io") as bed:
        bed.run(request(bed, 1, seconds=2.2), lambda progress: seconds.append(progress.seconds))
    # A busy machine may make them late, never early or out of order.
    assert seconds == sorted(seconds)
    assert seconds[0] >= 1
