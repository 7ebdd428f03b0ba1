"""Mitigations that cost at each system call and interrupt."""

from collections.abc import Iterator

from wirespeed.facts.cpu_mitigations import SYSFS, Mitigations
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Absent, known
from wirespeed.model.question import Purpose
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule
from wirespeed.model.symptom import Symptom

COSTLY = {
    "Mitigation: PTI": "the kernel switches page tables",
    "Clear CPU buffers": "the kernel clears CPU buffers",
    "untrained return thunk": "the kernel untrains the return predictor",
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
        so=f"on each system call and interrupt {what}, which makes them slower",
        remedies=(
            Remedy(
                text="use fewer and larger system calls and interrupts (GRO, TSO, coalescing, "
                "io_uring), or a newer CPU; `mitigations=off` removes the protection",
                by_hand=ByHand.WORKLOAD,
            ),
        ),
        unpriced="the cost is per system call and interrupt, not per frame",
    )


RULE = HostRule(
    slug="cpu.mitigations_cost",
    title="CPU mitigations slow down system calls",
    why="Page table isolation and the clearing of buffers run on every entry to and exit from "
    "the kernel. Traffic in small messages pays this for every message; programs that poll "
    "in user space, such as DPDK's, hardly ever do. Mitigations protect the host: this "
    "finding is for information and does not advise turning them off.",
    source="https://docs.kernel.org/admin-guide/hw-vuln/index.html; "
    "https://docs.kernel.org/arch/x86/pti.html",
    purposes=frozenset({Purpose.TCP, Purpose.STORAGE, Purpose.LATENCY}),
    explains=(Symptom.LOW_FIGURE,),
    check=_check,
)
