"""Frames that the kernel dropped because a CPU's backlog was full."""

from collections.abc import Iterator

from wirespeed.facts.kernel_softnet import Softnet
from wirespeed.facts.sysctl import Sysctls, sysctl_remedy
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Known, known
from wirespeed.model.rule import HostExam, HostRule
from wirespeed.model.symptom import Symptom

LIMIT = "net.core.netdev_max_backlog"


def _check(exam: HostExam) -> Iterator[Finding]:
    softnet = exam.host[Softnet].by_cpu
    dropping = [row for row in known(softnet, "what the CPUs' backlogs dropped") if row.dropped]
    if not dropping:
        return
    dropping.sort(key=lambda row: -row.dropped)
    evidence = [
        Evidence(
            found=f"CPU {row.cpu} dropped {row.dropped} and took in {row.processed} frames during "
            "the capture",
            source=softnet.source,
        )
        for row in dropping[:4]
    ]
    settings = []
    limit = exam.host[Sysctls].number(LIMIT)
    if isinstance(limit, Known):
        evidence.append(Evidence.of(limit, f"room for {limit.value} frames on each CPU"))
        settings.append((LIMIT, f"{max(4 * limit.value, 4000)}"))
    yield exam.finding(
        Severity.FAULT,
        tuple(evidence),
        so="frames are lost after the card has delivered them: one CPU gets more frames than it "
        "can process",
        remedies=(
            *([sysctl_remedy("make room for a burst", *settings)] if settings else []),
            Remedy(
                text="if the load lasts, spread it: more RSS queues, or RPS over more CPUs",
                by_hand=ByHand.FIND_FIRST,
            ),
        ),
        unpriced=f"measured: {sum(row.dropped for row in dropping)} frames dropped in the capture",
    )


RULE = HostRule(
    slug="kernel.backlog_drops",
    title="Packets dropped from a CPU's backlog queue",
    why="Frames that RPS, a veth, the loopback or a tunnel hands to a CPU wait in that CPU's "
    "backlog, which holds netdev_max_backlog frames; further frames are dropped. Frames that "
    "NAPI takes directly from a card's ring do not use the backlog, so raising the limit "
    "does not help those.",
    source="https://docs.kernel.org/admin-guide/sysctl/net.html (netdev_max_backlog); "
    "https://docs.kernel.org/networking/scaling.html (RPS)",
    shows=(Symptom.CPU_BEHIND,),
    explains=(Symptom.SEGMENTS_RESENT, Symptom.LOW_FIGURE),
    check=_check,
)
