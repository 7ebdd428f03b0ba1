"""What the rules about CPUs, kernel, memory, IOMMU and TCP tell an administrator to type.

The cases are those of test_cases.py; the commands are what the manuals give for that host:
cpupower(1), sysctl(8), grub-mkconfig(8), the kernel's hugetlbpage.
"""

import json
from pathlib import Path

import pytest

from wirespeed.catalog import rules
from wirespeed.doctor.diagnose import diagnose
from wirespeed.model.bound import Limit
from wirespeed.model.capture import parse_capture
from wirespeed.model.fact import HostFacts
from wirespeed.model.finding import Finding
from wirespeed.model.question import Purpose, Question

CASES = Path(__file__).parent / "cases"
BY_SLUG = {rule.slug: rule for rule in rules()}


def findings(case: str) -> tuple[Finding, ...]:
    folder = CASES / case
    question = Question(**json.loads((folder / "expected.json").read_text()).get("question", {}))
    capture = parse_capture((folder / "capture.txt").read_text(), case)
    return diagnose(HostFacts("host", capture), question, [BY_SLUG[folder.parent.name]]).findings


def commands(case: str) -> list[str]:
    return [
        command.line()
        for finding in findings(case)
        for remedy in finding.remedies
        for command in remedy.commands
    ]


