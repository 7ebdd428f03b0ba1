"""`Mellanox NIC's Performance Report with DPDK 19.08`: tests 3 and 6, a setting at a time.

The document gives its settings as a list without an order, so the order is that of what each costs
as the doctor ranks it.
"""

from described.firmware import firmware, mlx5_eswitch, module_of_vendor
from described.host import Host
from described.machine import (
    CPU,
    NODE,
    XEON_8168,
    busy_kernel,
    cpus,
    idle_states,
    iommu,
    irqbalance,
    kernel,
    memory,
    no_irqbalance,
    sysctl,
    thread,
)
from described.machine import governor as set_governor
from described.pcie import DEVICES, card, set_read_request, virtual_function
from described.port import CONNECTX5_MODES, DAC_QSFP28, Ethernet, Port, interrupts, mlx5_names
from described.stage import Stage
from wirespeed.model.question import Purpose, Question

RELEASE = "3.10.0-693.el7.x86_64"
OFED = "4.6-1.0.1"
DPDK = Question(purpose=Purpose.DPDK)
PORTS = {"ens3f0": "0000:86:00.0", "ens6f0": "0000:af:00.0"}
"""The first port of each card, which carries the traffic."""
IDLE = {"ens3f1": "0000:86:00.1", "ens6f1": "0000:af:00.1"}
"""The second one, without a cable."""
BOOT = "BOOT_IMAGE=/vmlinuz root=/dev/sda2 ro"
FAR, NEAR = range(24), range(24, 48)
PAUSED: tuple[str, str, str] = ("off", "on", "on")
HELD = {"tx_pause_ctrl_phy": 4_100, "tx_global_pause": 4_100, "tx_global_pause_duration": 61_000}
"""In the time of a capture: what a port sends whose rings are full, where it may."""
NO_JSON = 'Option "-j" is unknown, try "ip -help".\n'
FIRMWARE = "16.25.1020"
BOARD = "MT_0000000013"


def ports(host: Host, irq_cpus: range, *, held: bool = True) -> None:
    """Every port; `held`: flow control is on, and the packet generator is slowed by it."""
    link = Ethernet(partner=CONNECTX5_MODES)
    empty = Ethernet(None, fec="None", down_reason="No cable")
    for number, (name, address) in enumerate({**PORTS, **IDLE}.items()):
        used = name in PORTS
        Port(name, address, ethernet=link if used else empty, channels=24, version=OFED,
             module=DAC_QSFP28 if used else None, firmware=f"{FIRMWARE} ({BOARD})",
             pause=PAUSED if held else ("off", "off", "off"),
             grown=HELD if held and used else {}).place(host)  # fmt: skip
        # Of the kernel's own queues, which take what DPDK leaves them.
        interrupts(host, address, mlx5_names(address, 24), irq_cpus, first=200 + 30 * number,
                   count=5_000, grown=2)  # fmt: skip
    old_tools(host)


def old_tools(host: Host) -> None:
    """iproute2 of RHEL 7 has neither JSON nor devlink."""
    for line in [line for line in host.data if line.startswith(("ip ", "devlink "))]:
        del host.data[line]
        if line.startswith("ip "):
            host.answer(line, errors=NO_JSON, returncode=255)


def server(host: Host, cards: dict[str, str]) -> None:
    """An HPE ProLiant DL380 Gen10 with MCX516A-CDAT cards near its second processor."""
    kernel(host, release=RELEASE, distribution="Red Hat Enterprise Linux Server 7.4 (Maipo)",
           command_line=BOOT, vendor="HPE", product="ProLiant DL380 Gen10")  # fmt: skip
    cpus(host, model=XEON_8168, nodes=2, cores=24, threads=1, mhz=2700.0, max_khz=3_700_000,
         governor="powersave")  # fmt: skip
    host.put(CPU, nohz_full="")
    memory(host, gib=384, nodes=2, huge_2m=(0, 0), huge_1g=(0, 0), swap_gib=4,
           transparent="[always] madvise never")  # fmt: skip
    busy_kernel(host)
    irqbalance(host)
    sysctl(host, "kernel.numa_balancing", 1)
    host.files["/proc/sys/kernel/watchdog_cpumask"] = "0-47"
    for address, slot in cards.items():
        card(host, card=address, slot=slot, numa_node=1, local_cpus="24-47", gt_per_s=8.0,
             slot_gt_per_s=8.0, payload_bytes=256)  # fmt: skip
        functions = [f"{address}.{number}" for number in range(2)]
        firmware(host, functions, settings={}, version=FIRMWARE, board_id=BOARD)
        mlx5_eswitch(host, functions)
    module_of_vendor(host, RELEASE, OFED)
    old_tools(host)


def as_found(host: Host) -> None:
    """Test 3: one lcore of testpmd is to join a port of each of two cards."""
    server(host, {"0000:86:00": "0000:85:00.0", "0000:af:00": "0000:ae:00.0"})
    sysctl(host, "vm.zone_reclaim_mode", 1)
    ports(host, NEAR)


