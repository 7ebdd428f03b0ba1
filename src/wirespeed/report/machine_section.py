"""What bounds the measurements of a run: its own verdicts, and what the doctor found. Pure."""

from collections import Counter

from wirespeed.model.finding import Diagnosis, Unanswered
from wirespeed.report import format as fmt
from wirespeed.report.page import DutSection, MachineSection, Run

VIRTUAL_WIRES = {"vhost", "memif", "memif-direct"}
"""As `Setup.settings["wire"]` names them."""
NO_CARD = (
    "Tester and DUT shared memory: no card, cable or PCI Express slot took part. What counts here "
    "is the CPU that each of them had, and memory."
)
WITH_CARD = (
    "The frames went through the ports named in the settings, and through what is behind them."
)


def machine_section(run: Run, answer: Diagnosis | Unanswered) -> MachineSection:
    """Sort the doctor's findings by whether they bear upon this run, and count its verdicts."""
    is_virtual = run.setup.settings.get("wire") in VIRTUAL_WIRES
    found = answer.findings if isinstance(answer, Diagnosis) else ()
    of_ports = tuple(f for f in found if is_virtual and f.where != answer.host)
    return MachineSection(
        limits=tuple(_limits(dut) for dut in run.duts if dut.results),
        about=NO_CARD if is_virtual else WITH_CARD,
        findings=tuple(f for f in found if f not in of_ports),
        aside=of_ports,
        answer=answer,
    )


def _limits(dut: DutSection) -> str:
    """`l3fwd-lpm: DUT core busy in 6 of 7 results, cannot tell in 1`."""
    counts = Counter(result.outcome.limit.by for result in dut.results).most_common()
    (first, times), *rest = counts
    total = len(dut.results)
    results = "result" if total == 1 else "results"
    words = [f"{first} in {fmt.count(times)} of {fmt.count(total)} {results}"]
    words += [f"{by} in {fmt.count(n)}" for by, n in rest]
    return f"{dut.name}: {', '.join(words)}"
