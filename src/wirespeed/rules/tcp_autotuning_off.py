"""Receive buffers that do not grow."""

from collections.abc import Iterator

from wirespeed.facts.sysctl import Sysctls, sysctl_remedy
from wirespeed.model.finding import Evidence, Finding, Severity
from wirespeed.model.observed import known
from wirespeed.model.question import Purpose
from wirespeed.model.rule import HostExam, HostRule
from wirespeed.model.symptom import Symptom

NAME = "net.ipv4.tcp_moderate_rcvbuf"


def _check(exam: HostExam) -> Iterator[Finding]:
    sysctls = exam.host[Sysctls]
    tuned = sysctls.number(NAME)
    if known(tuned, "whether receive buffers are tuned"):
        return
    sizes = sysctls.numbers("net.ipv4.tcp_rmem")
    default = known(sizes, "the size of receive buffers")[1]
    yield exam.finding(
        Severity.FAULT,
        (
            Evidence(found=f"{NAME} is 0", source=tuned.source),
            Evidence(found=f"a receive buffer has {default} bytes", source=sizes.source),
        ),
        so=f"a receiving connection never has more than {default} bytes of buffer, whatever the "
        "path needs, unless its program sets more",
        remedies=(
            sysctl_remedy(
                "let the kernel grow them up to the third number of tcp_rmem", (NAME, "1")
            ),
        ),
        unpriced="the cost depends on the round-trip time, and on the sizes that programs set",
    )


RULE = HostRule(
    slug="tcp.autotuning_off",
    title="TCP receive buffer autotuning off",
    why="The kernel starts a socket with the second number of tcp_rmem and grows it as the "
    "sender fills it. With tcp_moderate_rcvbuf off, buffer and window stay at that size.",
    source="https://docs.kernel.org/networking/ip-sysctl.html (tcp_moderate_rcvbuf)",
    purposes=frozenset({Purpose.TCP, Purpose.STORAGE}),
    explains=(Symptom.LOW_FIGURE,),
    check=_check,
)
