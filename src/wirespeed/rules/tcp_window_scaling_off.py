"""TCP windows that end at 64 kB."""

from collections.abc import Iterator

from wirespeed.ceilings.tcp import UNSCALED_WINDOW_BYTES
from wirespeed.facts.sysctl import WINDOW_SCALING, Sysctls, sysctl_remedy
from wirespeed.model.finding import Evidence, Finding, Severity
from wirespeed.model.observed import known
from wirespeed.model.question import Purpose
from wirespeed.model.rule import HostExam, HostRule
from wirespeed.model.symptom import Symptom


def _check(exam: HostExam) -> Iterator[Finding]:
    scaling = exam.host[Sysctls].number(WINDOW_SCALING)
    if known(scaling, "whether windows are scaled"):
        return
    rtt_s = exam.question.rtt_s
    bound = "65535 bytes per round trip"
    if rtt_s is not None:
        bound = f"{UNSCALED_WINDOW_BYTES * 8 / rtt_s / 1e9:.3g} Gb/s at {rtt_s * 1e3:g} ms"
    yield exam.finding(
        Severity.FAULT,
        (Evidence(found=f"{WINDOW_SCALING} is 0", source=scaling.source),),
        so=f"one connection carries at most {bound}, whatever its buffers",
        remedies=(
            sysctl_remedy(
                "turn window scaling on; it applies to new connections", (WINDOW_SCALING, "1")
            ),
        ),
        unpriced=f"one connection carries at most {bound}; many together may fill the link",
    )


RULE = HostRule(
    slug="tcp.window_scaling_off",
    title="TCP window scaling off",
    why="Without the window scale option a window has 16 bits, at most 65535 bytes. With a round "
    "trip of 1 ms that limits a connection to half a gigabit per second. Both ends must "
    "support the option.",
    source="RFC 7323 section 2; https://docs.kernel.org/networking/ip-sysctl.html "
    "(tcp_window_scaling)",
    purposes=frozenset({Purpose.TCP, Purpose.STORAGE}),
    explains=(Symptom.LOW_FIGURE,),
    check=_check,
)
