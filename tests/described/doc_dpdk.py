"""`Mellanox NIC's Performance Report with DPDK 19.08`: tests 2, 3 and 6, a setting at a time.

The document gives its settings as a list without an order, so the order is that of what each costs
as the doctor ranks it.
"""

from described.firmware import firmware, mlx5_eswitch, module_of_vendor
from described.host import Host
from described.machine import (
    CPU,
    FLAGS,
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
from described.pcie import DEVICES, card, on_board, set_read_request, virtual_function
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


def hugepages(host: Host, pages: tuple[int, ...]) -> None:
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


PF = "0000:af:00.0"


def one_card(host: Host, irq_cpus: range, pause: tuple[str, str, str] = PAUSED) -> None:
    """The card's two ports, of which only the first has a cable."""
    for name, address in (("ens6f0", PF), ("ens6f1", "0000:af:00.1")):
        used = name == "ens6f0"
        link = Ethernet(partner=CONNECTX5_MODES)
        if not used:
            link = Ethernet(None, fec="None", down_reason="No cable")
        Port(name, address, ethernet=link, channels=24, version=OFED, pause=pause,
             firmware=f"{FIRMWARE} ({BOARD})").place(host)  # fmt: skip
        interrupts(host, address, mlx5_names(address, 24), irq_cpus, first=200 if used else 240,
                   count=5_000, grown=2)  # fmt: skip
    old_tools(host)


def as_printed(host: Host) -> None:
    """Test 2: its boot line isolates CPUs 0-23; its 12 lcores are 36-47, near the card."""
    server(host, {"0000:af:00": "0000:ae:00.0"})
    one_card(host, FAR, pause=("off", "off", "off"))
    no_irqbalance(host)
    hugepages_at_boot(host)
    for step in (memory_optimized, shallow, fixed_clock, no_throttling):
        step(host)
    isolate(host, "0-23", kept="24-47")
    for lcore in range(36, 48):
        name = "l3fwd" if lcore == 36 else f"lcore-slave-{lcore}"
        thread(host, 4000, name, tid=3964 + lcore, process="l3fwd", cpu=lcore, share=1.0,
               policy=1)  # fmt: skip


def isolate(host: Host, polling: str, *, kept: str) -> None:
    """`isolcpus`, `nohz_full` and `rcu_nocbs` in place of what they were."""
    boot(host, f"isolcpus={polling} nohz_full={polling} rcu_nocbs={polling}")
    host.put(CPU, isolated=polling, nohz_full=polling)
    host.put("/proc/sys/kernel", watchdog_cpumask=kept)


def isolated_near(host: Host) -> None:
    """The boot line that the document prints for tests 1, 3 and 4."""
    isolate(host, "24-47", kept="0-23")


TEST_2 = (
    Stage("as_printed", "isolcpus=0-23 … l3fwd -c 0xffff00000000", as_printed, "cpu.not_isolated",
          DPDK),
    Stage("isolated_near", "isolcpus=24-47", isolated_near, None, DPDK),
)  # fmt: skip

GUESTS = Question(purpose=Purpose.GUESTS, ports=("ens6f0",))
VF = "0000:af:00.2"
ON = {"SRIOV_EN": "True(1)", "NUM_OF_VFS": "1", "CQE_COMPRESSION": "AGGRESSIVE(1)"}


def hypervisor(host: Host) -> None:
    """Test 6: a KVM host with one card, as it comes; only its first port has a cable."""
    server(host, {"0000:af:00": "0000:ae:00.0"})
    one_card(host, NEAR)


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


def guest(host: Host) -> None:
    """Test 6's guest: 23 CPUs of one node, and the VF at 00:06.0."""
    kernel(host, release=RELEASE, distribution="Red Hat Enterprise Linux Server 7.4 (Maipo)",
           command_line=BOOT, vendor="Red Hat", product="KVM", guest_of="kvm",
           clocksource="kvm-clock", clocksources="kvm-clock tsc acpi_pm ")  # fmt: skip
    cpus(host, model=XEON_8168, cores=23, max_khz=None, idle_driver="none", idle=(),
         flags=f"{FLAGS} hypervisor")  # fmt: skip
    memory(host, gib=32)
    busy_kernel(host)
    sysctl(host, "vm.zone_reclaim_mode", 0)
    host.files["/proc/sys/kernel/watchdog_cpumask"] = "0-22"
    address = "0000:00:06.0"
    on_board(host, address, ids=("0x15b3", "0x101a"), driver="mlx5_core", local_cpus="0-22",
             subsystem="0x15b3")  # fmt: skip
    host.put(host.links[f"{DEVICES}/{address}"], current_link_width=0, max_link_width=0,
             current_link_speed="Unknown", max_link_speed="Unknown")  # fmt: skip
    Port("eth1", address, channels=12, channels_max=12, pause=None, module=None, version=OFED,
         firmware=f"{FIRMWARE} ({BOARD})").place(host)  # fmt: skip
    interrupts(host, address, mlx5_names(address, 12), range(18, 23), first=30, grown=2)
    module_of_vendor(host, RELEASE, OFED)
    old_tools(host)


def guest_booted(host: Host) -> None:
    """Guest BOOT Settings, but for isolation: `hugepagesz=1G hugepages=16 nosoftlockup`."""
    boot(host, "default_hugepagesz=1G hugepagesz=1G hugepages=16 nosoftlockup idle=poll")
    hugepages(host, (16,))
    host.replace("/proc/meminfo", "Hugepagesize:       2048", "Hugepagesize:       1048576")


def guest_l3fwd(host: Host) -> None:
    """`isolcpus=0-17 nohz_full=0-17 rcu_nocbs=0-17`, and l3fwd on 12 lcores, 10 to 21."""
    isolate(host, "0-17", kept="18-22")
    for lcore in range(10, 22):
        name = "l3fwd" if lcore == 10 else f"lcore-slave-{lcore}"
        thread(host, 4000, name, tid=3990 + lcore, process="l3fwd", cpu=lcore, share=1.0,
               policy=1)  # fmt: skip


def guest_irqs(host: Host) -> None:
    """`IRQBALANCE_BANNED_CPUS=… irqbalance --oneshot`: to the one CPU that has no lcore."""
    address = "0000:00:06.0"
    interrupts(host, address, mlx5_names(address, 12), (22,), first=30, grown=2)


TEST_6_GUEST = (
    Stage("as_found", "hugepagesz=1G hugepages=16", guest, "memory.no_hugepages", DPDK),
    Stage("hugepages", "isolcpus=0-17", guest_booted, "cpu.not_isolated", DPDK),
    Stage(
        "l3fwd",
        "Disable Linux realtime throttling",
        guest_l3fwd,
        "kernel.realtime_throttling",
        DPDK,
    ),
    # Of the document's 12 lcores four are on CPUs that it leaves to the rest of the guest.
    Stage(
        "no_throttling",
        "Move all IRQs to far NUMA node",
        no_throttling,
        "interrupts.share_core_with_workload",
        DPDK,
    ),
    Stage("irqs_apart", "148.23 Mpps of 148.81", guest_irqs, None, DPDK),
)