def hugepages(host: Host, pages: tuple[int, int]) -> None:
    """Give pages of 1 GB to the nodes, and mount hugetlbfs for them."""
    for node, count in enumerate(pages):
        path = f"{NODE}/node{node}/hugepages/hugepages-1048576kB"
        host.put(path, nr_hugepages=count, free_hugepages=count)
    whole = "/sys/kernel/mm/hugepages/hugepages-1048576kB"
    host.put(whole, nr_hugepages=sum(pages), free_hugepages=sum(pages))
    host.files["/proc/self/mounts"] = (
        "sysfs /sys sysfs rw,nosuid 0 0\n"
        "hugetlbfs /dev/hugepages hugetlbfs rw,relatime,pagesize=1024M 0 0"
    )


def boot(host: Host, parameters: str) -> None:
    """Boot with more parameters."""
    host.files["/proc/cmdline"] = f"{host.files['/proc/cmdline']} {parameters}"


def hugepages_on_wrong_node(host: Host) -> None:
    """Pages that are made by hand may all come from one node."""
    hugepages(host, (16, 0))


def hugepages_at_boot(host: Host) -> None:
    """`default_hugepagesz=1G hugepagesz=1G hugepages=64`, which are half and half."""
    boot(host, "default_hugepagesz=1G hugepagesz=1G hugepages=64")
    hugepages(host, (32, 32))
    host.replace("/proc/meminfo", "Hugepagesize:       2048", "Hugepagesize:       1048576")


def testpmd(host: Host) -> None:
    """`isolcpus=24-47`, and `testpmd -c 0x110000000000 …` under a real-time policy."""
    boot(host, "isolcpus=24-47")
    host.put(CPU, isolated="24-47")
    thread(host, 4000, "testpmd", cpu=40, share=0.02, policy=1)
    thread(host, 4000, "lcore-slave-44", tid=4007, process="testpmd", cpu=44, share=1.0,
           policy=1)  # fmt: skip


def no_throttling(host: Host) -> None:
    """`echo -1 > /proc/sys/kernel/sched_rt_runtime_us`."""
    sysctl(host, "kernel.sched_rt_runtime_us", -1)


def no_tick(host: Host) -> None:
    """`nohz_full=24-47 nosoftlockup`."""
    boot(host, "nohz_full=24-47 nosoftlockup")
    host.put(CPU, nohz_full="24-47")
    host.put("/proc/sys/kernel", watchdog_cpumask="0-23")


def no_callbacks(host: Host) -> None:
    """`rcu_nocbs=24-47 rcu_nocb_poll`."""
    boot(host, "rcu_nocbs=24-47 rcu_nocb_poll")


def shallow(host: Host) -> None:
    """`intel_idle.max_cstate=0 processor.max_cstate=0`."""
    boot(host, "intel_idle.max_cstate=0 processor.max_cstate=0")
    idle_states(host, (("POLL", 0), ("C1", 1)))
    host.put(f"{CPU}/cpuidle", current_driver="acpi_idle")


def fixed_clock(host: Host) -> None:
    """Jitter Control = Manual, 3400; `intel_pstate=disable`."""
    boot(host, "intel_pstate=disable")
    set_governor(host, "performance")


def no_flow_control(host: Host) -> None:
    """`ethtool -A $netdev rx off tx off`."""
    ports(host, NEAR, held=False)


def irqs_far(host: Host) -> None:
    """`IRQBALANCE_BANNED_CPUS=$LOCAL_NUMA_CPUMAP irqbalance --oneshot`, then stop irqbalance."""
    ports(host, FAR, held=False)
    no_irqbalance(host)


def memory_optimized(host: Host) -> None:
    """`sysctl -w vm.zone_reclaim_mode=0; sysctl -w vm.swappiness=0`."""
    sysctl(host, "vm.zone_reclaim_mode", 0)
    sysctl(host, "vm.swappiness", 0)


def read_request(host: Host) -> None:
    """`setpci -s $PORT_PCI_ADDRESS 68.w=3BCD` for each port."""
    for address in (*PORTS.values(), *IDLE.values()):
        set_read_request(host, address, 1024)


