"""Real-time threads that poll, under a limit on how long real-time threads may run."""

from collections.abc import Iterator

from wirespeed.facts.cpu_realtime import RealtimeThreads
from wirespeed.facts.kernel import Kernel
from wirespeed.facts.sysctl import Sysctls, sysctl_remedy
from wirespeed.model.bound import Bound, Limit
from wirespeed.model.ceiling import Input
from wirespeed.model.finding import Evidence, Finding, Severity
from wirespeed.model.observed import Known, known
from wirespeed.model.question import Purpose
from wirespeed.model.rule import HostExam, HostRule

RUNTIME = "kernel.sched_rt_runtime_us"
PERIOD = "kernel.sched_rt_period_us"
WITHOUT_THROTTLING = (6, 12)
"""Since then, others get the rest of the period only if they wait for it: the fair server."""
POLLS = 0.9
"""A thread that runs for more of the time does not wait for work."""


def _check(exam: HostExam) -> Iterator[Finding]:
    sysctls, kernel = exam.host[Sysctls], exam.host[Kernel]
    runtime = known(sysctls.number(RUNTIME), "the limit on real-time threads")
    period = known(sysctls.number(PERIOD), "the period of that limit")
    if runtime < 0 or runtime >= period:
        return
    version = known(kernel.version(), "the kernel's version")
    threads = known(exam.host[RealtimeThreads].threads, "which threads are real-time")
    polling = [
        thread
        for thread in threads
        if isinstance(thread.cpu_share, Known) and thread.cpu_share.value > POLLS
    ]
    lost = f"{(period - runtime) / 1000:g} ms of every {period / 1000:g} ms"
    only_if_waited_for = version >= WITHOUT_THROTTLING
    if not polling:
        severity = Severity.NOTE
        when = " whenever an ordinary thread waits for its core" if only_if_waited_for else ""
        so = f"a real-time thread that polls would lose up to {lost}{when}; none is known to poll"
    elif only_if_waited_for:
        severity = Severity.RISK
        so = f"these threads lose up to {lost} whenever an ordinary thread waits for their core"
    else:
        severity = Severity.FAULT
        so = f"the kernel stops these threads for {lost}, and their rings overflow meanwhile"
    yield exam.finding(
        severity,
        (
            Evidence(found=f"{runtime} of {period} us", source=f"sysctl {RUNTIME}"),
            *(
                Evidence(
                    found=f"{thread.name} polls under {thread.policy}",
                    source=f"chrt -p {thread.tid}",
                )
                for thread in polling[:8]
            ),
        ),
        so=so,
        remedies=(
            sysctl_remedy(
                "remove the limit (a runaway real-time thread can then block its core for ever)",
                (RUNTIME, "-1"),
            ),
        ),
        bounds=(
            Bound.of_share(
                Limit.EXACTLY if severity is Severity.FAULT else Limit.AT_MOST,
                (period - runtime) / period,
                "of the time of each real-time thread that polls",
                "(sched_rt_period_us - sched_rt_runtime_us) / sched_rt_period_us",
                Input(name="runtime", shown=f"{runtime} us", source=f"sysctl {RUNTIME}"),
                Input(name="period", shown=f"{period} us", source=f"sysctl {PERIOD}"),
            ),
        ),
    )


RULE = HostRule(
    slug="kernel.realtime_throttling",
    title="Real-time threads are throttled",
    why="Linux lets real-time threads run for 950 ms of each second, so that a runaway thread "
    "does not hang the host. A thread that polls under SCHED_FIFO always reaches this limit: "
    "for 50 ms of each second nothing polls its port. Since Linux 6.12 it loses that time "
    "only if ordinary threads wait for the core.",
    source="https://docs.kernel.org/scheduler/sched-rt-group.html; Linux 6.12, commit 5f6bd380c7bd "
    "(sched/rt: Remove default bandwidth control)",
    purposes=frozenset({Purpose.DPDK}),
    price="(sched_rt_period_us - sched_rt_runtime_us) / sched_rt_period_us of a polling thread's "
    "time; at most that since Linux 6.12",
    check=_check,
)
