"""Mitigations that cost at each system call and interrupt."""

from collections.abc import Iterator

from wirespeed.facts.cpu_mitigations import SYSFS, Mitigations
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Absent, known
from wirespeed.model.question import Purpose
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule

COSTLY = {
    "Mitigation: PTI": "the page tables are changed",
    "Clear CPU buffers": "the CPU's buffers are cleared",
    "untrained return thunk": "the return predictor is made to forget",
}
"""What stands in the kernel's words, and what it does on the way into or out of the kernel."""


def _check(exam: HostExam) -> Iterator[Finding]:
    mitigations = exam.host[Mitigations].by_vulnerability
    if isinstance(mitigations, Absent):
        raise DoesNotApplyError("this kernel does not say what it mitigates")
    found = known(mitigations, "the CPU's vulnerabilities")
    costly = {
        name: what
        for name, text in sorted(found.items())
        for word, what in COSTLY.items()
        if text.startswith("Mitigation") and word in text
    }
    if not costly:
        return
    what = ", ".join(dict.fromkeys(costly.values()))
    yield exam.finding(
        Severity.NOTE,
        tuple(
            Evidence(found=f"{name}: {found[name]}", source=f"cat {SYSFS}/{name}")
            for name in costly
        ),
        so=f"between programs and the kernel {what}: each system call and interrupt costs more",
        remedies=(
            Remedy(
                text="fewer and larger system calls and interrupts (GRO, TSO, coalescing, "
                "io_uring), or a newer CPU; `mitigations=off` gives the protection up",
                by_hand=ByHand.WORKLOAD,
            ),
        ),
        unpriced="it costs by the system call and interrupt, not by the frame",
    )


RULE = HostRule(
    slug="cpu.mitigations_cost",
    title="CPU mitigations slow down system calls",
    why="Page table isolation and the clearing of buffers come with each way into and out of the "
    "kernel. Traffic in small messages pays that for each; programs that poll in user space, as "
    "DPDK's do, hardly ever. They protect: this is for knowing, not for turning off.",
    source="https://docs.kernel.org/admin-guide/hw-vuln/index.html; "
    "https://docs.kernel.org/arch/x86/pti.html",
    purposes=frozenset({Purpose.TCP, Purpose.STORAGE, Purpose.LATENCY}),
    check=_check,
)
