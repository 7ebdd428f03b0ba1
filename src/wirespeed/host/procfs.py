"""What Linux says of threads, CPUs and memory: pure parsers, and readers that only open files.

Every reader raises MeasurementError `host.unreadable` with the file's name rather than make up a
value; a thread that is gone is such a case.
"""

import os
import platform
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from wirespeed.model.error import MeasurementError
from wirespeed.model.frozen import Frozen

PROC = Path("/proc")
SYS = Path("/sys")
T = TypeVar("T")


class ThreadTimes(Frozen):
    """/proc/PID/task/TID/schedstat (kernel: Documentation/scheduler/sched-stats.rst)."""

    run_ns: int
    """Time on a CPU."""
    wait_ns: int
    """Time ready to run while another thread had the CPU."""
    slices: int
    """Times that it was put on a CPU."""


class ThreadStat(Frozen):
    """Some fields of /proc/PID/task/TID/stat, see proc(5)."""

    tid: int
    comm: str
    state: str
    last_cpu: int
    started_ticks: int
    """After boot; with the number it names a process for good."""


class HugepagePool(Frozen):
    """One size of hugepages: /sys/kernel/mm/hugepages/hugepages-<N>kB."""

    page_kib: int
    total: int
    free: int


class CpuTopology(Frozen):
    """Where a CPU sits."""

    cpu: int
    package: int
    siblings: tuple[int, ...]
    """CPUs that share its core, itself included."""
    near: tuple[int, ...] = ()
    """CPUs that share its last-level cache, itself included; empty: the kernel does not say."""


def parse_schedstat(text: str) -> ThreadTimes:
    """Three numbers: run ns, wait ns, slices."""
    fields = text.split()
    if len(fields) != 3:
        raise ValueError(f"{len(fields)} fields instead of 3")
    run_ns, wait_ns, slices = map(int, fields)
    return ThreadTimes(run_ns=run_ns, wait_ns=wait_ns, slices=slices)


def parse_stat(text: str) -> ThreadStat:
    """Parse one line; the command stands in parentheses and may hold parentheses itself."""
    tid, _, rest = text.partition(" (")
    comm, _, rest = rest.rpartition(") ")
    fields = rest.split()
    # fields[0] is field 3 of proc(5).
    return ThreadStat(
        tid=int(tid),
        comm=comm,
        state=fields[0],
        last_cpu=int(fields[39 - 3]),
        started_ticks=int(fields[22 - 3]),
    )


def parse_steal_ticks(text: str) -> dict[int, int]:
    """Steal time of each CPU in clock ticks, from /proc/stat (8th number of a `cpuN` line)."""
    steal: dict[int, int] = {}
    for line in text.splitlines():
        name, *numbers = line.split()
        if name.startswith("cpu") and name != "cpu":
            steal[int(name[3:])] = int(numbers[7])
    return steal


def parse_cpu_model(text: str) -> str | None:
    """Find the first `model name` of /proc/cpuinfo; None where the architecture gives none."""
    for line in text.splitlines():
        key, _, value = line.partition(":")
        if key.strip() == "model name":
            return value.strip()
    return None


def parse_available_kib(text: str) -> int:
    """`MemAvailable` of /proc/meminfo."""
    for line in text.splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1])
    raise ValueError("no MemAvailable")


def parse_cpu_list(text: str) -> tuple[int, ...]:
    """Parse a kernel CPU list such as `0-3,8`."""
    cpus: list[int] = []
    for part in text.strip().split(","):
        first, _, last = part.partition("-")
        cpus.extend(range(int(first), int(last or first) + 1))
    return tuple(cpus)


def read_thread_times(pid: int, tid: int, root: Path = PROC) -> ThreadTimes:
    """CPU and waiting time of a thread since it began."""
    path = root / str(pid) / "task" / str(tid) / "schedstat"
    return _parsed(path, parse_schedstat)


