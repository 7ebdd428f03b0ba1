"""What tables 3 and 18 of Mellanox' DPDK 19.08 report set on a host, each with its step.

"Mellanox NIC's Performance Report with DPDK 19.08", rev. 1.0 of 24 October 2019: table 3 (bare
metal, ConnectX-5) and table 18 (SR-IOV over KVM, ConnectX-5 Ex). Settings are quoted as they stand
there; what has to be chosen for a host (netdev, CPUs, addresses) is the report's, or an example.
"""

from dataclasses import dataclass, field

from wirespeed.model.finding import StepCall

BARE_METAL = (
    "isolcpus=24-47 intel_idle.max_cstate=0 processor.max_cstate=0 intel_pstate=disable "
    "nohz_full=24-47 rcu_nocbs=24-47 rcu_nocb_poll default_hugepagesz=1G hugepagesz=1G "
    "hugepages=64 audit=0 nosoftlockup"
)
"""Table 3, BOOT Settings."""
HYPERVISOR = (
    "isolcpus=24-47 intel_idle.max_cstate=0 processor.max_cstate=0 nohz_full=24-47 "
    "rcu_nocbs=24-47 intel_pstate=disable default_hugepagesz=1G hugepagesz=1G hugepages=70 "
    "audit=0 nosoftlockup intel_iommu=on iommu=pt rcu_nocb_poll"
)
"""Table 18, Hypervisor BOOT Settings."""
GUEST = (
    "isolcpus=0-17 intel_idle.max_cstate=0 processor.max_cstate=0 intel_pstate=disable idle=poll "
    "nohz_full=0-17 rcu_nocbs=0-17 rcu_nocb_poll default_hugepagesz=1G hugepagesz=1G hugepages=16 "
    "nosoftlockup"
)
"""Table 18, Guest BOOT Settings."""
COMMANDS = (
    "ethtool -A $netdev rx off tx off",
    "sysctl -w vm.zone_reclaim_mode=0",
    "sysctl -w vm.swappiness=0",
    "IRQBALANCE_BANNED_CPUS=$LOCAL_NUMA_CPUMAP irqbalance --oneshot",
    "systemctl stop irqbalance",
    "setpci -s $PORT_PCI_ADDRESS 68.w=3BCD",
    "mlxconfig -d $PORT_PCI_ADDRESS set CQE_COMPRESSION=1",
    "echo -1 > /proc/sys/kernel/sched_rt_runtime_us",
    "mlxconfig -d /dev/mst/mt4121_pciconf1 set NUM_OF_VFS=1 SRIOV_EN=1 CQE_COMPRESSION=1",
    "echo 1 > /sys/class/net/ens6f0/device/sriov_numvfs",
    "echo $VF_PCI_address > /sys/bus/pci/drivers/mlx5_core/unbind",
    "modprobe vfio-pci",
    "echo ... > /sys/bus/pci/drivers/vfio-pci/new_id",
    "ip link set $HCA_netintf vf 0 mac 00:52:11:22:33:42",
    "<memoryBacking> <hugepages>, <locked/>; <cputune> <vcpupin>",
)
"""Tables 3 and 18: Hypervisor settings, Other optimizations."""


@dataclass(frozen=True)
class Row:
    """One optimization; its words are the first column of docs/optimizations.md."""

    what: str
    commands: tuple[str, ...] = ()
    """Of COMMANDS, those that it stands for."""
    parameters: tuple[str, ...] = ()
    """Of the kernel's command line."""
    steps: tuple[StepCall, ...] = ()
    by_hand: str = ""
    """Why a person does it, where no step does."""
    rules: tuple[str, ...] = field(default=())
    """What the doctor sees of it."""
    fields: tuple[str, ...] = ()
    """Of `dpdk:` in a spec, which gives it to the program that `prove` starts."""


PORT, PF, VF, NEAR, FAR = "ens6f0", "0000:af:00.0", "0000:af:00.2", "24-47", "0-23"


def boot(name: str, *parameters: str) -> tuple[StepCall, ...]:
    """The step of Debian's family, and the one of Red Hat's, which the report is about."""
    words = list(parameters)
    return (
        StepCall.of("kernel_command_line", name=name, parameters=words, reason="as published"),
        StepCall.of("kernel_arguments", parameters=words, reason="as published"),
    )


def row_of_boot(what: str, name: str, *parameters: str, rules: tuple[str, ...] = ()) -> Row:
    return Row(what, parameters=parameters, steps=boot(name, *parameters), rules=rules)


