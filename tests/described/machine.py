"""Parts of a described host that are no network: CPUs, memory, kernel, clock, threads."""

from collections.abc import Sequence

from described.host import MARK, Host

CPU = "/sys/devices/system/cpu"
NODE = "/sys/devices/system/node"
CLOCK = "/sys/devices/system/clocksource/clocksource0"
UPTIME_S = 1_036_800.5
SECONDS_BETWEEN = 0.42
"""What lies between the two readings of a capture without an interval."""
FLAGS = "fpu vme tsc msr pae mce cx8 apic sse sse2 ht constant_tsc nonstop_tsc rdtscp avx2"
INTEL_IDLE = (("POLL", 0), ("C1", 2), ("C1E", 10), ("C6", 133))
AMD_IDLE = (("POLL", 0), ("C1", 1), ("C2", 18), ("C3", 350))
EPYC_4545P = "AMD EPYC 4545P 16-Core Processor"
XEON_8168 = "Intel(R) Xeon(R) Platinum 8168 CPU @ 2.70GHz"
OF_AMD = {
    "meltdown": "Not affected",
    "mds": "Not affected",
    "retbleed": "Not affected",
    "spec_rstack_overflow": "Mitigation: Safe RET",
    "spectre_v1": "Mitigation: usercopy/swapgs barriers and __user pointer sanitization",
    "spectre_v2": "Mitigation: Enhanced / Automatic IBRS; IBPB: conditional; STIBP: always-on",
}
OF_INTEL = {
    "meltdown": "Mitigation: PTI",
    "mds": "Mitigation: Clear CPU buffers; SMT vulnerable",
    "retbleed": "Mitigation: IBRS",
    "spec_rstack_overflow": "Not affected",
    "spectre_v1": "Mitigation: usercopy/swapgs barriers and __user pointer sanitization",
    "spectre_v2": "Mitigation: IBRS; IBPB: conditional; STIBP: conditional; RSB filling",
}
"""What /sys/devices/system/cpu/vulnerabilities holds, some of it."""
SYSCTLS = {
    "net/core/rmem_max": "212992",
    "net/core/wmem_max": "212992",
    "net/core/rmem_default": "212992",
    "net/core/wmem_default": "212992",
    "net/core/netdev_max_backlog": "1000",
    "net/core/netdev_budget": "300",
    "net/core/netdev_budget_usecs": "2000",
    "net/core/default_qdisc": "fq_codel",
    "net/core/busy_poll": "0",
    "net/core/busy_read": "0",
    "net/ipv4/tcp_rmem": "4096\t131072\t6291456",
    "net/ipv4/tcp_wmem": "4096\t16384\t4194304",
    "net/ipv4/tcp_congestion_control": "cubic",
    "net/ipv4/tcp_available_congestion_control": "reno cubic",
    "net/ipv4/tcp_mtu_probing": "0",
    "net/ipv4/tcp_window_scaling": "1",
    "net/ipv4/tcp_sack": "1",
    "net/ipv4/tcp_moderate_rcvbuf": "1",
    "net/ipv4/tcp_adv_win_scale": "1",
    "vm/swappiness": "60",
    "vm/zone_reclaim_mode": "0",
    "kernel/numa_balancing": "0",
    "kernel/sched_rt_runtime_us": "950000",
    "kernel/sched_rt_period_us": "1000000",
    "kernel/watchdog": "1",
}
"""As a kernel of the 6.x series comes."""
TCP_NAMES = (
    "RtoAlgorithm RtoMin RtoMax MaxConn ActiveOpens PassiveOpens AttemptFails EstabResets "
    "CurrEstab InSegs OutSegs RetransSegs InErrs OutRsts InCsumErrors"
)


def kernel(
    host: Host,
    *,
    release: str,
    distribution: str,
    command_line: str,
    clocksource: str = "tsc",
    clocksources: str = "tsc hpet acpi_pm ",
    vendor: str = "Supermicro",
    product: str = "Super Server",
    guest_of: str = "none",
) -> None:
    """The kernel, what it was booted with, its sysctls as they come, and what it runs on."""
    host.put("/proc/sys/kernel", osrelease=release)
    host.put("/proc/sys/kernel/random", uuid=MARK)
    host.files["/proc/cmdline"] = command_line
    host.files["/etc/os-release"] = f'PRETTY_NAME="{distribution}"\nNAME="{distribution}"'
    host.put(CLOCK, current_clocksource=clocksource, available_clocksource=clocksources)
    host.put("/sys/class/dmi/id", sys_vendor=vendor, product_name=product)
    host.answer("systemd-detect-virt --vm", f"{guest_of}\n", "", 1 if guest_of == "none" else 0)
    host.answer("dmesg")
    for name, value in SYSCTLS.items():
        host.files[f"/proc/sys/{name}"] = value
    host.files["/proc/1/comm"] = "systemd"
    host.files[f"/lib/modules/{release}/modules.dep"] = (
        "kernel/net/ipv4/tcp_bbr.ko.xz:\nkernel/drivers/net/dummy.ko.xz:"
    )
    host.files[f"/lib/modules/{release}/modules.builtin"] = "kernel/net/ipv4/tcp_cubic.ko"


