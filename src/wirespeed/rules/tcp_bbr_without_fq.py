"""BBR on a kernel that needs a queueing discipline to pace for it, without one."""

from collections.abc import Iterator

from wirespeed.facts.kernel import Kernel
from wirespeed.facts.sysctl import Sysctls, sysctl_remedy
from wirespeed.model.finding import Evidence, Finding, Severity
from wirespeed.model.observed import known
from wirespeed.model.question import Purpose
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule
from wirespeed.model.symptom import Symptom

OWN_PACING = (4, 13)
"""Since then TCP paces by a timer of each socket where there is no fq."""


def _check(exam: HostExam) -> Iterator[Finding]:
    sysctls, kernel = exam.host[Sysctls], exam.host[Kernel]
    control = sysctls.text("net.ipv4.tcp_congestion_control")
    if known(control, "the congestion control") != "bbr":
        raise DoesNotApplyError("the congestion control is not BBR")
    discipline = sysctls.text("net.core.default_qdisc")
    if known(discipline, "the default queueing discipline") == "fq":
        return
    if known(kernel.version(), "the kernel's version") >= OWN_PACING:
        return
    yield exam.finding(
        Severity.RISK,
        (
            Evidence(found="congestion control bbr", source=control.source),
            Evidence(
                found=f"default queueing discipline {known(discipline, 'it')}",
                source=discipline.source,
            ),
        ),
        so="nothing paces BBR's frames, so it sends in bursts that its model does not expect",
        remedies=(
            sysctl_remedy(
                "use fq (ports that come up later have it; for an existing port: tc qdisc replace)",
                ("net.core.default_qdisc", "fq"),
            ),
        ),
        unpriced="it costs frames if a burst meets a full queue on the path",
    )


RULE = HostRule(
    slug="tcp.bbr_without_fq",
    title="BBR without the fq queueing discipline",
    why="BBR decides when each segment may leave. The fq queueing discipline enforces this for "
    "all connections with one timer. Since Linux 4.13 the kernel uses a timer per socket if "
    "there is no fq, so this is not a fault there; older kernels do not pace at all without "
    "fq.",
    source="Linux, net/ipv4/tcp_bbr.c (NOTE: BBR might be used with the fq qdisc …); tc-fq(8), "
    "https://man7.org/linux/man-pages/man8/tc-fq.8.html",
    purposes=frozenset({Purpose.TCP, Purpose.STORAGE}),
    explains=(Symptom.LOW_FIGURE,),
    check=_check,
)