REPORT = (
    row_of_boot(
        "Cores for the program alone",
        "isolation",
        "isolcpus=24-47",
        "nohz_full=24-47",
        "rcu_nocbs=24-47",
        "rcu_nocb_poll",
        rules=("cpu.not_isolated", "cpu.tick_on_isolated", "cpu.rcu_callbacks_on_isolated"),
    ),
    row_of_boot(
        "The same within a guest",
        "isolation",
        "isolcpus=0-17",
        "nohz_full=0-17",
        "rcu_nocbs=0-17",
        "rcu_nocb_poll",
        rules=("cpu.not_isolated",),
    ),
    row_of_boot(
        "No idle states",
        "cstates",
        "intel_idle.max_cstate=0",
        "processor.max_cstate=0",
        rules=("cpu.deep_idle_states",),
    ),
    row_of_boot("A guest's CPU that never sleeps", "idle", "idle=poll"),
    row_of_boot(
        "No frequency driver of Intel's",
        "pstate",
        "intel_pstate=disable",
        rules=("cpu.governor_not_performance", "cpu.clock_limited"),
    ),
    *(
        row_of_boot(
            f"{count} hugepages of 1 GB",
            "hugepages",
            "default_hugepagesz=1G",
            "hugepagesz=1G",
            f"hugepages={count}",
            rules=("memory.no_hugepages", "memory.small_hugepages"),
        )
        for count in (64, 70, 16)
    ),
    row_of_boot("No audit of system calls", "audit", "audit=0"),
    row_of_boot(
        "No watchdog of soft lockups",
        "watchdog",
        "nosoftlockup",
        rules=("kernel.watchdog_on_isolated",),
    ),
    row_of_boot(
        "The IOMMU, for guests' devices alone",
        "iommu",
        "intel_iommu=on",
        "iommu=pt",
        rules=("iommu.off_for_guests", "iommu.translated"),
    ),
    Row(
        "No flow control",
        COMMANDS[:1],
        steps=(StepCall.of("pause", netdev=PORT, autoneg=False, rx=False, tx=False),),
        rules=("pause.received", "pause.sent"),
    ),
    Row(
        "Memory of another node before reclaiming",
        COMMANDS[1:2],
        steps=(StepCall.of("sysctl", name="vm.zone_reclaim_mode", value="0", reason="published"),),
        rules=("memory.zone_reclaim",),
    ),
    Row(
        "No swapping",
        COMMANDS[2:3],
        steps=(StepCall.of("sysctl", name="vm.swappiness", value="0", reason="published"),),
        rules=("memory.swapping",),
    ),
    Row(
        "Interrupts away from the card's node",
        COMMANDS[3:4],
        steps=(
            StepCall.of("irq_affinity", pci_address=PF, cpus={"61": FAR}),
            StepCall.of("irqbalance_banned", cpus=NEAR, path="/etc/sysconfig/irqbalance"),
        ),
        rules=("interrupts.share_core_with_workload", "interrupts.moved_by_irqbalance"),
    ),
    Row(
        "No irqbalance",
        COMMANDS[4:5],
        steps=(StepCall.of("irqbalance", is_running=False),),
        rules=("interrupts.moved_by_irqbalance",),
    ),
    Row(
        "Read requests of 1024 bytes",
        COMMANDS[5:6],
        steps=(StepCall.of("read_request", pci_address=PF, max_read_request_bytes=1024),),
        rules=("pcie.read_request_small",),
    ),
    Row(
        "Completions compressed",
        COMMANDS[6:7],
        steps=(
            StepCall.of("firmware_settings", pci_address=PF, settings={"CQE_COMPRESSION": 1}),
            StepCall.of("completion_compression", netdev=PORT, is_on=True),
        ),
        rules=("offloads.completions_not_compressed",),
    ),
    Row(
        "Real-time threads without a limit",
        COMMANDS[7:8],
        steps=(
            StepCall.of(
                "sysctl", name="kernel.sched_rt_runtime_us", value="-1", reason="published"
            ),
        ),
        rules=("kernel.realtime_throttling",),
    ),
    Row(
        "SR-IOV in the firmware",
        COMMANDS[8:9],
        steps=(
            StepCall.of(
                "firmware_settings",
                pci_address=PF,
                tool="mlxconfig",
                settings={"NUM_OF_VFS": 1, "SRIOV_EN": 1, "CQE_COMPRESSION": 1},
            ),
            StepCall.of("firmware_reset", pci_address=PF, tool="mlxfwreset"),
        ),
        rules=("sriov.off_in_firmware", "firmware.setting_pending"),
    ),
    Row(
        "A VF",
        COMMANDS[9:10],
        steps=(StepCall.of("vf_count", pci_address=PF, num_vfs=1),),
        rules=("sriov.no_vfs",),
    ),
    Row(
        "The VF for a guest",
        COMMANDS[10:13],
        steps=(
            StepCall.of("module", name="vfio-pci", reason="hands a VF to a guest"),
            StepCall.of("driver_override", pci_address=VF),
        ),
    ),
    Row(
        "The VF's address",
        COMMANDS[13:14],
        steps=(StepCall.of("vf_settings", netdev=PORT, vf=0, mac="00:52:11:22:33:42"),),
        rules=("sriov.vf_restricted",),
    ),
    Row(
        "The guest on its cores and hugepages",
        COMMANDS[14:15],
        steps=(
            StepCall.of(
                "guest_libvirt",
                guest="perf-dpdk-01",
                vcpus=23,
                memory_mib=32768,
                hugepage_kib=1048576,
                numa_node=0,
                cpus="24-46",
                image="/var/lib/libvirt/images/perf-dpdk-01.qcow2",
                vfs=[VF],
                ssh_port=2222,
                mac="02:00:00:00:40:01",
            ),
        ),
        rules=("numa.workload_on_another_node",),
    ),
    Row(
        'BIOS: Workload Profile "Low Latency", then "Custom"',
        by_hand="the host's BIOS, by its console or Redfish",
        rules=("cpu.deep_idle_states", "pcie.aspm_enabled", "cpu.governor_not_performance"),
    ),
    Row(
        "BIOS: Jitter Control = Manual, 3400",
        by_hand="the host's BIOS: HPE's own lock of the clock",
        rules=("cpu.turbo_off", "cpu.clock_limited"),
    ),
    Row(
        "BIOS: VT-x, VT-d and SR-IOV enabled",
        by_hand="the host's BIOS",
        rules=("iommu.off_for_guests", "sriov.off_in_firmware"),
    ),
    Row(
        "DPDK, l3fwd and testpmd: build, descriptors, burst, queues, mprq_en, MLX5_SHUT_UP_BF",
        by_hand="the program's own options, of the one who starts it",
        fields=(
            "forwarder",
            "queues",
            "rx_descriptors",
            "tx_descriptors",
            "burst",
            "devargs",
            "environment",
        ),
        rules=("queues.rings_below_maximum", "interrupts.share_core_with_workload"),
    ),
    Row(
        "Real-time priority of the program",
        by_hand="it is given when the program is started: chrt --fifo",
        fields=("realtime_priority",),
        rules=("kernel.realtime_throttling",),
    ),
)