def cpus(
    host: Host,
    *,
    model: str,
    nodes: int = 1,
    cores: int = 16,
    threads: int = 1,
    mhz: float = 3000.0,
    max_khz: int | None = 4_000_000,
    min_khz: int = 800_000,
    base_khz: int | None = None,
    driver: str = "intel_pstate",
    governor: str = "performance",
    boost: str = "intel_pstate/no_turbo",
    idle_driver: str = "intel_idle",
    idle: Sequence[tuple[str, int]] = INTEL_IDLE,
    flags: str = FLAGS,
) -> None:
    """CPUs: first one of each core, node after node, then their second threads in that order.

    `max_khz` None: no cpufreq, as in a guest.
    """
    total = nodes * cores
    vendor = "AuthenticAMD" if "AMD" in model else "GenuineIntel"
    host.put(CPU, online=f"0-{total * threads - 1}", isolated="", nohz_full="(null)")
    known = OF_AMD if vendor == "AuthenticAMD" else OF_INTEL
    host.put(f"{CPU}/vulnerabilities", **known)
    host.files["/proc/cpuinfo"] = (
        f"processor\t: 0\nvendor_id\t: {vendor}\nmodel name\t: {model}\n"
        f"cpu MHz\t\t: {mhz:.3f}\nflags\t\t: {flags}\n"
    )
    names = dict.fromkeys(("current_governor", "current_governor_ro"), "menu")
    host.put(f"{CPU}/cpuidle", current_driver=idle_driver, **names)
    if max_khz is not None:
        host.files[f"{CPU}/{boost}"] = "0" if boost.endswith("no_turbo") else "1"
    if base_khz is not None:
        host.put(f"{CPU}/cpu0/cpufreq", base_frequency=base_khz)
    for number in range(total * threads):
        core = number % total
        path = f"{CPU}/cpu{number}"
        siblings = ",".join(str(core + total * thread) for thread in range(threads))
        host.put(
            f"{path}/topology",
            core_id=core % cores,
            physical_package_id=core // cores,
            thread_siblings_list=siblings,
        )
        if max_khz is not None:
            policy = f"{CPU}/cpufreq/policy{number}"
            host.put(f"{path}/cpufreq", cpuinfo_max_freq=max_khz, scaling_driver=driver)
            host.put(
                policy,
                related_cpus=number,
                scaling_governor=governor,
                scaling_max_freq=max_khz,
                scaling_min_freq=min_khz,
                cpuinfo_max_freq=max_khz,
                cpuinfo_min_freq=min_khz,
            )
    idle_states(host, idle)
    for node in range(nodes):
        first = f"{node * cores}-{node * cores + cores - 1}"
        second = f",{total + node * cores}-{total + node * cores + cores - 1}"
        host.put(f"{NODE}/node{node}", cpulist=first + (second if threads == 2 else ""))


def idle_states(host: Host, idle: Sequence[tuple[str, int]], entered: int = 40) -> None:
    """Give every CPU these idle states, and none but these; `entered` once each in the capture."""
    gone = [path for path in (*host.files, *host.later) if "/cpuidle/state" in path]
    for path in gone:
        host.files.pop(path, None)
        host.later.pop(path, None)
    for cpu in _numbers(host):
        for index, (name, latency_us) in enumerate(idle):
            state = f"{CPU}/cpu{cpu}/cpuidle/state{index}"
            host.put(state, disable=0)
            if cpu == 0:
                host.put(state, name=name, latency=latency_us)
            if cpu < 10:
                host.put(state, usage=1_000_000 + index)
                host.later[f"{state}/usage"] = str(1_000_000 + index + entered)


def governor(host: Host, name: str) -> None:
    """Let every CPU have this governor."""
    for path in host.files:
        if path.endswith("/scaling_governor"):
            host.files[path] = name


def memory(
    host: Host,
    *,
    gib: int,
    nodes: int = 1,
    huge_2m: Sequence[int] = (0,),
    huge_1g: Sequence[int] | None = (0,),
    default_kb: int = 2048,
    swap_gib: int = 0,
    transparent: str = "always [madvise] never",
) -> None:
    """Memory by node; `huge_2m` and `huge_1g` are numbers of pages on each node."""
    pools = {2048: list(huge_2m), **({1 << 20: list(huge_1g)} if huge_1g is not None else {})}
    for kb, counts in pools.items():
        counts += [0] * (nodes - len(counts))
        whole = f"/sys/kernel/mm/hugepages/hugepages-{kb}kB"
        host.put(whole, nr_hugepages=sum(counts), free_hugepages=sum(counts))
        for node, count in enumerate(counts):
            path = f"{NODE}/node{node}/hugepages/hugepages-{kb}kB"
            host.put(path, nr_hugepages=count, free_hugepages=count)
    for node in range(nodes):
        kb = (gib << 20) // nodes
        host.files[f"{NODE}/node{node}/meminfo"] = (
            f"Node {node} MemTotal:       {kb} kB\nNode {node} MemFree:        {kb // 2} kB"
        )
    host.files["/proc/meminfo"] = (
        f"MemTotal:       {gib << 20} kB\nMemFree:        {gib << 19} kB\n"
        f"MemAvailable:   {gib << 19} kB\nSwapTotal:      {swap_gib << 20} kB\n"
        f"SwapFree:       {swap_gib << 20} kB\nHugepagesize:       {default_kb} kB"
    )
    host.files["/sys/kernel/mm/transparent_hugepage/enabled"] = transparent
    host.files["/proc/self/mounts"] = (
        "sysfs /sys sysfs rw,nosuid 0 0\n"
        f"hugetlbfs /dev/hugepages hugetlbfs rw,relatime,pagesize={_size(default_kb)} 0 0"
    )
    host.files["/proc/vmstat"] = "pswpin 0\npswpout 0"


