"""A stall is time in which the tester's core did nothing: a slow wire is none, a stop always is.

What the kernel says of the thread is read here, from outside, and the tester's figure is held
against it; so a machine that takes the core away by itself fails no test.
"""

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tester_programs import Reply, Tester, spinning_on, trial_fields, usable_cpus

pytestmark = pytest.mark.dpdk

SECONDS = 0.4
CGROUP = Path("/sys/fs/cgroup/cpu")


def worker_task(tester: Tester) -> Path:
    """The folder in /proc of the thread that runs the hot loop."""
    tasks = Path(f"/proc/{tester.process.pid}/task")
    (task,) = (t for t in tasks.iterdir() if "worker" in (t / "comm").read_text())
    return task


def waited_ns(task: Path) -> int:
    """Time that the thread was ready to run and did not."""
    return int((task / "schedstat").read_text().split()[1])


def stalls(result: Reply) -> list[str]:
    return [r for r in result["invalid_reasons"] if r.startswith("tester.stalled")]


def test_a_tester_that_a_slow_wire_slows_down_is_not_stalled(
    built: Path, start_tester: Callable[..., Tester]
):
    # 32 frames at 12000 cycles are 148 us at 2.6 GHz, and 16 are 74: longer than 50 us, of work.
    slow = {"LD_PRELOAD": str(built / "tests" / "slow_wire.so"), "SLOW_WIRE": "12000"}
    tester = start_tester(environment=slow)
    tester.open("net_ring0")
    task = worker_task(tester)
    before = waited_ns(task)
    result = tester.trial(
        mix=[{"frame_bytes": 1518}],
        load={"max": True},
        burst_frames=32,
        seconds=SECONDS,
        gap_limit_ms=1000,
    )
    waited = waited_ns(task) - before
    health = result["tester"]
    steal = health["steal_ns"] or 0
    assert health["long_pass_work_ns"] > 1e6, "no pass was long: this proves nothing"
    assert health["stalled_ns"] <= waited + steal + 20e6 + 0.02 * SECONDS * 1e9
    assert health["hidden_ns"] <= steal + 20e6
    # And the bursts became shorter, so that a pass no longer takes as long.
    assert health["rx_burst_frames"] < 32


def test_bursts_that_a_slow_wire_made_shorter_get_longer_again_and_fill_no_ring(
    built: Path, start_tester: Callable[..., Tester], tmp_path: Path
):
    # They get longer in 40 ms without a long pass. A machine that is slow by itself may have no
    # such time in one second: then in more of them.
    longest = []
    for seconds in (1, 1, 1, 5, 5, 5):
        longest.append(asked_after_a_slow_wire(built, start_tester, tmp_path / "asked", seconds))
        if longest[-1] == 128:
            return
    pytest.fail(f"bursts stayed short: {longest}")


def asked_after_a_slow_wire(
    built: Path, start_tester: Callable[..., Tester], asked: Path, seconds: int
) -> int:
    """The longest burst that was asked for after 50 slow ones."""
    asked.unlink(missing_ok=True)
    slow = {
        "LD_PRELOAD": str(built / "tests" / "slow_wire.so"),
        "SLOW_WIRE": "12000",
        "SLOW_WIRE_CALLS": "50",
        "SLOW_WIRE_ASKED": str(asked),
    }
    tester = start_tester(environment=slow)
    tester.open("net_ring0")
    result = tester.trial(
        mix=[{"frame_bytes": 64}], load={"max": True}, burst_frames=32, seconds=seconds
    )
    assert result["tester"]["rx_burst_frames"] < 128, "no pass was long: this proves nothing"
    # What is sent in a pass is never more than what is received in one.
    assert result["streams"][0]["refused_frames"] == 0
    tester.close()
    return int.from_bytes(asked.read_bytes(), sys.byteorder)


def test_a_stop_is_a_stall_to_within_its_length(tester: Tester):
    tester.open("net_ring0")
    task = worker_task(tester)
    before = waited_ns(task)
    tester.tell("trial", **trial_fields(seconds=SECONDS))
    time.sleep(0.1)
    begin = time.monotonic()
    tester.signal(signal.SIGSTOP)
    time.sleep(0.2)
    tester.signal(signal.SIGCONT)
    stopped = (time.monotonic() - begin) * 1e9
    result = tester.result()
    waited = waited_ns(task) - before
    assert stalls(result)
    health = result["tester"]
    # What a hypervisor takes meanwhile is a stall as well.
    most = 1.05 * (stopped + waited) + (health["steal_ns"] or 0) + 20e6
    assert 0.95 * 0.2e9 <= health["stalled_ns"] <= most
    assert health["off_core_ns"] >= 0.95 * 0.2e9


@contextmanager
def quota_of(task: Path, share: float) -> Iterator[None]:
    """A cgroup in which the thread runs for no more than a share of the time."""
    group = CGROUP / f"wirespeed-{os.getpid()}"
    group.mkdir()
    try:
        period = int((group / "cpu.cfs_period_us").read_text())
        (group / "cpu.cfs_quota_us").write_text(str(int(period * share)))
        (group / "tasks").write_text(task.name)
        yield
    finally:
        (CGROUP / "tasks").write_text(task.name)
        group.rmdir()


def test_a_busy_neighbour_on_its_core_is_a_stall_of_its_true_share(tester: Tester):
    tester.open("net_ring0")
    task = worker_task(tester)
    with spinning_on(usable_cpus()[1]):
        before = waited_ns(task)
        result = tester.trial(seconds=SECONDS)
        waited = waited_ns(task) - before
    assert stalls(result)
    health = result["tester"]
    assert waited > 0.2 * SECONDS * 1e9, "the neighbour took nothing"
    # What it waited for before its first pass and after its last one is in neither.
    assert 0.5 * waited < health["wait_ns"] <= waited
    assert health["stalled_ns"] == pytest.approx(health["wait_ns"], rel=0.1)
    # The trial goes on for as long as it was away, and every frame left on the stretched schedule.
    assert result["streams"][0]["unsent_late_frames"] == 0


@pytest.mark.skipif(not os.access(CGROUP / "tasks", os.W_OK), reason="no CPU cgroup to write to")
def test_a_quota_is_a_stall_of_its_true_share(tester: Tester):
    tester.open("net_ring0")
    task = worker_task(tester)
    begin = time.monotonic()
    ran = int((task / "schedstat").read_text().split()[0])
    with quota_of(task, 0.5):
        result = tester.trial(seconds=SECONDS)
    ran = int((task / "schedstat").read_text().split()[0]) - ran
    away = (time.monotonic() - begin) * 1e9 - ran
    assert stalls(result)
    # What comes before the first pass and after the last one is in `away` alone.
    assert 0.75 * away - 30e6 <= result["tester"]["stalled_ns"] <= 1.02 * away
