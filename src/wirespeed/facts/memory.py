"""Memory: hugepages by size and node, what each node has, swap, and transparent hugepages."""

import re
from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.facts.cpu import Cpus
from wirespeed.model.capture import Capture, Files
from wirespeed.model.fact import Fact, HostFacts
from wirespeed.model.observed import Absent, Known, Observed, Unreadable, read_as

ATTRIBUTES = ("nr_hugepages", "free_hugepages", "meminfo", "swaps", "enabled")
ZRAM = "/dev/zram"
"""A block device of compressed memory (admin-guide/blockdev/zram.rst)."""
POOL = re.compile(
    r"/sys/(?:kernel/mm|devices/system/node/node(\d{1,5}))/hugepages/hugepages-(\d{1,9})kB"
    r"/nr_hugepages"
)
NODE = re.compile(r"/sys/devices/system/node/node(\d{1,5})/meminfo")
MOUNT = re.compile(r"(\S+) (\S+) hugetlbfs (\S+) .*")
SIZE = re.compile(r"pagesize=(\d{1,6})([KMG])")
LARGE_BYTES = 1 << 30
UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


@dataclass(frozen=True, slots=True)
class HugepagePool:
    """Hugepages of one size, on one node or in all."""

    page_bytes: int
    numa_node: int | None
    """None: of the whole host."""
    total: Observed[int]
    free: Observed[int]


@dataclass(frozen=True, slots=True)
class HugepageMount:
    """Where hugetlbfs is mounted."""

    path: str
    page_bytes: int | None
    """None: the default size."""