def _size(kb: int) -> str:
    return "2M" if kb == 2048 else "1024M"


def busy_kernel(host: Host, *, segments: int = 4000, resent: int = 0) -> None:
    """Time passes between the readings: softirqs took frames in, TCP sent segments."""
    host.files["/proc/uptime"] = f"{UPTIME_S:.2f} 33177600.00"
    host.later["/proc/uptime"] = f"{UPTIME_S + SECONDS_BETWEEN:.2f} 33177613.00"
    numbers = _numbers(host)
    host.files["/proc/net/softnet_stat"] = "\n".join(_softnet(cpu, 5000) for cpu in numbers)
    host.later["/proc/net/softnet_stat"] = "\n".join(_softnet(cpu, 6000) for cpu in numbers)
    host.files["/proc/net/snmp"] = _snmp(9_000_000, 41)
    host.later["/proc/net/snmp"] = _snmp(9_000_000 + segments, 41 + resent)


def _softnet(cpu: int, processed: int) -> str:
    words = [processed, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, cpu]
    return " ".join(f"{word:08x}" for word in words)


def _snmp(sent: int, resent: int) -> str:
    numbers = f"1 200 120000 -1 235 132 15 38 2 8000000 {sent} {resent} 0 132 0"
    return f"Tcp: {TCP_NAMES}\nTcp: {numbers}"


def thread(
    host: Host,
    pid: int,
    name: str,
    *,
    tid: int | None = None,
    process: str | None = None,
    cpu: int = 0,
    allowed: str | None = None,
    share: float = 0.0,
    policy: int = 0,
) -> None:
    """A thread that has run for a minute; `share` of the capture. `policy` 1 is SCHED_FIFO."""
    tid = tid or pid
    folder = f"/proc/{pid}/task/{tid}"
    ticks = 6000

    def stat(utime: int) -> str:
        # proc(5): pid (comm) state, then ppid … cmajflt, utime, stime, …, processor, rt, policy.
        before = "1 0 0 0 -1 4194560 100 0 0 0"
        after = "0 0 20 0 1 0 100 1000 10 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17"
        return f"{tid} ({name}) S {before} {utime} 10 {after} {cpu} 1 {policy} 0 0 0 0 0 0"

    host.files[f"{folder}/stat"] = stat(ticks)
    host.later[f"{folder}/stat"] = stat(ticks + round(100 * share * SECONDS_BETWEEN))
    host.files[f"{folder}/status"] = (
        f"Name:\t{name}\nCpus_allowed_list:\t{allowed if allowed is not None else cpu}"
    )
    host.files[f"/proc/{pid}/status"] = f"Name:\t{process or name}\nCpus_allowed_list:\t0"
    host.files[f"/proc/{pid}/comm"] = process or name


def irqbalance(host: Host, *, arguments: str = "--foreground", environment: str = "") -> None:
    """Let irqbalance run."""
    host.files["/proc/812/comm"] = "irqbalance"
    host.files["/proc/812/cmdline"] = f"/usr/sbin/irqbalance {arguments}".replace(" ", "\0")
    host.files["/proc/812/environ"] = f"LANG=C\0{environment}"


def no_irqbalance(host: Host) -> None:
    """`systemctl stop irqbalance`."""
    for name in ("comm", "cmdline", "environ"):
        del host.files[f"/proc/812/{name}"]


def sysctl(host: Host, name: str, value: object) -> None:
    """`sysctl -w name=value`; the name must be there already."""
    path = "/proc/sys/" + name.replace(".", "/")
    host.files[path] = type(host.files[path])(value)


def iommu(host: Host, *, unit: str, domain: str, functions: Sequence[str]) -> None:
    """An IOMMU in use; every network function in a group of its own."""
    host.files[f"/sys/class/iommu/{unit}/uevent"] = ""
    for number, address in enumerate(functions):
        folder = f"/sys/kernel/iommu_groups/{number + 10}"
        host.put(folder, type=domain)
        host.links[f"/sys/bus/pci/devices/{address}/iommu_group"] = folder


def _numbers(host: Host) -> range:
    last = str(host.files[f"{CPU}/online"]).rpartition("-")[2]
    return range(int(last) + 1)
