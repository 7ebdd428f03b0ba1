"""tuned runs with a profile that is made to save power."""

from collections.abc import Iterator

from wirespeed.facts.tuned import Tuned
from wirespeed.model.command import Command
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Absent, Known, known
from wirespeed.model.question import Purpose
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule
from wirespeed.model.symptom import Symptom

_SAVING = (
    "balanced balanced-battery desktop desktop-powersave laptop-ac-powersave "
    "laptop-battery-powersave powersave server-powersave spindown-disk"
)
SAVING = frozenset(_SAVING.split())
"""Of tuned's own; a profile of the site's own may do anything."""
BETTER = {
    Purpose.TCP: "network-throughput",
    Purpose.STORAGE: "network-throughput",
    Purpose.LATENCY: "network-latency",
    Purpose.DPDK: "network-latency",
}


def _check(exam: HostExam) -> Iterator[Finding]:
    profiles = exam.host[Tuned].profiles
    if isinstance(profiles, Absent):
        raise DoesNotApplyError(profiles.reason)
    names = known(profiles, "the profile of tuned")
    if not isinstance(profiles, Known) or SAVING.isdisjoint(names):
        return
    purpose = exam.question.purpose
    better = BETTER.get(purpose, "network-throughput") if purpose else "network-throughput"
    cores = (
        "; for polling cores, cpu-partitioning (a package of its own), with isolated_cores in "
        "/etc/tuned/cpu-partitioning-variables.conf and a reboot"
        if purpose is Purpose.DPDK
        else ""
    )
    yield exam.finding(
        Severity.NOTE,
        (Evidence.of(profiles, f"tuned runs with profile {' '.join(names)}"),),
        so="tuned lets the CPUs clock down, and sets this again whenever it starts: a governor or "
        "sysctl that was set by hand does not last if the profile has it too",
        remedies=(
            Remedy(
                text=f"select the profile {better}, which stays after a reboot{cores}. To go back, "
                f"select {' '.join(names)} again",
                commands=(Command(argv=("tuned-adm", "profile", better)),),
                by_hand=ByHand.NO_STEP,
            ),
        ),
        unpriced="it costs where a core bounds the path: see cpu.governor_not_performance",
    )


RULE = HostRule(
    slug="tuned.profile_saves_power",
    title="Profile of tuned saves power",
    why="tuned, which Red Hat's distributions start by default, sets governor, sysctls and more "
    "from a profile when it starts, and puts back what it found when it stops or gets another "
    "profile. With balanced or powersave, CPUs clock down; network-throughput and "
    "network-latency keep them fast and set TCP's buffers, or its busy polling.",
    source="https://github.com/redhat-performance/tuned: tuned.service, tuned-main.conf "
    "(rollback), profiles/balanced, profiles/network-latency",
    purposes=frozenset({Purpose.DPDK, Purpose.TCP, Purpose.STORAGE, Purpose.LATENCY}),
    explains=(Symptom.LOW_FIGURE,),
    check=_check,
)
