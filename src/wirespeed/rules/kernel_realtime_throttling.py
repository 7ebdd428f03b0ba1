"""Real-time threads that poll, under a limit on how long real-time threads may run."""

from collections.abc import Iterator, Sequence

from wirespeed.facts.cpu_list import cpu_list_text
from wirespeed.facts.cpu_realtime import (
    FAIR_NS,
    FAIR_SERVER,
    FAIR_SERVERS,
    RealtimeThread,
    RealtimeThreads,
)
from wirespeed.facts.kernel import Kernel
from wirespeed.facts.sysctl import Sysctls, sysctl_remedy
from wirespeed.model.bound import Bound, Limit
from wirespeed.model.command import Command
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity, StepCall
from wirespeed.model.observed import Known, known
from wirespeed.model.question import Purpose
from wirespeed.model.rule import HostExam, HostRule

RUNTIME = "kernel.sched_rt_runtime_us"
PERIOD = "kernel.sched_rt_period_us"
BORROWING = (5, 10)
"""Before, a CPU borrows the time that others have left for real-time threads: *sched/rt: Disable
RT_RUNTIME_SHARE by default*."""
POLLS = 0.9
"""A thread that runs for more of the time does not wait for work."""
MOST = 8


def _check(exam: HostExam) -> Iterator[Finding]:
    version = known(exam.host[Kernel].version(), "the kernel's version")
    if version >= FAIR_SERVERS:
        yield from _served(exam)
    else:
        yield from _throttled(exam, borrows=version < BORROWING)


def _polling(exam: HostExam) -> list[RealtimeThread]:
    threads = known(exam.host[RealtimeThreads].threads, "which threads are real-time")
    return [t for t in threads if isinstance(t.cpu_share, Known) and t.cpu_share.value > POLLS]


def _polls(exam: HostExam, threads: Sequence[RealtimeThread]) -> Iterator[Evidence]:
    for one in threads[:MOST]:
        yield Evidence(found=f"{one.name} polls under {one.policy}", source=f"chrt -p {one.tid}")
    if more := len(threads[MOST:]):
        source = exam.host[RealtimeThreads].threads.source
        yield Evidence(found=f"{more} more poll under a real-time policy", source=source)


def _throttled(exam: HostExam, *, borrows: bool) -> Iterator[Finding]:
    sysctls = exam.host[Sysctls]
    runtime = known(sysctls.number(RUNTIME), "the limit on real-time threads")
    period = known(sysctls.number(PERIOD), "the period of that limit")
    if runtime < 0 or runtime >= period:
        return
    polling = _polling(exam)
    lost = f"{(period - runtime) / 1000:g} ms of every {period / 1000:g} ms"
    if not polling:
        severity = Severity.NOTE
        so = f"a real-time thread that polls would lose up to {lost}; none is known to poll"
    else:
        severity = Severity.FAULT
        lost = f"up to {lost}, as far as no CPU has time left to lend" if borrows else lost
        so = f"the kernel stops these threads for {lost}: nothing polls their queues meanwhile"
    yield exam.finding(
        severity,
        (
            Evidence(
                found=f"real-time threads run for at most {runtime} of {period} us",
                source=f"sysctl {RUNTIME} {PERIOD}",
            ),
            *_polls(exam, polling),
        ),
        so=so,
        remedies=(
            sysctl_remedy(
                "remove the limit (a runaway real-time thread can then block its core for ever)",
                (RUNTIME, "-1"),
            ),
        ),
        bounds=(
            _bound(
                Limit.EXACTLY if polling and not borrows else Limit.AT_MOST,
                (period - runtime) / period,
                "(sched_rt_period_us - sched_rt_runtime_us) / sched_rt_period_us",
            ),
        ),
    )


def _served(exam: HostExam) -> Iterator[Finding]:
    servers = exam.host[RealtimeThreads].fair_server_ns
    polling = _polling(exam)
    served = [t for t in polling if servers.get(t.cpu, FAIR_NS)[0]]
    if (polling and not served) or (servers and not any(run for run, _ in servers.values())):
        return
    cpus = sorted({t.cpu for t in served})
    told = [servers[cpu] for cpu in (cpus or servers) if cpu in servers] or [FAIR_NS]
    runtime, period = max(told, key=lambda one: one[0] / one[1])
    lost = f"{runtime / 1e6:g} ms of every {period / 1e6:g} ms"
    waited = "whenever an ordinary thread waits for"
    paths = " ".join(f"{FAIR_SERVER}/cpu{cpu}/runtime" for cpu in cpus)
    of_cpus = f"the fair server of CPU {cpu_list_text(cpus)}" if cpus else "a fair server"
    yield exam.finding(
        Severity.RISK if served else Severity.NOTE,
        (
            Evidence(
                found=f"{of_cpus} has up to {lost}"
                f"{'' if servers else ' by default: what is set was not read'}",
                source=f"sudo grep . {paths or f'{FAIR_SERVER}/cpu*/runtime'}",
            ),
            *_polls(exam, served),
        ),
        so=f"these threads lose up to {lost} {waited} their core"
        if served
        else f"a real-time thread that polls would lose up to {lost} {waited} its core; none is "
        "known to poll",
        remedies=(_stop_serving(cpus),),
        bounds=(
            _bound(
                Limit.AT_MOST,
                runtime / period,
                "runtime / period of the fair server",
            ),
        ),
    )


def _stop_serving(cpus: Sequence[int]) -> Remedy:
    until = (
        "until the next boot (an ordinary thread that has to run there then waits for ever, "
        f"possibly one of the kernel's); {RUNTIME} no longer changes that"
    )
    if not cpus:
        return Remedy(
            text=f"where a real-time thread is to poll, write 0 to {FAIR_SERVER}/cpuN/runtime of "
            f"its CPU, {until}",
            by_hand=ByHand.WORKLOAD,
        )
    paths = [f"{FAIR_SERVER}/cpu{cpu}/runtime" for cpu in cpus]
    return Remedy(
        text=f"turn the fair servers of these CPUs off {until}",
        commands=(Command(argv=("tee", *paths), stdin="0"),),
        steps=(
            StepCall.of(
                "kernel_switch",
                paths=paths,
                value="0",
                reason="The real-time threads there keep all of their core's time.",
            ),
        ),
    )


def _bound(limit: Limit, share: float, formula: str) -> Bound:
    of = "of the time of each real-time thread that polls"
    return Bound.of_share(limit, share, of, formula)


RULE = HostRule(
    slug="kernel.realtime_throttling",
    title="Real-time threads are throttled",
    why="Linux lets real-time threads run for 950 ms of each second, so that a runaway thread "
    "does not hang the host. A thread that polls under SCHED_FIFO always reaches this limit: "
    "for 50 ms of each second nothing polls its port. Since Linux 6.12 it loses that time "
    "only if ordinary threads wait for the core, to the core's fair server, which the sysctl "
    "does not limit. Before 5.10 a core may borrow the time of others.",
    source="https://docs.kernel.org/scheduler/sched-rt-group.html; Linux 6.12, commits "
    "5f6bd380c7bd (sched/rt: Remove default bandwidth control) and *sched/fair: Fair server "
    "interface*; Linux 5.10, *sched/rt: Disable RT_RUNTIME_SHARE by default*",
    purposes=frozenset({Purpose.DPDK}),
    price="(sched_rt_period_us - sched_rt_runtime_us) / sched_rt_period_us of a polling thread's "
    "time, at most that before Linux 5.10; at most runtime / period of its core's fair server "
    "since Linux 6.12",
    check=_check,
)
