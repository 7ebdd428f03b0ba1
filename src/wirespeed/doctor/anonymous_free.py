"""What people called things where no pattern knows a name: kept is what is known to be harmless.

The kernel's command line, other names of netdevs, paths outside the system's own. All else of these
is replaced. Pure.
"""

import re
from collections.abc import Callable

from wirespeed.doctor.anonymous_names import is_plain_netdev

Name = Callable[[str, str], str]
"""Gives what stands for a text, by its kind: `value`, `path`."""

LONGEST_WORD = 4096
"""No tool prints a word of that length; searches in one would take the square of it."""
LONG_WORD = re.compile(rf"(?<![\w.+@/:=-])[\w.+@/:=-]{{{LONGEST_WORD},}}")

COMMAND_LINE = re.compile(r"(?m)^(/proc/cmdline:)(.*)$")
PARAMETER = re.compile(r'(?:[^\s"]|"[^"]*(?:"|$))+')
NAMED = (
    "ro rw quiet splash nomodeset nokaslr nosmt nopti pti nosoftlockup nowatchdog "
    "nmi_watchdog watchdog isolcpus nohz nohz_full rcu_nocbs rcu_nocb_poll irqaffinity "
    "kthread_cpus threadirqs skew_tick iommu iommu.passthrough iommu.strict intel_iommu "
    "amd_iommu hugepages hugepagesz default_hugepagesz transparent_hugepage hugetlb_cma "
    "mitigations spectre_v2 spec_store_bypass_disable l1tf mds tsx tsx_async_abort retbleed "
    "intel_pstate amd_pstate intel_idle.max_cstate processor.max_cstate cpuidle.off "
    "cpuidle.governor cpufreq.off cpufreq.default_governor idle tsc clocksource pci pcie_aspm "
    "pcie_aspm.policy pcie_ports numa_balancing numa mce audit selinux apparmor security "
    "crashkernel preempt swiotlb console earlyprintk net.ifnames biosdevname "
    "vfio_iommu_type1.allow_unsafe_interrupts vfio-pci.ids kvm.nx_huge_pages kvm_intel.nested "
    "kvm_amd.nested acpi acpi_osi noapic nolapic maxcpus nr_cpus possible_cpus mem memmap "
    "movablecore systemd.unified_cgroup_hierarchy cgroup_enable cgroup_no_v1 psi "
    "workqueue.power_efficient init_on_alloc init_on_free page_alloc.shuffle vsyscall debug "
    "loglevel panic oops "
)
HARMLESS = frozenset(NAMED.split())
"""Parameters of the kernel that take numbers and words of the kernel's own."""
_VALUES = (
    "on off yes no auto full force none all any default native strict nopt pt noforce relaxed lazy "
    "sm_on sm_off sp_off igfx_off tboot_noforce forcedac nobounce usedac fullflush isolate "
    "always never madvise active passive guided disable disabled enable no_hwp hwp_only "
    "support_acpi_ppc per_cpu_perf_limits nosmt flush nowarn ibpb unret retpoline generic lfence "
    "amd eibrs ibrs stuff prctl seccomp domain managed_irq nohz poll halt nomwait "
    "unstable reliable nowatchdog noirqtime tsc hpet acpi_pm jiffies kvm-clock hyperv performance "
    "powersave powersupersave schedutil ondemand conservative userspace menu teo ladder haltpoll "
    "nocrs use_crs realloc noaer nomsi noacs nommconf bfsort nobfsort pcie_bus_safe "
    "pcie_bus_perf pcie_bus_peer2peer pcie_bus_tune_off assign-busses noats nodomains compat "
    "noautodist selinux apparmor smack tomoyo voluntary high low emulate xonly "
    "ht copy rsdt noirq bgrt_disable ignore_ce dont_log_ce no_cmci bootlog nobootlog kmsg "
    "memory pids cpu cpuset io blkio net_cls net_prio hugetlb memory_recursiveprot "
    "nopanic panic ttyAMA0 hvc0 efi dbgp xdbc vga keep uart uart8250 mmio mmio32 "
    "!Linux Linux"
)
VALUES = frozenset(_VALUES.split())
"""Words that the kernel takes for them (admin-guide/kernel-parameters.txt)."""
_NUMBER = r"\d{1,12}(?:[kKMGTP]i?[bB]?|us|ms|s)?"
VALUE = re.compile(
    rf"|[!^-]?{_NUMBER}(?:[-.]{_NUMBER})*-?(?:/\d{{1,5}})?|0[xX][0-9A-Fa-f]{{1,64}}|[0-9A-Fa-f]{{4}}|"
    r"[nN](?:-\d{1,5})?|\d{1,5}-[nN]|tty(?:S|USB|AMA|PS|HS)?\d{1,3}|hvc\d{1,2}|"
    r"\d{3,7}[noe]?\d?r?|[0-9A-Fa-f]{4}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}(?:\.[0-7])?"
)
"""Numbers, sizes, lists of CPUs, ids of devices, lines of a console."""
BETWEEN_VALUES = re.compile(r"[,;:@+$]")
HIDDEN_VALUE = re.compile(
    r"(?:root|resume|ip|nameserver|ifname|bootdev|nfsroot|netroot|rootfstype|rootflags|init|"
    r"initrd|hostname|cgroup_root|(?:rd|inst|systemd|ds|cloud-init)(?:\.[a-z_.-]{1,20})?)"
)
"""Of these the name stays, and the value goes."""
LONGEST_VALUE = 400
LONGEST_COMMAND_LINE = 64 << 10
"""COMMAND_LINE_SIZE of the kernel is 4096 at the most (arch/*/include/uapi/asm/setup.h)."""
IMAGE = re.compile(r"(?:\([a-z0-9,]+\))?/?(?:boot/)?(?:vmlinuz|bzImage|kernel)[\w.+~-]*")