@dataclass(frozen=True, slots=True)
class Memory(Fact):
    """Memory of the host."""

    pools: tuple[HugepagePool, ...]
    """Of the host and of each node, by size."""
    default_page_bytes: Observed[int]
    """Of a hugepage, where nobody says which."""
    mounts: Observed[tuple[HugepageMount, ...]]
    total_bytes: Observed[int]
    available_bytes: Observed[int]
    swap_bytes: Observed[int]
    swap_free_bytes: Observed[int]
    swaps_to_memory: Observed[bool]
    """All swap is compressed memory, of zram."""
    node_bytes: dict[int, Observed[int]]
    """Memory by NUMA node."""
    node_free_bytes: dict[int, Observed[int]]
    """What of it nothing uses, not even the page cache."""
    transparent: Observed[str]
    """Transparent hugepages: `always`, `madvise`, `never`. Absent: not built in."""
    swapped_in_pages: Observed[int]
    """Between the two readings of the capture."""

    script: ClassVar[str] = """\
memory_files() (
	set +f
	cd /sys || return
	grep -H '' "$PWD"/kernel/mm/hugepages/hugepages-*/nr_hugepages \\
		"$PWD"/kernel/mm/hugepages/hugepages-*/free_hugepages \\
		"$PWD"/devices/system/node/node[0-9]*/hugepages/hugepages-*/nr_hugepages \\
		"$PWD"/devices/system/node/node[0-9]*/hugepages/hugepages-*/free_hugepages \\
		"$PWD"/devices/system/node/node[0-9]*/meminfo /proc/meminfo /proc/swaps \\
		"$PWD"/kernel/mm/transparent_hugepage/enabled
)
show memory - memory_files
hugepage_mounts() {
	grep ' hugetlbfs ' /proc/self/mounts || [ $? = 1 ]
}
show hugepage-mounts - hugepage_mounts
swapped() {
	grep '^pswp' /proc/vmstat
}
show swapped - swapped
"""
    script_again: ClassVar[str] = "show swapped-again - swapped\n"

    def pools_of(self, numa_node: int | None) -> tuple[HugepagePool, ...]:
        """Hugepage pools of one node; None: of the whole host."""
        return tuple(pool for pool in self.pools if pool.numa_node == numa_node)

    @property
    def nodes_with_memory(self) -> int:
        """How many nodes have memory, 1 at least: that of a socket without any has 0 kB."""
        totals = self.node_bytes.values()
        return max(1, sum(not isinstance(total, Known) or total.value > 0 for total in totals))

    def pages_for_dpdk(self, page_bytes: int, numa_node: int | None = None) -> int:
        """How many hugepages of a size to reserve on one node; None: on the whole host.

        2 GiB of each node, as DPDK's guide for Linux reserves them, or 4 of the 1 GB pages; but no
        more than a quarter of the memory. 0: a quarter holds none.
        """
        nodes = 1 if numa_node is not None else self.nodes_with_memory
        wanted = nodes * max(4, (2 << 30) // page_bytes)
        total = self.total_bytes if numa_node is None else self.node_bytes.get(numa_node)
        if not isinstance(total, Known):
            return wanted
        return min(wanted, total.value // 4 // page_bytes)

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read the small files of `memory`, the mounts, and `swapped` twice."""
        files = capture.files("memory", ATTRIBUTES)
        matches = [match for path in files.paths() if (match := POOL.fullmatch(path))]
        info = files["/proc/meminfo"]
        default = _amount(info, "Hugepagesize")
        if not any(match[1] is None for match in matches) and isinstance(default, Known):
            # A kernel that has hugepages has this pool: it is not there, as it was not read.
            path = f"/sys/kernel/mm/hugepages/hugepages-{default.value >> 10}kB/nr_hugepages"
            matches += [match] if (match := POOL.fullmatch(path)) else []
        return cls(
            pools=tuple(_pool(match, files) for match in matches),
            default_page_bytes=default,
            mounts=read_as(
                capture.text("hugepage-mounts", "grep hugetlbfs /proc/self/mounts"), _mounts
            ),
            total_bytes=_amount(info, "MemTotal"),
            available_bytes=_amount(info, "MemAvailable"),
            swap_bytes=_amount(info, "SwapTotal"),
            swap_free_bytes=_amount(info, "SwapFree"),
            swaps_to_memory=read_as(files["/proc/swaps"], _is_zram),
            node_bytes={
                int(match[1]): _amount(files[path], "MemTotal")
                for path in files.paths()
                if (match := NODE.fullmatch(path))
            },
            node_free_bytes={
                int(match[1]): _amount(files[path], "MemFree")
                for path in files.paths()
                if (match := NODE.fullmatch(path))
            },
            transparent=read_as(files["/sys/kernel/mm/transparent_hugepage/enabled"], _chosen),
            swapped_in_pages=_swapped_in(capture),
        )


def has_gigabyte_pages(host: HostFacts) -> Observed[bool]:
    """Whether the kernel can have hugepages of 1 GB.

    An x86 CPU says so, `pdpe1gb`. Else a pool of them does: Arm has one with pages of 4 kB, and
    none with 64 kB (hugetlbpage_init() of arch/arm64/mm/hugetlbpage.c).
    """
    flags = host[Cpus].flags
    if isinstance(flags, Known):
        is_arm = host[Cpus].is_arm
        has_pool = any(pool.page_bytes == LARGE_BYTES for pool in host[Memory].pools_of(None))
        pools = "ls /sys/kernel/mm/hugepages"
        return Known(has_pool, pools) if is_arm else Known("pdpe1gb" in flags.value, flags.source)
    return flags


def _pool(match: re.Match[str], files: Files) -> HugepagePool:
    folder = match[0].removesuffix("nr_hugepages")
    return HugepagePool(
        page_bytes=int(match[2]) << 10,
        numa_node=None if match[1] is None else int(match[1]),
        total=read_as(files[f"{folder}nr_hugepages"], int),
        free=read_as(files[f"{folder}free_hugepages"], int),
    )


def _amount(info: Observed[str], name: str) -> Observed[int]:
    """Bytes of a line of meminfo, `MemTotal: 5 kB` or `Node 0 MemTotal: 5 kB`."""
    if not isinstance(info, Known):
        return info
    match = re.search(rf"^(?:Node \d+ )?{name}: +(\d{{1,15}}) kB$", info.value, re.M)
    source = f"grep {name} {info.source.removeprefix('cat ')}"
    if match is None:
        return Absent(source, f"it has no {name}")
    return Known(int(match[1]) << 10, source)


def _is_zram(text: str) -> bool:
    """Whether every line but the heading is of zram; a host without swap has none."""
    paths = [line.split(maxsplit=1)[0] for line in text.splitlines()[1:] if line.strip()]
    return bool(paths) and all(path.startswith(ZRAM) for path in paths)


def _mounts(text: str) -> tuple[HugepageMount, ...]:
    found = []
    for line in text.splitlines():
        if match := MOUNT.fullmatch(line):
            size = SIZE.search(match[3])
            found.append(HugepageMount(match[2], int(size[1]) * UNITS[size[2]] if size else None))
    return tuple(found)


def _chosen(text: str) -> str:
    match = re.search(r"\[(\w+)\]", text)
    if match is None:
        raise ValueError(f"{text[:40]!r} has no choice in brackets")
    return match[1]


def _swapped_in(capture: Capture) -> Observed[int]:
    source = "grep '^pswpin' /proc/vmstat"
    counts = []
    for name in ("swapped", "swapped-again"):
        text = capture.text(name, source)
        count = read_as(text, _pages_in)
        if not isinstance(count, Known):
            return count
        counts.append(count.value)
    if counts[1] < counts[0]:
        return Unreadable("the counter went back", source)
    return Known(counts[1] - counts[0], source)


def _pages_in(text: str) -> int:
    match = re.search(r"^pswpin (\d{1,20})$", text, re.M)
    if match is None:
        raise ValueError("it has no pswpin")
    return int(match[1])
