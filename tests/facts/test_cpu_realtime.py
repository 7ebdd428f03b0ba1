"""Which busy threads are real-time: proc(5), fields 40 and 41 of /proc/PID/stat."""

from wirespeed.facts.cpu_realtime import RealtimeThreads
from wirespeed.model.capture import Capture, Section
from wirespeed.model.observed import Known, Unreadable

REST = "4711 4711 4700 0 -1 4194304 500 0 0 0 400000 40 0 0 {nice} 0 9 0 90000 9000000000 9000 "
REST += "18446744073709551615 1 1 0 0 0 0 0 4096 0 0 0 0 17 5 {priority} {policy} 0 0 0 0 0 0 0 0"


def stat(tid: int, name: str, priority: int, policy: int) -> str:
    rest = REST.format(nice=-1 - priority if priority else 20, priority=priority, policy=policy)
    return f"/proc/4711/task/{tid}/stat:{tid} ({name}) R {rest} 0 0 0"


def realtime(*lines: str) -> RealtimeThreads:
    text = "\n".join(["uptime 5000.00", *lines])
    return RealtimeThreads.parse(Capture([Section("threads", "", text, "", 0)], complete=True))


def test_fifo_and_round_robin_are_told_from_the_rest():
    found = realtime(
        stat(1, "rte-worker-1", 50, 1), stat(2, "lcore) R 2", 1, 2), stat(3, "pmd-c01/id:8", 0, 0)
    )
    assert isinstance(found.threads, Known)
    assert [(t.tid, t.policy) for t in found.threads.value] == [(1, "SCHED_FIFO"), (2, "SCHED_RR")]


def test_no_reading_is_no_answer():
    assert isinstance(RealtimeThreads.parse(Capture([], complete=True)).threads, Unreadable)


def test_fair_servers_are_read_where_debugfs_is_and_a_share_over_one_is_none():
    """The two files of each CPU: sched_fair_server_write() of kernel/sched/debug.c."""
    path = "/sys/kernel/debug/sched/fair_server/cpu"
    text = f"{path}0/runtime:50000000\n{path}1/runtime:0\n{path}2/runtime:9\n{path}3/runtime:5\n"
    text += f"{path}0/period:1000000000\n{path}1/period:1000000000\n{path}2/period:8\n"
    sections = [Section("fair-server", "", text, "", 0)]
    found = RealtimeThreads.parse(Capture(sections, complete=True))
    assert found.fair_server_ns == {0: (50_000_000, 10**9), 1: (0, 10**9)}
    assert realtime().fair_server_ns == {}