def grub(name: str, parameters: str) -> list[str]:
    line = f'GRUB_CMDLINE_LINUX_DEFAULT="$GRUB_CMDLINE_LINUX_DEFAULT {parameters}"'
    return [f"echo '{line}' | tee /etc/default/grub.d/wirespeed-{name}.cfg", "update-grub"]


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        ("mtu.jumbo_unused/present_a_member_of_a_bond", ["ip link set dev bond0 mtu 9000"]),
        ("rdma.mtu_small/present_a_member_of_a_bond", ["ip link set dev bond0 mtu 9000"]),
        (
            "memory.no_hugepages/present_none_of_any_size",
            [
                "echo 1024 | tee /sys/devices/system/node/node0/hugepages/hugepages-2048kB"
                "/nr_hugepages",
                "echo 1024 | tee /sys/devices/system/node/node1/hugepages/hugepages-2048kB"
                "/nr_hugepages",
                *grub("hugepages", "default_hugepagesz=1G hugepagesz=1G hugepages=8"),
            ],
        ),
        (
            "memory.no_hugepages/present_guest_without_1_gb_pages",
            [
                "echo 1024 | tee /sys/devices/system/node/node0/hugepages/hugepages-2048kB"
                "/nr_hugepages",
                "echo 1024 | tee /sys/devices/system/node/node1/hugepages/hugepages-2048kB"
                "/nr_hugepages",
                *grub("hugepages", "default_hugepagesz=2M hugepagesz=2M hugepages=2048"),
            ],
        ),
        (  # Node 1 is a GPU's memory.
            "memory.no_hugepages/present_grace_with_64_kb_and_gpu_memory",
            [
                "echo 1024 | tee /sys/devices/system/node/node0/hugepages/hugepages-2048kB"
                "/nr_hugepages",
                *grub("hugepages", "default_hugepagesz=2M hugepagesz=2M hugepages=2048"),
            ],
        ),
        (
            "memory.no_hugepages_on_node/present_all_on_the_other_node",
            [
                "echo 1024 | tee /sys/devices/system/node/node1/hugepages/hugepages-2048kB"
                "/nr_hugepages"
            ],
        ),
        (
            "memory.hugepages_not_mounted/present_1_gb_pages_under_a_mount_of_2_mb",
            [
                "mkdir -p /dev/hugepages-1G",
                "mount -t hugetlbfs -o pagesize=1G nodev /dev/hugepages-1G",
            ],
        ),
        (
            "cpu.turbo_off/present_intel_pstate",
            ["echo 0 | tee /sys/devices/system/cpu/intel_pstate/no_turbo"],
        ),
        ("cpu.turbo_off/present_off_in_the_bios", []),
        (
            "cpu.turbo_off/present_boost",
            ["echo 1 | tee /sys/devices/system/cpu/cpufreq/boost"],
        ),
        ("memory.swapping/present_swap_and_willing_is_a_note", ["sysctl -w vm.swappiness=0"]),
        (
            "cpu.not_isolated/present_none",
            grub("isolation", "isolcpus=managed_irq,domain,4-7 nohz_full=4-7"),
        ),
        (
            "cpu.not_isolated/present_none_and_no_node",
            grub("isolation", "isolcpus=managed_irq,domain,5-7 nohz_full=5-7"),
        ),
        (
            "cpu.not_isolated/present_only_on_the_other_node",
            grub("isolation", "isolcpus=managed_irq,domain,4-7 nohz_full=4-7"),
        ),
        (
            "cpu.deep_idle_states/present_c6_for_latency",
            [
                "cpupower idle-set -D 11",
                *grub("cstates", "intel_idle.max_cstate=0 processor.max_cstate=1"),
            ],
        ),
        (
            "cpu.deep_idle_states/present_11_us_is_beyond_it",
            ["cpupower idle-set -D 11", *grub("cstates", "processor.max_cstate=1")],
        ),
        (
            # max_cstate is of C-states alone (drivers/acpi/processor_idle.c).
            "cpu.deep_idle_states/present_low_power_idle_of_an_arm",
            ["cpupower idle-set -D 11", *grub("cstates", "cpuidle.off=1")],
        ),
        (
            "cpu.governor_not_performance/present_schedutil_is_a_note",
            ["cpupower frequency-set -g performance"],
        ),
        ("cpu.clock_limited/present_limit_below_the_steps", ["cpupower frequency-set -u 2400000"]),
        (
            "kernel.realtime_throttling/present_fifo_thread_polls",
            ["sysctl -w kernel.sched_rt_runtime_us=-1"],
        ),
        (
            "kernel.realtime_throttling/present_6_12_whatever_the_sysctl_says",
            ["echo 0 | tee /sys/kernel/debug/sched/fair_server/cpu5/runtime"],
        ),
        (
            "kernel.watchdog_on_isolated/present_all_watched",
            ["sysctl -w kernel.watchdog_cpumask=0-3"],
        ),
        (
            "kernel.backlog_drops/present_two_cpus_drop",
            ["sysctl -w net.core.netdev_max_backlog=4000"],
        ),
        (
            "kernel.softirq_squeezed/present_one_cpu",
            [
                "sysctl -w net.core.netdev_budget=600",
                "sysctl -w net.core.netdev_budget_usecs=16000",
            ],
        ),
        ("iommu.translated/present_dma_fq_for_dpdk", grub("iommu", "iommu=pt")),
        (
            "iommu.off_for_guests/present_bare_metal_without_groups",
            grub("iommu", "intel_iommu=on iommu=pt"),
        ),
        ("iommu.off_for_guests/present_amd", grub("iommu", "iommu=pt")),
        # iommu= is x86's own.
        ("iommu.off_for_guests/present_arm", grub("iommu", "iommu.passthrough=1")),
        ("iommu.translated/present_arm_smmu", grub("iommu", "iommu.passthrough=1")),
        (
            "tcp.buffer_below_bdp/present_half_of_the_buffer_is_too_little",
            ["sysctl -w 'net.ipv4.tcp_rmem=4096 131072 7061120'"],
        ),
        (
            # 8 x 353 056 is less than the 4 MB that are left in any case.
            "tcp.buffer_far_above_bdp/present_128_mb_in_one_room",
            ["sysctl -w 'net.ipv4.tcp_rmem=4096 87380 4194304'"],
        ),
        (
            "tcp.segments_resent/present_one_in_a_hundred",
            ["sysctl -w net.ipv4.tcp_congestion_control=bbr"],
        ),
        ("tcp.segments_resent/present_under_bbr", []),
        ("tcp.segments_resent/present_without_bbr_on_the_host", []),
        (
            "tcp.bbr_without_fq/present_before_4_13_nothing_paces",
            ["sysctl -w net.core.default_qdisc=fq"],
        ),
    ],
)
def test_the_remedy_is_for_this_very_host(case: str, expected: list[str]):
    assert commands(case) == expected


def test_a_sysctl_says_how_to_keep_it():
    (finding,) = findings("tcp.window_scaling_off/present_off")
    assert "`net.ipv4.tcp_window_scaling = 1` in a file of /etc/sysctl.d" in (
        finding.remedies[0].text
    )