def read_threads(pid: int, root: Path = PROC) -> tuple[ThreadStat, ...]:
    """Read the threads of a process, by thread id; one that ends meanwhile is not among them."""
    folder = root / str(pid) / "task"
    try:
        tids = sorted(int(entry.name) for entry in folder.iterdir())
    except OSError as error:
        raise _unreadable(folder, error) from None
    threads = []
    for tid in tids:
        path = folder / str(tid) / "stat"
        try:
            threads.append(parse_stat(path.read_text(errors="replace")))
        except (FileNotFoundError, ProcessLookupError):
            continue
        except (OSError, ValueError, IndexError) as error:
            raise _unreadable(path, error) from None
    return tuple(threads)


def read_steal_ns(cpu: int, root: Path = PROC) -> int:
    """Time that the hypervisor took from `cpu` since boot, in steps of one tick (10 ms)."""
    path = root / "stat"
    steal = _parsed(path, parse_steal_ticks)
    if cpu not in steal:
        raise _unreadable(path, f"no line for cpu{cpu}")
    return steal[cpu] * 1_000_000_000 // os.sysconf("SC_CLK_TCK")


def read_cpu_model(root: Path = PROC) -> str | None:
    """Read the CPU's own name; None where it has none."""
    return _parsed(root / "cpuinfo", parse_cpu_model)


def kernel_release() -> str:
    """Such as `6.1.0-18-amd64`."""
    return platform.release()


def read_available_mib(root: Path = PROC) -> int:
    """Memory that can be had without swapping, in MiB."""
    return _parsed(root / "meminfo", parse_available_kib) // 1024


def read_hugepages(root: Path = SYS) -> tuple[HugepagePool, ...]:
    """Every size that the kernel knows; none where it was built without them."""
    folder = root / "kernel/mm/hugepages"
    if not folder.exists():
        return ()
    return tuple(
        HugepagePool(
            page_kib=int(pool.name.removeprefix("hugepages-").removesuffix("kB")),
            total=_parsed(pool / "nr_hugepages", int),
            free=_parsed(pool / "free_hugepages", int),
        )
        for pool in sorted(folder.iterdir())
    )


def read_topology(cpu: int, root: Path = SYS) -> CpuTopology:
    """Package, core siblings of a CPU, and what shares its last-level cache."""
    folder = root / f"devices/system/cpu/cpu{cpu}/topology"
    caches = root / f"devices/system/cpu/cpu{cpu}/cache"
    # index0 and index1 are the first level's; a virtual machine may show none at all.
    last = max(caches.glob("index*/shared_cpu_list"), key=_cache_level, default=None)
    return CpuTopology(
        cpu=cpu,
        package=_parsed(folder / "physical_package_id", int),
        siblings=_parsed(folder / "thread_siblings_list", parse_cpu_list),
        near=_parsed(last, parse_cpu_list) if last else (),
    )


def _cache_level(shared: Path) -> int:
    return _parsed(shared.parent / "level", int)


def usable_cpus() -> tuple[int, ...]:
    """List the CPUs that we may run on, in order."""
    return tuple(sorted(os.sched_getaffinity(0)))


def _parsed(path: Path, parse: Callable[[str], T]) -> T:
    try:
        return parse(path.read_text(errors="replace"))
    except (OSError, ValueError, IndexError) as error:
        raise _unreadable(path, error) from None


def _unreadable(path: Path, reason: object) -> MeasurementError:
    has_ended = isinstance(reason, FileNotFoundError | ProcessLookupError) and "task" in path.parts
    return MeasurementError(
        "host.unreadable",
        where=str(path),
        found=str(reason),
        next="run the command again: the process ended while it was read"
        if has_ended
        else f"run `cat {path}`: where it fails too, the kernel or a container hides this file, "
        "and another machine must measure",
    )


def describe_machine() -> dict[str, str]:
    """Describe the machine for a reader: label to value; what cannot be read says so."""
    cpus = usable_cpus()
    pools = [f"{pool.free} free of {pool.page_kib} KiB" for pool in read_hugepages()]
    return {
        "CPU": read_cpu_model() or "model name unreadable",
        "usable CPUs": f"{len(cpus)} ({', '.join(map(str, cpus))})",
        "kernel": kernel_release(),
        "hugepages": ", ".join(pools) or "none",
        "memory available": f"{read_available_mib()} MiB",
    }
