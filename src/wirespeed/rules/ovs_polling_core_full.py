"""A thread of Open vSwitch that polls, and has no time left."""

from collections.abc import Iterator

from wirespeed.facts.ovs_polling import SHOW, OvsPolling, PollingThread
from wirespeed.model.command import Command
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Absent, CannotTellError, Known, known
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule
from wirespeed.model.symptom import Symptom

FULL_PERCENT = 95
MOST_QUEUES = 4


def _check(exam: HostExam) -> Iterator[Finding]:
    seen = exam.host[OvsPolling].threads
    if isinstance(seen, Absent):
        raise DoesNotApplyError(seen.reason)
    every = known(seen, "polling threads of Open vSwitch")
    threads = [t for t in every if t.queues]
    if not threads:
        raise DoesNotApplyError("no thread of Open vSwitch polls a queue")
    busy = [(t, t.busy_percent.value) for t in threads if isinstance(t.busy_percent, Known)]
    full = [(thread, percent) for thread, percent in busy if percent >= FULL_PERCENT]
    if not full:
        if len(busy) < len(threads):
            raise CannotTellError("how busy its polling threads are: not measured yet", SHOW)
        return
    yield exam.finding(
        Severity.RISK,
        tuple(
            Evidence(found=f"CPU {t.cpu} is busy {percent} %: {_queues(t)}", source=SHOW)
            for t, percent in full
        ),
        so="these cores forward no more packets a second than now: what comes beyond that waits "
        "in the ports' receive queues and is lost when they are full",
        remedies=(
            Remedy(
                text=_advice([t for t, _ in full], has_idle=len(full) < len(every)),
                commands=(Command(argv=("ovs-appctl", "dpif-netdev/pmd-perf-show")),),
                by_hand=ByHand.FIND_FIRST,
            ),
        ),
        unpriced="what arrives beyond that was not read: see whether rx_missed_errors grows in "
        "`ovs-vsctl get Interface PORT statistics`",
    )


def _advice(full: list[PollingThread], *, has_idle: bool) -> str:
    """What gives the full threads less to do; `has_idle`: another thread polls, and has time."""
    if all(len(thread.queues) == 1 for thread in full):
        return (
            "let more CPUs of the card's node poll (other_config:pmd-cpu-mask), give the port a "
            "receive queue for each (options:n_rxq), or offload flows to the card"
        )
    more = (
        "let more CPUs of the card's node poll (other_config:pmd-cpu-mask): the queues are spread "
        "over them"
    )
    rebalance = "spread the queues over the threads (ovs-appctl dpif-netdev/pmd-rxq-rebalance)"
    return f"{rebalance}, or {more}" if has_idle else more


def _queues(thread: PollingThread) -> str:
    names = [f"queue {one.queue} of {one.port}" for one in thread.queues[:MOST_QUEUES]]
    more = len(thread.queues) - MOST_QUEUES
    return ", ".join(names) + (f" and {more} more" if more > 0 else "")


RULE = HostRule(
    slug="ovs.polling_core_full",
    title="Open vSwitch polling core fully busy",
    why="A polling thread of the userspace datapath always shows 100 % in top. Open vSwitch "
    "counts the cycles in which it found packets: at 100 % of these, the core is what limits "
    "its ports.",
    source="https://docs.openvswitch.org/en/latest/topics/dpdk/pmd/; openvswitch "
    "lib/dpif-netdev.c (pmd_info_show_rxq)",
    explains=(Symptom.NO_DESCRIPTOR, Symptom.LOW_FIGURE),
    check=_check,
)
