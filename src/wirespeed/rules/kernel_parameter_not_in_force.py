"""A parameter on the kernel's command line that the kernel did not take, or took in part."""

import re
from collections.abc import Iterator

from wirespeed.facts.cpu import Cpus
from wirespeed.facts.cpu_list import cpu_list_text
from wirespeed.facts.kernel import CommandLine, Kernel
from wirespeed.facts.kernel_boot import boot_remedy
from wirespeed.facts.memory import Memory
from wirespeed.model.bound import Bound, Limit
from wirespeed.model.command import Command
from wirespeed.model.finding import ByHand, Danger, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Absent, CannotTellError, known, value_or_none
from wirespeed.model.rule import HostExam, HostRule
from wirespeed.model.symptom import Symptom

SIZE = re.compile(r"(\d{1,10})([KMG])", re.I)
UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
COUNT = re.compile(r"\d{1,10}")
PER_NODE = re.compile(r"(?:\d{1,4}:\d{1,10},?)+")
"""`hugepages=0:8,1:8`, from Linux 5.16 on."""
MISSING = "1 - hugepages that are there / hugepages that are reserved"
LOG = Command(argv=("dmesg", "-T"))
SEE_LOG = Remedy(
    text="look in the log of the boot for why the kernel ignored the parameter",
    commands=(LOG,),
    by_hand=ByHand.FIND_FIRST,
)
SIZES = Command(argv=("ls", "/sys/kernel/mm/hugepages"))


def _check(exam: HostExam) -> Iterator[Finding]:
    kernel = exam.host[Kernel]
    line = known(kernel.command_line, "the kernel's command line")
    yield from _isolated(exam, line)
    yield from _tickless(exam, line)
    yield from _hugepages(exam, line)


def _asked(exam: HostExam, line: CommandLine, name: str) -> frozenset[int]:
    """CPUs that are named and online; the first one stays the kernel's own whatever is asked."""
    try:
        named = line.cpus(name)
    except ValueError as error:
        raise CannotTellError(f"{name}: {error}", exam.host[Kernel].command_line.source) from None
    return named & known(exam.host[Cpus].online, "which CPUs are online") if named else named


def _isolated(exam: HostExam, line: CommandLine) -> Iterator[Finding]:
    value = line.last("isolcpus") or ""
    flags = [word for word in value.split(",") if word.isidentifier()]
    asked = _asked(exam, line, "isolcpus")
    # Without flags `domain` is meant; with others alone, the scheduler keeps these CPUs.
    if not asked or (flags and "domain" not in flags):
        return
    isolated = exam.host[Cpus].isolated_at_boot
    if asked & known(isolated, "which CPUs are isolated"):
        return
    reasons = []
    if flags:
        reasons.append(f"a flag that this kernel does not know (of {', '.join(flags)})")
    if line.cpus("isolcpus") - asked:
        reasons.append("a CPU that does not exist")
    void = f": {' or '.join(reasons)} voids the whole parameter" if reasons else ""
    chosen = cpu_list_text(asked)
    yield _finding(
        exam,
        f"isolcpus={value}",
        Evidence(found="none of these CPUs is isolated", source=isolated.source),
        f"the scheduler places other threads on CPUs that should be kept free{void}",
        boot_remedy(
            exam.host[Kernel],
            "name only CPUs that exist, without flags",
            "isolated",
            f"isolcpus={chosen}",
        )
        if reasons
        else SEE_LOG,
    )


def _tickless(exam: HostExam, line: CommandLine) -> Iterator[Finding]:
    asked = _asked(exam, line, "nohz_full")
    tickless = exam.host[Cpus].nohz_full
    if not asked or asked & (value_or_none(tickless) or frozenset()):
        return
    yield _finding(
        exam,
        f"nohz_full={line.last('nohz_full')}",
        Evidence(found="no CPU is tickless", source=tickless.source),
        "the timer interrupts a thread on these CPUs 100 to 1000 times a second",
        Remedy(
            text="boot a kernel that was built with CONFIG_NO_HZ_FULL: the running one was not, as "
            "it has no such file",
            danger=Danger.REBOOT,
            by_hand=ByHand.SOFTWARE,
        )
        if isinstance(tickless, Absent)
        else SEE_LOG,
    )