@pytest.mark.parametrize(
    ("case", "word"),
    [
        ("present_hpet", "dmesg"),
        ("present_acpi_pm_though_tsc_is_there", "the TSC is available"),
    ],
)
def test_a_clock_source_that_was_given_up_is_told_from_one_that_was_not_chosen(
    case: str, word: str
):
    (finding,) = findings(f"kernel.clocksource_not_tsc/{case}")
    assert word in finding.remedies[0].text


@pytest.mark.parametrize(
    ("case", "limit"),
    [
        ("present_4_18_a_core_may_borrow_time", Limit.AT_MOST),
        ("present_fifo_thread_polls", Limit.EXACTLY),
        ("present_6_12_whatever_the_sysctl_says", Limit.AT_MOST),
    ],
)
def test_only_a_core_that_cannot_borrow_time_loses_exactly_the_rest(case: str, limit: Limit):
    (finding,) = findings(f"kernel.realtime_throttling/{case}")
    assert [bound.limit for bound in finding.bounds] == [limit]


@pytest.mark.parametrize(
    ("case", "waits"),
    [("present_strict_for_tcp", True), ("present_dma_fq_for_dpdk", False)],
)
def test_only_a_strict_domain_waits_for_each_unmapping(case: str, waits: bool):
    (finding,) = findings(f"iommu.translated/{case}")
    assert ("waits for the IOMMU" in finding.so) == waits


def test_a_window_is_priced_by_what_fills_the_link():
    """100 Gb/s in frames of 1518 bytes is 8 127 438 frames/s, each way, to the connection too."""
    for finding in findings("tcp.buffer_below_bdp/present_10_ms_at_100_g"):
        (change,) = finding.changes
        assert round(change.after.load_pps.low) == 8_127_438


NO_NODE = "cpu.not_isolated/present_none_and_no_node"


@pytest.mark.parametrize(
    ("release", "flags"),
    [
        ("3.10.0-1160.el7.x86_64", ""),
        ("4.18.0-553.el8_10.x86_64", ""),
        ("5.4.0-190-generic", ""),
        ("5.6.0-1-amd64", "managed_irq,domain,"),
        ("6.12.38+deb13-amd64", "managed_irq,domain,"),
    ],
)
def test_a_kernel_is_given_only_flags_of_isolcpus_that_it_knows(release: str, flags: str):
    # Linux 5.6, kernel/sched/isolation.c: an unknown flag drops the whole option.
    text = (CASES / NO_NODE / "capture.txt").read_text().replace("6.8.0-45-generic", release)
    capture = parse_capture(text, "host")
    question = Question(purpose=Purpose.DPDK)
    answer = diagnose(HostFacts("host", capture), question, [BY_SLUG["cpu.not_isolated"]])
    (remedy,) = answer.findings[0].remedies
    assert f"`isolcpus={flags}5-7 nohz_full=5-7`" in remedy.text


@pytest.mark.parametrize(
    ("cpus", "threads", "chosen"),
    [(2, 1, "1"), (8, 1, "4-7"), (8, 2, "2-3,6-7"), (16, 2, "4-7,12-15")],
)
def test_a_host_of_one_node_keeps_half_of_its_cores(cpus: int, threads: int, chosen: str):
    cores = cpus // threads
    sysfs = "/sys/devices/system/cpu"
    lines = [f"{sysfs}/online:0-{cpus - 1}", f"{sysfs}/isolated:", f"{sysfs}/nohz_full:"]
    for cpu in range(cpus):
        siblings = ",".join(str(cpu % cores + n * cores) for n in range(threads))
        lines.append(f"{sysfs}/cpu{cpu}/topology/thread_siblings_list:{siblings}")
    text = "".join(
        f"case begin {name} -\n{body}\n\ncase end 0\n"
        for name, body in (("cpu", "\n".join(lines)), ("ports", ""), ("boot-loader", "grub"))
    )
    capture = parse_capture(f"wirespeed-capture 1 case\n{text}case done\n", "host")
    question = Question(purpose=Purpose.DPDK)
    answer = diagnose(HostFacts("host", capture), question, [BY_SLUG["cpu.not_isolated"]])
    (remedy,) = answer.findings[0].remedies
    assert f"nohz_full={chosen}`" in remedy.text