IP_FIELD = re.compile(r"[0-9.]+|eth\d+|en[a-z]\d[a-z0-9]*|off|none|on|any|dhcp|bootp|both")
UUID_OF = re.compile(r"(?:PART)?UUID=[0-9A-Fa-f-]{8,36}")

ALTNAMES = re.compile(r'("altnames":\[)((?:\s*"(?:[^"\\\n]|\\.)*+"\s*,?)*+)(\])')
PATH = re.compile(r"(?<![\w.:/~\"\\-])((?:/[\w.@+~-]+)+)")
SYSTEM = re.compile(
    r"/(?:sys|proc|dev|etc|usr|lib|lib64|bin|sbin|boot|home|Users)(?:/.*)?|"
    r"/(?:var/)?run(?:/(?:openvswitch|systemd|tuned|udev)(?:/.*)?)?|"
    r"/var/lib/(?:openvswitch|dpkg|rpm)(?:/.*)?"
)


def without_long_words(text: str, name: Name) -> str:
    """Replace every word that is longer than any that a tool prints."""
    if all(len(line) < LONGEST_WORD for line in text.split("\n")):
        return text
    return LONG_WORD.sub(lambda m: name("long", m[0]), text)


def without_free_names(text: str, name: Name) -> str:
    """Replace what people called things in these places."""
    if "/proc/cmdline:" in text:
        text = COMMAND_LINE.sub(lambda m: m[1] + _command_line(m[2], name), text)
    text = ALTNAMES.sub(lambda m: m[1] + _altnames(m[2], name) + m[3], text)
    return PATH.sub(lambda m: _path(m[1], name), text)


def _command_line(text: str, name: Name) -> str:
    if len(text) > LONGEST_COMMAND_LINE:
        return name("parameter", text)
    return PARAMETER.sub(lambda m: _parameter(m[0], name), text)


def _parameter(text: str, name: Name) -> str:
    key, equals, value = text.partition("=")
    plain = key.replace("-", "_")
    is_harmless = key in HARMLESS or plain in HARMLESS
    if is_harmless and _is_of_the_kernel(value):
        return text
    if key == "BOOT_IMAGE" and IMAGE.fullmatch(value):
        return text
    if key == "ip" and value.count(":") >= 5:
        # client:server:gateway:mask:host:device:…; addresses go where all addresses do.
        fields = value.split(":")
        fields = [name("value", f) if f and not IP_FIELD.fullmatch(f) else f for f in fields]
        return f"ip={':'.join(fields)}"
    if key == "root" and UUID_OF.fullmatch(value):
        return text
    if equals and (is_harmless or HIDDEN_VALUE.fullmatch(key)):
        return f"{key}={name('value', value)}"
    return name("parameter", text)


def _is_of_the_kernel(value: str) -> bool:
    words = BETWEEN_VALUES.split(value) if len(value) <= LONGEST_VALUE else [value]
    return all(word in VALUES or VALUE.fullmatch(word) for word in words)


def _altnames(text: str, name: Name) -> str:
    return re.sub(
        r'"((?:[^"\\]|\\.)*+)"',
        lambda m: m[0] if is_plain_netdev(m[1]) else f'"{name("name", m[1])}"',
        text,
    )


def _path(text: str, name: Name) -> str:
    return text if SYSTEM.fullmatch(text) else f"/{name('path', text)}"