def _hugepages(exam: HostExam, line: CommandLine) -> Iterator[Finding]:
    memory = exam.host[Memory]
    for size, (word, count) in _wanted(memory, line).items():
        pool = next((one for one in memory.pools_of(None) if one.page_bytes == size), None)
        source = f"ls /sys/kernel/mm/hugepages/hugepages-{size >> 10}kB"
        if pool is None:
            known(memory.default_page_bytes, "the sizes of hugepages")
            for one in memory.pools_of(None):
                known(one.total, "the pools of hugepages")
            total = 0
            seen = Evidence(found=f"no pool of {_shown(size)} pages", source=source)
            so = f"programs find no hugepages of {_shown(size)}: this CPU or kernel has none"
            advice, command = "reserve pages of a size that it has", SIZES
        else:
            total = known(pool.total, f"hugepages of {_shown(size)}")
            if total >= count:
                continue
            found = f"{total} of {count} pages of {_shown(size)}"
            seen = Evidence(found=found, source=pool.total.source)
            so = (
                "programs find fewer hugepages than the command line reserves: memory was short or "
                "fragmented at boot, or pages were released since"
            )
            advice, command = (
                "look in the log of the boot (lines with HugeTLB) for what was allocated; then "
                "reserve fewer pages",
                LOG,
            )
        yield _finding(
            exam,
            word,
            seen,
            so,
            Remedy(text=advice, commands=(command,), by_hand=ByHand.FIND_FIRST),
            Bound.of_share(Limit.EXACTLY, 1 - total / count, "of the reserved hugepages", MISSING),
        )


def _shown(page_bytes: int) -> str:
    if page_bytes < UNITS["M"]:
        return f"{page_bytes >> 10} kB"
    return f"{page_bytes >> 20} MB"


def _wanted(memory: Memory, line: CommandLine) -> dict[int, tuple[str, int]]:
    """Bytes of a page to the words and the count: `hugepagesz` stands before its `hugepages`."""
    default = _bytes(line.last("default_hugepagesz") or "")
    size, before, found = default, "", dict[int, tuple[str, int]]()
    for name, value in line.parameters:
        if name == "hugepagesz":
            size, before = _bytes(value), f"hugepagesz={value} "
        elif name == "hugepages" and (count := _count(value)):
            own = size or (0 if before else known(memory.default_page_bytes, "a hugepage's size"))
            if own:
                found[own] = (f"{before}hugepages={value}", count)
    return found


def _bytes(text: str) -> int:
    match = SIZE.fullmatch(text)
    return int(match[1]) * UNITS[match[2].upper()] if match else 0


def _count(text: str) -> int:
    if PER_NODE.fullmatch(text):
        return sum(int(part.partition(":")[2]) for part in text.split(",") if part)
    return int(text) if COUNT.fullmatch(text) else 0


def _finding(
    exam: HostExam, word: str, seen: Evidence, so: str, remedy: Remedy, *bounds: Bound
) -> Finding:
    asked = Evidence(found=word, source=exam.host[Kernel].command_line.source)
    return exam.finding(
        Severity.RISK,
        (asked, seen),
        so=so,
        remedies=(remedy,),
        bounds=bounds,
        unpriced="the cost depends on the program that relies on the parameter: measure it before "
        "and after",
    )


RULE = HostRule(
    slug="kernel.parameter_not_in_force",
    title="Kernel parameter given, but not in force",
    why="The kernel ignores a parameter that it cannot use, logs one line and continues to boot; "
    "the line is soon lost. One flag that an older kernel does not know voids the whole isolcpus; "
    "nohz_full needs a kernel built for it; hugepages are allocated only as far as memory allows.",
    source="https://docs.kernel.org/admin-guide/kernel-parameters.html (isolcpus=, nohz_full=, "
    "hugepages=); housekeeping_isolcpus_setup() in kernel/sched/isolation.c; "
    "https://lore.kernel.org/lkml/20200403223517.406353-1-peterx@redhat.com/",
    price=f"exactly, for hugepages: {MISSING}",
    shows=(Symptom.REBOOT_PENDING,),
    check=_check,
)