BEYOND = (
    Row(
        "Transparent hugepages never",
        steps=(
            StepCall.of(
                "kernel_switch",
                paths=["/sys/kernel/mm/transparent_hugepage/enabled"],
                value="never",
                reason="no pause to make one",
            ),
        ),
        rules=("memory.transparent_hugepages",),
    ),
    Row(
        "No NUMA balancing",
        steps=(StepCall.of("sysctl", name="kernel.numa_balancing", value="0", reason="pinned"),),
        rules=("memory.numa_balancing",),
    ),
    Row(
        "Watchdogs on other CPUs",
        steps=(StepCall.of("sysctl", name="kernel.watchdog_cpumask", value=FAR, reason="quiet"),),
        rules=("kernel.watchdog_on_isolated",),
    ),
    Row(
        "Idle states of 10 us at most, without a reboot",
        steps=(StepCall.of("idle_states", most_exit_latency_us=10),),
        rules=("cpu.deep_idle_states",),
    ),
    Row(
        "The highest clock, without a reboot",
        steps=(StepCall.of("cpu_governor", policies=[24, 25], governor="performance"),),
        rules=("cpu.governor_not_performance",),
    ),
    Row(
        "Hugepages now, of one node",
        steps=(StepCall.of("hugepages", page_kib=1048576, numa_node=1, count=16),),
        rules=("memory.no_hugepages_on_node",),
    ),
    Row(
        "No LRO where frames are passed on",
        steps=(StepCall.of("offloads", netdev=PORT, features={"large-receive-offload": False}),),
        rules=("offloads.lro_while_forwarding",),
    ),
    Row(
        "A link of the speed that both can do",
        steps=(
            StepCall.of(
                "link_mode", netdev=PORT, autoneg=False, link_mbit_per_s=100000, duplex="full"
            ),
        ),
        rules=("link.slower_than_both_ends",),
    ),
)
