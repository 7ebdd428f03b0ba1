"""Isolated CPUs that run RCU's callbacks themselves."""

from collections.abc import Iterator

from wirespeed.facts.cpu import Cpus
from wirespeed.facts.cpu_list import cpu_list_text
from wirespeed.facts.kernel import Kernel
from wirespeed.facts.kernel_boot import boot_remedy
from wirespeed.model.finding import Evidence, Finding, Severity
from wirespeed.model.observed import CannotTellError, known, value_or_none
from wirespeed.model.question import Purpose
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule


def _check(exam: HostExam) -> Iterator[Finding]:
    cpus, kernel = exam.host[Cpus], exam.host[Kernel]
    isolated = known(cpus.isolated, "which CPUs are isolated")
    if not isolated:
        raise DoesNotApplyError("no CPU is isolated: see cpu.not_isolated")
    command_line = known(kernel.command_line, "the kernel's command line")
    if command_line.last("rcu_nocbs") == "all":
        return
    try:
        offloaded = command_line.cpus("rcu_nocbs")
    except ValueError as error:
        raise CannotTellError(f"rcu_nocbs: {error}", kernel.command_line.source) from None
    # nohz_full takes the callbacks away too: kernel-parameters, nohz_full=.
    own = isolated - offloaded - (value_or_none(cpus.nohz_full) or frozenset())
    if not own:
        return
    yield exam.finding(
        Severity.NOTE,
        (
            Evidence(found=f"{cpu_list_text(isolated)} are isolated", source=cpus.isolated.source),
            Evidence(
                found=f"rcu_nocbs={cpu_list_text(offloaded)}" if offloaded else "no rcu_nocbs",
                source=kernel.command_line.source,
            ),
        ),
        so=f"RCU callbacks run in a softirq on CPUs {cpu_list_text(own)} and interrupt the polling",
        remedies=(
            boot_remedy(
                kernel,
                "move the callbacks to other cores",
                "rcu",
                f"rcu_nocbs={cpu_list_text(isolated)}",
            ),
        ),
        unpriced="a batch of callbacks takes microseconds: it shows in the highest latencies only",
    )


RULE = HostRule(
    slug="cpu.rcu_callbacks_on_isolated",
    title="Isolated CPUs without rcu_nocbs",
    why="The kernel frees memory in batches of RCU callbacks, in a softirq of the core that "
    "queued them. rcu_nocbs moves them to threads that may run on other cores, which removes "
    "that jitter from the isolated cores; nohz_full does the same for its cores.",
    source="https://docs.kernel.org/admin-guide/kernel-parameters.html (rcu_nocbs=, nohz_full=)",
    purposes=frozenset({Purpose.DPDK}),
    check=_check,
)
