"""The CPUs: which are online, how they share cores, packages and NUMA nodes, and their clock."""

import re
from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.facts.cpu_list import parse_cpu_list
from wirespeed.model.capture import Capture, Files
from wirespeed.model.fact import Fact
from wirespeed.model.observed import Absent, Known, Observed, Unreadable, known, read_as

SYSFS = "/sys/devices/system"
PARTITIONS = "/sys/fs/cgroup/cpuset.cpus.isolated"
"""Of the root of control groups version 2, since Linux 6.7 (admin-guide/cgroup-v2.rst)."""
ATTRIBUTES = (
    "online", "isolated", "nohz_full", "cpulist", "core_id", "physical_package_id",
    "thread_siblings_list", "cpuinfo_max_freq", "base_frequency", "cpuset.cpus.isolated",
)  # fmt: skip
ONE_CPU = re.compile(r"/sys/devices/system/cpu/cpu(\d{1,5})/topology/")
ONE_NODE = re.compile(r"/sys/devices/system/node/node(\d{1,5})/cpulist")
MAX_HZ = 10**12
"""No clock is that fast: a file that says so is damaged."""


@dataclass(frozen=True, slots=True)
class Cpu:
    """One logical CPU that is online."""

    number: int
    core_id: Observed[int]
    """Unique only within its package."""
    package: Observed[int]
    """The socket."""
    numa_node: Observed[int]
    """Absent where the kernel knows no nodes."""
    smt_siblings: Observed[frozenset[int]]
    """CPUs of the same core, itself among them."""
    max_hz: Observed[int]
    """Of the hardware, turbo included. Absent without cpufreq, as in most guests."""