@pytest.mark.parametrize("purpose", [None, Purpose.TCP, Purpose.LATENCY, Purpose.GUESTS])
def test_segments_that_are_resent_are_told_whatever_the_purpose(purpose: Purpose | None):
    text = (CASES / "tcp.segments_resent/present_one_in_a_hundred/capture.txt").read_text()
    host = HostFacts("host", parse_capture(text, "host"))
    (found,) = diagnose(host, Question(purpose=purpose), [BY_SLUG["tcp.segments_resent"]]).findings
    assert "out_of_buffer" in found.remedies[0].text
    assert "ss -ti" in found.remedies[0].text


RESTARTS = [
    ("Ubuntu 24.04.1 LTS", "unit openvswitch-switch.service\n", "openvswitch-switch.service"),
    ("Red Hat Enterprise Linux 9.4 (Plow)", "unit openvswitch.service\n", "openvswitch.service"),
    # A capture without the units: the name of the distribution tells.
    ("SUSE Linux Enterprise Server 15 SP6", None, "openvswitch.service"),
    ("Debian GNU/Linux 13 (trixie)", None, "openvswitch-switch.service"),
    ("Ubuntu 24.04.1 LTS", "", None),
]


@pytest.mark.parametrize(("name", "units", "unit"), RESTARTS)
@pytest.mark.parametrize(
    "case", ["ovs.offload_not_in_force/present_2_17", "ovs.dpdk_not_initialized/present_true"]
)
def test_open_vswitch_is_restarted_by_the_unit_of_the_hosts_distribution(
    case: str, name: str, units: str | None, unit: str | None
):
    sections = f'case begin kernel -\n/etc/os-release:PRETTY_NAME="{name}"\n\ncase end 0\n'
    if units is not None:
        sections += f"case begin installed -\n{units}\ncase end 0\n"
    text = (CASES / case / "capture.txt").read_text()
    capture = parse_capture(text.replace("case done", f"{sections}case done"), "host")
    slug = case.partition("/")[0]
    answer = diagnose(HostFacts("host", capture), Question(), [BY_SLUG[slug]])
    lines = [c.line() for f in answer.findings for r in f.remedies for c in r.commands]
    restarts = [line for line in lines if "restart" in line]
    assert restarts == ([f"systemctl restart {unit}"] if unit else [])
    if "dpdk" in case:
        is_debians = name.startswith(("Ubuntu", "Debian"))
        assert any("update-alternatives" in line for line in lines) == is_debians


@pytest.mark.parametrize(
    ("case", "told"),
    [
        ("present_open_vswitch_polls_on_the_other_node", "other_config:pmd-cpu-mask"),
        ("present_dpdk_cores_of_the_other_node", "numactl --cpunodebind=0"),
    ],
)
def test_a_program_is_moved_to_the_cards_node_by_its_own_setting(case: str, told: str):
    (finding,) = findings(f"numa.workload_on_another_node/{case}")
    (text,) = [remedy.text for remedy in finding.remedies]
    assert told in text
    assert ("numactl" in text) != ("pmd-cpu-mask" in text)


def test_the_address_of_a_bonds_rdma_device_is_given_to_the_bond():
    (found,) = findings("rdma.no_routable_gid/present_the_bond_has_no_address")
    assert [remedy.text for remedy in found.remedies] == [
        "give bond0 an IP address, which also creates a GID of RoCE v2"
    ]


@pytest.mark.parametrize(
    ("case", "is_lost"), [("present_beside_dpdk", True), ("present_too_few_receives_here", False)]
)
def test_packets_of_dpdk_are_not_said_to_be_sent_again(case: str, is_lost: bool):
    (found,) = findings(f"rdma.receiver_not_ready/{case}")
    assert ("DPDK, which runs here, is lost" in found.so) == is_lost


def test_a_transparent_hugepage_of_an_arm_may_be_512_mb():
    """PMD_SIZE with pages of 64 kB (Documentation/arch/arm64/memory.rst)."""
    (of_arm,) = findings("memory.transparent_hugepages/present_always_on_an_arm")
    assert "512 MB with pages of 64 kB" in of_arm.so
    (other,) = findings("memory.transparent_hugepages/present_always")
    assert other.so.endswith("a page of 2 MB")


def test_swap_of_zram_is_not_waited_for_on_a_disk():
    (of_zram,) = findings("memory.swapping/present_zram_is_no_disk")
    assert "decompressed" in of_zram.so and "disk" not in of_zram.so
    (of_disk,) = findings("memory.swapping/present_swap_and_willing_is_a_note")
    assert "waits for the disk" in of_disk.so
