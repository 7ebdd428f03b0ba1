"""Memory that is, or may be, swapped out."""

from collections.abc import Iterator

from wirespeed.facts.memory import Memory
from wirespeed.facts.sysctl import Sysctls, sysctl_remedy
from wirespeed.model.finding import Evidence, Finding, Severity
from wirespeed.model.observed import Known, known
from wirespeed.model.question import Purpose
from wirespeed.model.rule import HostExam, HostRule
from wirespeed.model.symptom import Symptom

NAME = "vm.swappiness"


def _check(exam: HostExam) -> Iterator[Finding]:
    memory, swappiness = exam.host[Memory], exam.host[Sysctls].number(NAME)
    swap = known(memory.swap_bytes, "how much swap there is")
    if not swap:
        return
    willing = known(swappiness, "the swappiness")
    swapped = known(memory.swapped_in_pages, "whether memory is swapped in")
    if not swapped and not willing:
        return
    kept = memory.swaps_to_memory
    zram = kept if isinstance(kept, Known) and kept.value else None
    waits = "waits until it is decompressed" if zram else "waits for the disk"
    evidence = [
        Evidence(found=f"{swap / 2**30:.1f} GiB of swap", source=memory.swap_bytes.source),
        Evidence(found=f"{NAME} is {willing}", source=swappiness.source),
    ]
    if swapped:
        evidence.append(
            Evidence(
                found=f"{swapped} pages were swapped in during the capture",
                source=memory.swapped_in_pages.source,
            )
        )
    if zram:
        evidence.append(Evidence.of(zram, "all swap is of zram, compressed memory"))
    yield exam.finding(
        Severity.RISK if swapped else Severity.NOTE,
        tuple(evidence),
        so=f"a thread whose page was swapped out {waits}: the host is short of memory"
        if swapped
        else (
            f"a thread whose page was swapped out {waits}; no page was swapped in during the "
            "capture"
        ),
        remedies=(
            sysctl_remedy(
                "keep programs in memory while the kernel can drop cached pages instead",
                (NAME, "0"),
            ),
        ),
        unpriced="each page that is decompressed takes microseconds"
        if zram
        else "each page read from disk takes up to a millisecond",
    )


RULE = HostRule(
    slug="memory.swapping",
    title="Host is swapping",
    why="A thread waits while its swapped-out page is read back, for longer than any ring can "
    "buffer. Mellanox's report sets vm.swappiness to 0: the kernel then swaps programs out "
    "only when it has no cached page left to drop.",
    source="https://docs.kernel.org/admin-guide/sysctl/vm.html (swappiness); Mellanox NIC's "
    "Performance Report with DPDK 19.08, other optimizations",
    purposes=frozenset({Purpose.DPDK, Purpose.LATENCY, Purpose.STORAGE}),
    explains=(Symptom.LOW_FIGURE,),
    check=_check,
)