@dataclass(frozen=True, slots=True)
class Cpus(Fact):
    """Every CPU that is online, and what the kernel keeps off some of them."""

    by_number: dict[int, Cpu]
    """Online ones only, lowest number first."""
    online: Observed[frozenset[int]]
    nodes: Observed[dict[int, frozenset[int]]]
    """Online CPUs by NUMA node, a node of memory alone with none. Absent: no nodes."""
    isolated: Observed[frozenset[int]]
    """Kept free of the scheduler's load balancing: `isolcpus=`, or a cpuset's partition."""
    isolated_at_boot: Observed[frozenset[int]]
    """Those of `isolcpus=` alone, where the kernel tells them from a partition's."""
    nohz_full: Observed[frozenset[int]]
    """Without a tick while one task runs. Absent: a kernel without CONFIG_NO_HZ_FULL."""
    model_name: Observed[str]
    """As the first CPU has it."""
    base_hz: Observed[int]
    """Of the first CPU, without turbo. Absent: only intel_pstate tells."""
    current_hz: Observed[int]
    """Of the first CPU at the moment of the capture."""
    flags: Observed[frozenset[str]]
    """Features of the first CPU, as `avx2`, `hypervisor`, `constant_tsc`."""

    script: ClassVar[str] = f"""\
cpu_files() (
	set +f
	cd /sys/devices/system || return
	set -- "$PWD"/node/node[0-9]*
	[ -d "$1" ] || set -- "$PWD/node/node0"
	for path in "$@"; do
		paths="$paths $path/cpulist"
	done
	for path in "$PWD"/cpu/cpu[0-9]*; do
		paths="$paths $path/topology/core_id $path/topology/physical_package_id"
		paths="$paths $path/topology/thread_siblings_list $path/cpufreq/cpuinfo_max_freq"
	done
	cd cpu && grep -H '' "$PWD/online" "$PWD/isolated" "$PWD/nohz_full" \\
		"$PWD/cpu0/cpufreq/base_frequency" {PARTITIONS} $paths
)
paths=
show cpu - cpu_files

first_cpu() {{
	while read -r line && [ -n "$line" ]; do
		printf '%s\\n' "$line"
	done </proc/cpuinfo
}}
show cpuinfo - first_cpu
"""

    def of_node(self, numa_node: int) -> Observed[frozenset[int]]:
        """Give the online CPUs of a node; Absent for -1 and where there are no nodes."""
        if not isinstance(self.nodes, Known):
            return self.nodes
        cpus = self.nodes.value.get(numa_node)
        source = f"cat {SYSFS}/node/node{max(numa_node, 0)}/cpulist"
        if cpus is None:
            return Absent(source, f"there is no NUMA node {numa_node}")
        return Known(cpus, source)

    @property
    def is_arm(self) -> bool:
        """Whether the first CPU is known for an Arm of 64 bits: `asimd` is among its features."""
        return isinstance(self.flags, Known) and "asimd" in self.flags.value

    def cores(self) -> int:
        """Count the physical cores online. Raises CannotTellError where siblings are not known."""
        return len(
            {
                known(cpu.smt_siblings, f"which CPUs share a core with CPU {cpu.number}")
                for cpu in self.by_number.values()
            }
        )

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read `cpu` (small files) and `cpuinfo` (the first CPU's lines of /proc/cpuinfo)."""
        files = capture.files("cpu", ATTRIBUTES)
        nodes = _nodes(files)
        online = read_as(files[f"{SYSFS}/cpu/online"], parse_cpu_list)
        at_boot = read_as(files[f"{SYSFS}/cpu/isolated"], _cpus_or_none)
        partitions = read_as(files[PARTITIONS], parse_cpu_list)
        first = _first_cpu(capture)
        return cls(
            by_number={n: _cpu(n, files, nodes) for n in _numbers(online, files)},
            online=online,
            nodes=nodes,
            isolated=_isolated(at_boot, partitions),
            isolated_at_boot=at_boot,
            nohz_full=read_as(files[f"{SYSFS}/cpu/nohz_full"], _cpus_or_none),
            model_name=first.get("model name", "Model Name"),
            base_hz=read_as(files[f"{SYSFS}/cpu/cpu0/cpufreq/base_frequency"], _hz_of_khz),
            current_hz=read_as(first.get("cpu MHz"), _hz_of_mhz),
            flags=read_as(first.get("flags", "Features"), lambda text: frozenset(text.split())),
        )


def _isolated(
    at_boot: Observed[frozenset[int]], partitions: Observed[frozenset[int]]
) -> Observed[frozenset[int]]:
    """Add the partitions' CPUs, which the kernel's own list leaves out (drivers/base/cpu.c)."""
    if not (isinstance(at_boot, Known) and isinstance(partitions, Known) and partitions.value):
        return at_boot
    if partitions.value <= at_boot.value:
        return at_boot
    return Known(at_boot.value | partitions.value, f"cat {SYSFS}/cpu/isolated {PARTITIONS}")


def _numbers(online: Observed[frozenset[int]], files: Files) -> list[int]:
    if isinstance(online, Known):
        return sorted(online.value)
    return sorted({int(match[1]) for path in files.paths() if (match := ONE_CPU.match(path))})


def _nodes(files: Files) -> Observed[dict[int, frozenset[int]]]:
    nodes: dict[int, frozenset[int]] = {}
    for path in files.paths():
        if match := ONE_NODE.fullmatch(path):
            cpus = read_as(files[path], parse_cpu_list)
            if not isinstance(cpus, Known):
                return cpus
            nodes[int(match[1])] = cpus.value
    if nodes:
        return Known(nodes, f"grep . {SYSFS}/node/node*/cpulist")
    return read_as(files[f"{SYSFS}/node/node0/cpulist"], lambda text: {0: parse_cpu_list(text)})


def _cpu(number: int, files: Files, nodes: Observed[dict[int, frozenset[int]]]) -> Cpu:
    path = f"{SYSFS}/cpu/cpu{number}"
    return Cpu(
        number=number,
        core_id=read_as(files[f"{path}/topology/core_id"], int),
        package=read_as(files[f"{path}/topology/physical_package_id"], int),
        numa_node=_node_of(number, nodes),
        smt_siblings=read_as(files[f"{path}/topology/thread_siblings_list"], _siblings),
        max_hz=read_as(files[f"{path}/cpufreq/cpuinfo_max_freq"], _hz_of_khz),
    )


def _node_of(number: int, nodes: Observed[dict[int, frozenset[int]]]) -> Observed[int]:
    if not isinstance(nodes, Known):
        return nodes
    for node, cpus in nodes.value.items():
        if number in cpus:
            return Known(node, f"ls -d {SYSFS}/cpu/cpu{number}/node*")
    return Absent(nodes.source, f"no NUMA node has CPU {number}")


def _siblings(text: str) -> frozenset[int]:
    cpus = parse_cpu_list(text)
    if not cpus:
        raise ValueError("a core without CPUs")
    return cpus


def _cpus_or_none(text: str) -> frozenset[int]:
    """`(null)` is what a kernel prints for nohz_full where the parameter is not given."""
    return parse_cpu_list(text.replace("(null)", ""))


def _hz_of_khz(text: str) -> int:
    hertz = int(text) * 1000
    if not 0 < hertz < MAX_HZ:
        raise ValueError(f"{text!r} kHz")
    return hertz


def _hz_of_mhz(text: str) -> int:
    if not re.fullmatch(r"\d{1,6}(\.\d{1,6})?", text) or not float(text):
        raise ValueError(f"{text!r} MHz")
    return round(float(text) * 1e6)


@dataclass(frozen=True, slots=True)
class _FirstCpu:
    """The lines of the first CPU in /proc/cpuinfo; their names differ by architecture."""

    lines: Observed[dict[str, str]]

    def get(self, *names: str) -> Observed[str]:
        if not isinstance(self.lines, Known):
            return self.lines
        for name in names:
            if name in self.lines.value:
                return Known(self.lines.value[name], f"grep -m 1 '{name}' /proc/cpuinfo")
        if not self.lines.value:
            return Unreadable("/proc/cpuinfo is empty", "cat /proc/cpuinfo")
        return Absent(f"grep -m 1 '{names[0]}' /proc/cpuinfo", "no such line")


def _first_cpu(capture: Capture) -> _FirstCpu:
    def lines(text: str) -> dict[str, str]:
        pairs = (line.partition(":") for line in text.splitlines())
        return {name.strip(): value.strip() for name, colon, value in pairs if colon}

    return _FirstCpu(read_as(capture.text("cpuinfo", "cat /proc/cpuinfo"), lines))
