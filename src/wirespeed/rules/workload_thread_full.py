"""One thread that has no more of its core to use."""

from collections.abc import Iterator

from wirespeed.facts.workload import SOURCE, Thread, Workload
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Known, known
from wirespeed.model.question import Purpose
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule
from wirespeed.model.symptom import Symptom

FULL = 0.95
"""Part of one CPU. A thread that sleeps between frames has less; ticks of 10 ms count 1 % off."""
MOST_SHOWN = 4


def _check(exam: HostExam) -> Iterator[Finding]:
    question, workload = exam.question, exam.host[Workload]
    if question.purpose is Purpose.DPDK:
        raise DoesNotApplyError("polling threads always use a whole CPU")
    threads = known(workload.threads, "which threads are busy")
    if question.workload is not None:
        threads = known(workload.of_process(question.workload), "threads of the workload")
    polling = {thread.pid for thread in threads if thread.polls_beside}
    full = [
        thread
        for thread in threads
        if _is_full(thread) and not thread.polls and thread.pid not in polling
    ]
    if not full:
        return
    is_named = question.workload is not None or any(thread.moves_frames for thread in full)
    told = [thread for thread in full if thread.moves_frames] or full
    yield exam.finding(
        _severity(exam, is_named),
        tuple(
            Evidence(
                found=f"{_name(thread)} ran {100 * thread.cpu_share.value:.0f} % of the time on "
                f"CPU {thread.last_cpu}",
                source=SOURCE,
            )
            for thread in told[:MOST_SHOWN]
            if isinstance(thread.cpu_share, Known)
        ),
        so="one thread limits all traffic that goes through it, whatever the card, slot and "
        "interrupts could carry"
        if len(told) == 1
        else (
            f"{len(told)} threads are full: each limits the traffic that goes through it, "
            "whatever the card, slot and interrupts could carry"
        ),
        remedies=(
            Remedy(
                text="spread the work over more threads, processes or connections (iperf3 3.16 "
                "has one thread per stream), or reduce the work per frame: larger frames, "
                "segmentation and receive offloads, zero copy; a faster CPU clock helps in "
                "proportion",
                by_hand=ByHand.WORKLOAD,
            ),
        ),
        unpriced="the CPU time per frame of this thread is not known",
    )


def _severity(exam: HostExam, is_named: bool) -> Severity:
    if is_named and exam.question.measured_bps is not None:
        return Severity.FAULT
    # A program that computes is full, too, and may have nothing to do with any port.
    return Severity.RISK if is_named else Severity.NOTE


def _is_full(thread: Thread) -> bool:
    return isinstance(thread.cpu_share, Known) and thread.cpu_share.value >= FULL


def _name(thread: Thread) -> str:
    own = "" if thread.name == thread.process else f" ({thread.name})"
    return f"{thread.process}{own}, thread {thread.tid},"


RULE = HostRule(
    slug="workload.thread_full",
    title="Single thread uses a whole CPU",
    why="A thread runs on one CPU at a time. A thread that uses the whole CPU is the limit, and "
    "more queues or interrupts elsewhere do not help. Typical are iperf3 before 3.16, a "
    "vhost thread, one vCPU of a guest, and most receivers of one connection.",
    source="https://github.com/esnet/iperf/releases/tag/3.16; "
    "https://github.com/esnet/iperf/issues/289; https://github.com/esnet/iperf/issues/1870; "
    "proc(5): utime, stime",
    shows=(Symptom.THREAD_FULL,),
    explains=(Symptom.NO_DESCRIPTOR, Symptom.LOW_FIGURE),
    check=_check,
)
