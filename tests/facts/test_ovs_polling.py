"""`ovs-appctl dpif-netdev/pmd-rxq-show`, as lib/dpif-netdev.c (pmd_info_show_rxq) of 2.13 and 3.3
writes it, and as documented in topics/dpdk/pmd.rst.
"""

import pytest

from wirespeed.facts.ovs_polling import SHOW, OvsPolling
from wirespeed.model.capture import Capture, Section
from wirespeed.model.observed import Absent, Known, Unreadable

NEW = """\
Displaying last 60 seconds pmd usage %
pmd thread numa_id 0 core_id 14:
  isolated : false
  port: phy-p0            queue-id:  0 (enabled)   pmd usage: 41 %
  port: vm-1-n0           queue-id: 10 (disabled)  pmd usage:  0 %
  overhead:  3 %
pmd thread numa_id 1 core_id 34:
  isolated : true
"""
OLD = """\
pmd thread numa_id 0 core_id 3:
  isolated : false
  port: dpdk0             queue-id:  0 (enabled)   pmd usage: NOT AVAIL
  port: dpdk1             queue-id:  0 (enabled)   pmd usage: 17 %
"""


def parse(output: str, errors: str = "", code: int = 0) -> OvsPolling:
    return OvsPolling.parse(
        Capture((Section("ovs-pmd-rxq", "", output, errors, code),), complete=True)
    )


def test_threads_have_their_queues_and_their_overhead():
    threads = parse(NEW).threads
    assert isinstance(threads, Known)
    first, second = threads.value
    assert (first.numa_node, first.cpu, first.overhead_percent) == (0, 14, 3)
    assert [(q.port, q.queue, q.busy_percent) for q in first.queues] == [
        ("phy-p0", 0, Known(41, SHOW)), ("vm-1-n0", 10, Known(0, SHOW)),
    ]  # fmt: skip
    assert first.busy_percent == Known(44, SHOW)
    assert (second.numa_node, second.cpu, second.queues) == (1, 34, ())


def test_a_queue_that_is_not_measured_yet_leaves_its_thread_unmeasured():
    threads = parse(OLD).threads
    assert isinstance(threads, Known)
    (thread,) = threads.value
    assert thread.queues[1].busy_percent == Known(17, SHOW)
    assert isinstance(thread.busy_percent, Absent)


def test_a_daemon_without_a_userspace_datapath_has_no_threads():
    said = "please specify an existing datapath\novs-appctl: ovs-vswitchd: server returned an error"
    assert isinstance(parse("", said, 2).threads, Absent)
    assert isinstance(OvsPolling.parse(Capture((), complete=True)).threads, Absent)


def test_without_a_datapath_that_polls_there_is_none():
    assert parse("").threads == Known((), SHOW)


@pytest.mark.parametrize("line", ["  port: dpdk0 queue-id: x", "  port: "])
def test_a_line_that_makes_no_sense_is_unreadable(line: str):
    assert isinstance(parse(f"{NEW}{line}\n").threads, Unreadable)


def test_a_daemon_that_may_not_be_asked_is_unreadable():
    said = 'ovs-appctl: cannot connect to "/run/openvswitch/ovs-vswitchd.7.ctl" (Permission denied)'
    assert isinstance(parse("", said, 1).threads, Unreadable)
