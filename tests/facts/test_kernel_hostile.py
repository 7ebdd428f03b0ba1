"""No fact of a host's kernel, CPUs or memory raises, whatever the host printed."""

import os
import platform
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wirespeed.doctor.collector import collector_script
from wirespeed.facts.cpu import Cpus
from wirespeed.facts.cpu_mitigations import Mitigations
from wirespeed.facts.cpu_power import CpuPower
from wirespeed.facts.cpu_realtime import RealtimeThreads
from wirespeed.facts.iommu import Iommu
from wirespeed.facts.kernel import Kernel
from wirespeed.facts.kernel_softnet import Softnet
from wirespeed.facts.kernel_tcp import TcpCounts
from wirespeed.facts.memory import Memory
from wirespeed.facts.sysctl import Sysctls
from wirespeed.facts.virtualization import Virtualization
from wirespeed.facts.virtualization_wsl import Wsl
from wirespeed.model.capture import Capture, Section, parse_capture
from wirespeed.model.fact import Fact
from wirespeed.model.observed import Known

FACTS: tuple[type[Fact], ...] = (
    Cpus, CpuPower, Iommu, Kernel, Memory, Mitigations, RealtimeThreads, Softnet, Sysctls,
    TcpCounts, Virtualization, Wsl,
)  # fmt: skip
SECTIONS = (
    "cpu", "cpuinfo", "cpu-power", "idle-usage", "idle-usage-again", "threads", "threads-again",
    "thread-status", "iommu", "kernel", "softnet", "softnet-again", "tcp-counts",
    "tcp-counts-again", "bbr-module", "memory", "hugepage-mounts", "swapped", "swapped-again",
    "sysctl", "vulnerabilities", "virtualization", "detect-virt", "wsl-mode", "wsl-conf",
)  # fmt: skip
STARTS = st.sampled_from(
    [
        "", "/sys/devices/system/cpu/online:", "/sys/devices/system/node/node0/cpulist:",
        "/sys/devices/system/cpu/cpu0/topology/thread_siblings_list:", "cpu MHz\t: ", "flags : ",
        "/sys/devices/system/cpu/cpufreq/policy0/scaling_governor:",
        "/sys/devices/system/cpu/cpufreq/policy0/related_cpus:",
        "/sys/devices/system/cpu/cpu0/cpuidle/state0/disable:",
        "/sys/devices/system/cpu/cpu0/cpuidle/state0/latency:",
        "/sys/devices/system/cpu/cpu0/cpuidle/state0/usage:", "uptime ", "Tcp: ", "pswpin ",
        "/proc/1/task/1/stat:1 (a) R ", "0000:3b:00.0 group=", "groups ", "unit ",
        "/proc/cmdline:", "/proc/sys/kernel/osrelease:", "/etc/os-release:PRETTY_NAME=",
        "/proc/meminfo:MemTotal: ", "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages:",
        "none /mnt hugetlbfs pagesize=", "/proc/sys/net/ipv4/tcp_rmem:", "/etc/wsl.conf:",
    ]
)  # fmt: skip
ENDS = st.text(max_size=40) | st.sampled_from(
    [
        "-1",
        "0-",
        "9" * 30,
        "0-99999",
        "nan",
        "inf",
        "1 2 3",
        "ffffffff 0 0",
        "1.5",
        " kB",
        "\x1b[31m",
    ]
)
LINES = st.lists(st.tuples(STARTS, ENDS).map("".join), max_size=6).map("\n".join)


@given(st.dictionaries(st.sampled_from(SECTIONS), LINES, min_size=1), st.sampled_from([0, 1, None]))
@settings(max_examples=300, deadline=None)
def test_no_text_makes_a_parser_raise(texts: dict[str, str], code: int | None):
    capture = Capture(
        [Section(name, "", text, "", code) for name, text in texts.items()], complete=True
    )
    for fact in FACTS:
        fact.parse(capture)


@pytest.mark.parametrize("shell", ["sh", "bash"])
def test_this_machine_is_read_as_it_is(shell: str):
    done = subprocess.run(
        [shell, "-c", collector_script()], capture_output=True, text=True, check=True, timeout=60
    )
    capture = parse_capture(done.stdout, "here")
    assert Kernel.parse(capture).release == Known(
        platform.release(), "cat /proc/sys/kernel/osrelease"
    )
    assert len(Cpus.parse(capture).by_number) == os.cpu_count()
    total = Memory.parse(capture).total_bytes
    assert isinstance(total, Known)
    assert total.value == os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