TICKING = (
    "cpu.tick_on_isolated", "cpu.rcu_callbacks_on_isolated", "kernel.watchdog_on_isolated",
    "cpu.deep_idle_states", "cpu.governor_not_performance", "pcie.read_request_small",
)  # fmt: skip
"""What costs a polling core little: the doctor says it as notes, and the document mends it too."""
TEST_3 = (
    Stage(
        "as_found",
        "default_hugepagesz=1G hugepagesz=1G hugepages=64",
        as_found,
        "memory.no_hugepages",
        DPDK,
    ),
    Stage(
        "hugepages_of_node_0",
        "--socket-mem=0,8192",
        hugepages_on_wrong_node,
        "memory.no_hugepages_on_node",
        DPDK,
    ),
    Stage("hugepages", "Flow Control OFF", hugepages_at_boot, "pause.sent", DPDK),
    Stage("no_flow_control", "isolcpus=24-47", no_flow_control, "cpu.not_isolated", DPDK),
    Stage(
        "testpmd",
        "Disable Linux realtime throttling: echo -1 > /proc/sys/kernel/sched_rt_runtime_us",
        testpmd,
        "kernel.realtime_throttling",
        DPDK,
    ),
    Stage(
        "no_throttling",
        "Move all IRQs to far NUMA node … Disable irqbalance",
        no_throttling,
        "interrupts.share_core_with_workload",
        DPDK,
    ),
    Stage(
        "irqs_far",
        "Memory optimizations: sysctl -w vm.zone_reclaim_mode=0; sysctl -w vm.swappiness=0",
        irqs_far,
        "memory.zone_reclaim",
        DPDK,
        notes=("memory.swapping",),
    ),
    Stage(
        "memory_optimized",
        "nohz_full=24-47 rcu_nocbs=24-47 rcu_nocb_poll nosoftlockup",
        memory_optimized,
        None,
        DPDK,
        notes=TICKING,
    ),
    Stage("no_tick", "rcu_nocbs=24-47 rcu_nocb_poll", no_tick, None, DPDK, notes=TICKING[3:]),
    Stage(
        "no_callbacks",
        "intel_idle.max_cstate=0 processor.max_cstate=0",
        no_callbacks,
        None,
        DPDK,
        notes=TICKING[3:],
    ),
    Stage("shallow", "Jitter Control = Manual, 3400", shallow, None, DPDK, notes=TICKING[4:]),
    Stage(
        "fixed_clock",
        "Change PCI MaxReadReq to 1024B for each port of each NIC",
        fixed_clock,
        None,
        DPDK,
        notes=TICKING[5:],
    ),
    Stage("read_request", "max throughput … with a single CPU core", read_request, None, DPDK),
)

GUESTS = Question(purpose=Purpose.GUESTS, ports=("ens6f0",))
PF, VF = "0000:af:00.0", "0000:af:00.2"
ON = {"SRIOV_EN": "True(1)", "NUM_OF_VFS": "1", "CQE_COMPRESSION": "AGGRESSIVE(1)"}


def hypervisor(host: Host) -> None:
    """Test 6: a KVM host with one card, as it comes; only its first port has a cable."""
    server(host, {"0000:af:00": "0000:ae:00.0"})
    for name, address in (("ens6f0", PF), ("ens6f1", "0000:af:00.1")):
        used = name == "ens6f0"
        link = Ethernet(partner=CONNECTX5_MODES) if used else Ethernet(
            None, fec="None", down_reason="No cable"
        )  # fmt: skip
        Port(name, address, ethernet=link, channels=24, version=OFED,
             firmware=f"{FIRMWARE} ({BOARD})").place(host)  # fmt: skip
        interrupts(host, address, mlx5_names(address, 24), NEAR, first=200 if used else 240)
    old_tools(host)


def iommu_on(host: Host) -> None:
    """`intel_iommu=on iommu=pt`; RHEL 7 does not tell a group's type."""
    boot(host, "intel_iommu=on iommu=pt")
    iommu(host, unit="dmar0", domain="identity", functions=(PF, "0000:af:00.1"))
    for path in [p for p in host.files if p.startswith("/sys/kernel/iommu_groups/")]:
        host.files[path.replace("/type", "/reserved_regions")] = host.files.pop(path)


def sriov_set(host: Host) -> None:
    """`mlxconfig … set NUM_OF_VFS=1 SRIOV_EN=1 CQE_COMPRESSION=1`."""
    functions = (PF, "0000:af:00.1")
    firmware(host, functions, settings={}, next_boot=ON, version=FIRMWARE, board_id=BOARD)
    old_tools(host)


def sriov_booted(host: Host) -> None:
    """A reboot, which `mlxconfig` asks for."""
    functions = (PF, "0000:af:00.1")
    firmware(host, functions, settings=ON, version=FIRMWARE, board_id=BOARD)
    old_tools(host)
    for address in functions:
        host.put(host.links[f"{DEVICES}/{address}"], sriov_totalvfs=1, sriov_numvfs=0)


def vf_assigned(host: Host) -> None:
    """`echo 1 > …/sriov_numvfs`, and the VF bound to vfio-pci."""
    host.put(host.links[f"{DEVICES}/{PF}"], sriov_numvfs=1)
    virtual_function(host, PF, 0, VF, "vfio-pci")


TEST_6 = (
    Stage("as_found", "intel_iommu=on iommu=pt", hypervisor, "iommu.off_for_guests", GUESTS),
    Stage(
        "iommu_on",
        "mlxconfig -d … set NUM_OF_VFS=1 SRIOV_EN=1",
        iommu_on,
        "sriov.off_in_firmware",
        GUESTS,
    ),
    Stage("set", "set NUM_OF_VFS=1 SRIOV_EN=1", sriov_set, "firmware.setting_pending", GUESTS),
    Stage("rebooted", "echo 1 > …/sriov_numvfs", sriov_booted, "sriov.no_vfs", GUESTS),
    Stage("vf_assigned", "the VF may be assigned to Guest", vf_assigned, None, GUESTS),
)
