"""Hosts with nothing wrong: ordinary ones of many kinds, as they come and as they age.

They have what no rule may take for a fault by itself: counts since boot, settings as the driver
brings them, irqbalance, idle states, an MTU of 1500, tools that are missing, captures without root.
"""

from collections.abc import Callable

from described import clouds, servers
from described.bonds import bond
from described.documents import done
from described.firmware import firmware, mlx5_eswitch, module_of_kernel, no_eswitch
from described.host import Host
from described.machine import (
    AMD_IDLE,
    EPYC_4545P,
    FLAGS,
    XEON_8168,
    busy_kernel,
    cpus,
    iommu,
    irqbalance,
    kernel,
    memory,
    sysctl,
    thread,
)
from described.pcie import card, on_board
from described.port import (
    CONNECTX5_MODES,
    HASH_ADDRESSES,
    OPTIC_SFP,
    Ethernet,
    Port,
    gateway,
    interrupts,
    mlx5_names,
    netdev,
)
from wirespeed.model.question import Purpose

DMESG_DENIED = "dmesg: read kernel buffer failed: Operation not permitted\n"
DEBIAN = "Debian GNU/Linux 13 (trixie)"
UBUNTU = "Ubuntu 24.04.1 LTS"
DEBIAN_KERNEL = "6.12.38+deb13-amd64"
UBUNTU_KERNEL = "6.8.0-45-generic"
BOOT = "BOOT_IMAGE=/boot/vmlinuz root=UUID=0 ro quiet"
AGED = {
    "rx_out_of_buffer": 37, "rx_discards_phy": 12, "rx_crc_errors_phy": 2,
    "rx_steer_missed_packets": 9_000, "rx_pause_ctrl_phy": 4, "rx_corrected_bits_phy": 1_775_073,
    "tx_pause_ctrl_phy": 11,
}  # fmt: skip
"""What a card has counted after some months: less than a millionth of its frames."""
GROWN_AGED = {"rx_steer_missed_packets": 3, "rx_corrected_bits_phy": 5}
COPPER_MODES = (
    "10baseT/Half", "10baseT/Full", "100baseT/Half", "100baseT/Full", "1000baseT/Full",
)  # fmt: skip


def dual_xeon_100g() -> Host:
    """Two sockets and a ConnectX-5 at x16 of Gen 3, as it comes; asked by root."""
    host = Host()
    kernel(host, release=UBUNTU_KERNEL, distribution=UBUNTU, command_line=BOOT, vendor="HPE",
           product="ProLiant DL380 Gen10")  # fmt: skip
    cpus(host, model=XEON_8168, nodes=2, cores=24, threads=2, mhz=3100.0, max_khz=3_700_000,
         governor="powersave", base_khz=2_700_000)  # fmt: skip
    memory(host, gib=384, nodes=2, huge_2m=(0, 0), huge_1g=(0, 0), swap_gib=8)
    busy_kernel(host)
    irqbalance(host)
    sysctl(host, "kernel.numa_balancing", 1)
    local = "24-47,72-95"
    addresses = card(host, card="0000:af:00", slot="0000:ae:00.0", numa_node=1, local_cpus=local,
                     ids=("0x15b3", "0x1017"), gt_per_s=8.0, max_gt_per_s=8.0, slot_gt_per_s=8.0,
                     payload_bytes=256, total_vfs=8)  # fmt: skip
    for number, address in enumerate(addresses):
        port = Port(f"ens6f{number}np{number}", address, channels=48, counters=AGED,
                    version=UBUNTU_KERNEL, phys_port_name=f"p{number}",
                    grown=GROWN_AGED)  # fmt: skip
        port.place(host)
        names = mlx5_names(address, 48)
        interrupts(host, address, names, range(24, 48), first=200 + 60 * number)
    netdev(host, "ens6f0np0", "192.0.2.10/24")
    netdev(host, "ens6f1np1", "198.51.100.10/24")
    gateway(host, "ens6f0np0", "192.0.2.1")
    firmware(host, addresses, settings={})
    mlx5_eswitch(host, addresses)
    module_of_kernel(host, UBUNTU_KERNEL)
    return host


def epyc_200g() -> Host:
    """One port of 200 Gb/s at x16 of Gen 4 with jumbo frames, asked without root."""
    host = Host()
    kernel(host, release=DEBIAN_KERNEL, distribution=DEBIAN, command_line=BOOT, vendor="Dell Inc.",
           product="PowerEdge R7525")  # fmt: skip
    cpus(host, model="AMD EPYC 7763 64-Core Processor", cores=64, threads=1, mhz=2450.0,
         max_khz=3_529_000, min_khz=1_500_000, governor="schedutil", driver="acpi-cpufreq",
         boost="cpufreq/boost", idle_driver="acpi_idle", idle=AMD_IDLE)  # fmt: skip
    memory(host, gib=512, huge_1g=None)
    busy_kernel(host)
    irqbalance(host)
    host.denied.add("/proc/812/environ")
    del host.files["/proc/812/environ"]
    (address,) = card(host, card="0000:41:00", slot="0000:40:01.1", functions=1,
                      ids=("0x15b3", "0x101d"), local_cpus="0-63", numa_node=0,
                      is_root=False)  # fmt: skip
    link = Ethernet(200_000, (*CONNECTX5_MODES, "200000baseCR4/Full", "200000baseSR4/Full"))
    Port("enp65s0np0", address, ethernet=link, mtu=9000, channels=63, module=None,
         counters=AGED, firmware="22.39.2048 (MT_0000000359)").place(host)  # fmt: skip
    interrupts(host, address, mlx5_names(address, 63), range(63), allowed="0-63")
    netdev(host, "enp65s0np0", "192.0.2.20/24")
    gateway(host, "enp65s0np0", "192.0.2.1")
    firmware(host, [address], version="22.39.2048", board_id="MT_0000000359")
    mlx5_eswitch(host, [address], lag=None)
    module_of_kernel(host, DEBIAN_KERNEL)
    host.answer("dmesg", errors=DMESG_DENIED, returncode=1)
    return host


def ice_25g() -> Host:
    """An Intel E810 in a bond of two ports, which counts pause frames and discards since boot."""
    host = Host()
    kernel(host, release="5.14.0-427.el9.x86_64", distribution="Rocky Linux 9.4 (Blue Onyx)",
           command_line=BOOT)  # fmt: skip
    cpus(host, model="Intel(R) Xeon(R) Gold 6338 CPU @ 2.00GHz", nodes=2, cores=32, threads=1,
         max_khz=3_200_000, base_khz=2_000_000, governor="performance")  # fmt: skip
    memory(host, gib=256, nodes=2, huge_2m=(0, 0), huge_1g=(0, 0))
    busy_kernel(host)
    irqbalance(host)
    addresses = card(host, card="0000:4b:00", slot="0000:4a:02.0", ids=("0x8086", "0x159b"),
                     subsystem=("0x8086", "0x0003"), driver="ice", numa_node=0, local_cpus="0-31",
                     lanes=8, max_lanes=8, slot_lanes=16, payload_bytes=256,
                     total_vfs=128)  # fmt: skip
    modes = ("1000baseT/Full", "10000baseCR/Full", "10000baseSR/Full", "25000baseCR/Full",
             "25000baseSR/Full")  # fmt: skip
    counters = {
        "rx_dropped": 0, "rx_alloc_fail": 0, "rx_pg_alloc_fail": 0, "rx_dropped.nic": 40,
        "rx_crc_errors.nic": 1, "link_xoff_rx.nic": 7, "link_xoff_tx.nic": 3,
    }  # fmt: skip
    for number, address in enumerate(addresses):
        link = Ethernet(25_000, modes, port="FIBRE", supported_fec="None RS BASER",
                        fec="RS", configured_fec="Auto RS BaseR")  # fmt: skip
        name = f"ens1f{number}"
        Port(name, address, "ice", link, rings=(2048, 256), rings_max=(8160, 8160), channels=32,
             channels_max=64, usecs=(50, 50), pause=("on", "off", "off"), private_flags=None,
             counters=counters, module=OPTIC_SFP.replace("10G", "25G"),
             hash_fields=HASH_ADDRESSES, firmware="4.40 0x8001c7d4 1.3534.0",
             link={"master": "bond0"}).place(host)  # fmt: skip
        names = [f"ice-{name}-TxRx-{queue}" for queue in range(32)]
        interrupts(host, address, names, range(32), first=100 + 40 * number, allowed="0-31")
    bond(host, "bond0", ["ens1f0", "ens1f1"], mode="802.3ad", megabits=25_000)
    netdev(host, "bond0", "192.0.2.30/24")
    gateway(host, "bond0", "192.0.2.1")
    no_eswitch(host, addresses)
    return host


def desktop_1g() -> Host:
    """An e1000e on the board: no PCIe link of its own, one interrupt, one queue."""
    host = Host()
    kernel(host, release="6.1.0-25-amd64", distribution="Debian GNU/Linux 12 (bookworm)",
           command_line=BOOT, vendor="Dell Inc.", product="OptiPlex 7080")  # fmt: skip
    cpus(host, model="Intel(R) Core(TM) i5-10500 CPU @ 3.10GHz", cores=6, threads=2,
         max_khz=4_500_000, governor="powersave")  # fmt: skip
    memory(host, gib=16, swap_gib=1)
    busy_kernel(host, segments=80)
    on_board(host, "0000:00:1f.6", ids=("0x8086", "0x0d4c"), driver="e1000e", local_cpus="0-11")
    link = Ethernet(1000, COPPER_MODES, partner=COPPER_MODES, port="Twisted Pair",
                    supported_fec="Not reported", fec="None", configured_fec="")  # fmt: skip
    counters = {
        "rx_packets": 900_000, "tx_packets": 400_000, "rx_crc_errors": 0, "rx_missed_errors": 0,
        "rx_no_buffer_count": 3, "rx_flow_control_xoff": 2, "tx_flow_control_xoff": 0,
    }  # fmt: skip
    Port("eno1", "0000:00:1f.6", "e1000e", link, rings=(256, 256), rings_max=(4096, 4096),
         channels=None, usecs=(3, 3), adaptive=("off", "off"), pause=("on", "on", "on"),
         private_flags=None, counters=counters, module=None, firmware="0.8-4",
         xps={}, rss_rings=1, hash_fields=None).place(host)  # fmt: skip
    interrupts(host, "0000:00:1f.6", ["eno1"], [4], first=125, allowed="0-11")
    netdev(host, "eno1", "192.0.2.40/24")
    gateway(host, "eno1", "192.0.2.1")
    no_eswitch(host, ["0000:00:1f.6"])
    return host


def guest_virtio() -> Host:
    """A guest of KVM in a cloud, with four queues of virtio."""
    host = Host()
    kernel(host, release=UBUNTU_KERNEL, distribution=UBUNTU, command_line=BOOT, vendor="QEMU",
           product="Standard PC (Q35 + ICH9, 2009)", clocksource="kvm-clock",
           clocksources="kvm-clock tsc acpi_pm ", guest_of="kvm")  # fmt: skip
    cpus(host, model="AMD EPYC-Milan Processor", cores=4, max_khz=None, idle_driver="none",
         idle=(), flags=f"{FLAGS} hypervisor")  # fmt: skip
    memory(host, gib=16, transparent="[always] madvise never")
    busy_kernel(host)
    on_board(host, "0000:01:00.0", ids=("0x1af4", "0x1041"), driver="virtio-pci",
             local_cpus="0-3", subsystem="0x1af4")  # fmt: skip
    virtio = host.links["/sys/bus/pci/devices/0000:01:00.0"] + "/virtio0"
    link = Ethernet(None, (), port="Other", supported_fec="Not reported", fec="None",
                    configured_fec="", autonegotiation=False)  # fmt: skip
    Port("enp1s0", None, "virtio_net", link, rings=(256, 256), rings_max=(256, 256), channels=4,
         channels_max=4, adaptive=("off", "n/a"), usecs=(0, 0), pause=None, private_flags=None,
         module=None, counters={"rx_drops": 0, "rx0_drops": 0, "tx0_kicks": 900},
         firmware="", version="1.0.0", hash_fields=None, bus_path=virtio,
         mtu=1450).place(host)  # fmt: skip
    host.replace_answer("ethtool enp1s0", "Link detected: no", "Link detected: yes")
    host.put("/sys/class/net/enp1s0", carrier=1)
    netdev(host, "enp1s0", "192.0.2.50/24", flags=["BROADCAST", "MULTICAST", "UP", "LOWER_UP"],
           operstate="UP", parentbus="virtio", parentdev="virtio0")  # fmt: skip
    gateway(host, "enp1s0", "192.0.2.1")
    names = ["virtio0-config"]
    names += [f"virtio0-{way}.{n}" for n in range(4) for way in ("input", "output")]
    interrupts(host, "0000:01:00.0", names, range(4), first=30, allowed="0-3")
    no_eswitch(host, ["0000:01:00.0"])
    return host


def guest_vf() -> Host:
    """A guest of KVM that was given a VF of a ConnectX-5: no PCIe link can be seen from here."""
    host = Host()
    kernel(host, release=DEBIAN_KERNEL, distribution=DEBIAN, command_line=BOOT, vendor="QEMU",
           product="Standard PC (Q35 + ICH9, 2009)", guest_of="kvm")  # fmt: skip
    cpus(host, model=EPYC_4545P, cores=16, max_khz=None, idle_driver="none", idle=(),
         flags=f"{FLAGS} hypervisor")  # fmt: skip
    memory(host, gib=8)
    busy_kernel(host)
    address = "0000:00:04.0"
    on_board(host, address, ids=("0x15b3", "0x101a"), driver="mlx5_core", local_cpus="0-15",
             subsystem="0x15b3")  # fmt: skip
    path = host.links[f"/sys/bus/pci/devices/{address}"]
    host.put(path, current_link_width=0, max_link_width=0, current_link_speed="Unknown",
             max_link_speed="Unknown")  # fmt: skip
    Port("ens4", address, channels=11, channels_max=11, module=None, mtu=9000,
         pause=None, counters={"rx_steer_missed_packets": 12}).place(host)  # fmt: skip
    interrupts(host, address, mlx5_names(address, 11), range(11), first=40, allowed="0-15")
    netdev(host, "ens4", "192.168.10.2/24")
    firmware(host, [address], version="16.35.4554")
    mlx5_eswitch(host, [address], lag="disabled")
    host.answer(f"devlink -j dev eswitch show pci/{address}",
                errors="kernel answers: Operation not supported\n", returncode=1)  # fmt: skip
    del host.data[f"devlink -j dev eswitch show pci/{address}"]
    module_of_kernel(host, DEBIAN_KERNEL)
    return host


def laptop() -> Host:
    """Wi-Fi only, on battery; not asked as root."""
    host = Host()
    kernel(host, release="6.11.4-301.fc41.x86_64", distribution="Fedora Linux 41", vendor="LENOVO",
           command_line=BOOT, product="20XW")  # fmt: skip
    cpus(host, model="11th Gen Intel(R) Core(TM) i7-1165G7 @ 2.80GHz", cores=4, threads=2,
         max_khz=4_700_000, min_khz=400_000, governor="powersave",
         idle=(("POLL", 0), ("C1_ACPI", 1), ("C2_ACPI", 127), ("C3_ACPI", 1048)))  # fmt: skip
    memory(host, gib=16, swap_gib=8, huge_1g=None)
    busy_kernel(host, segments=30)
    (address,) = card(host, card="0000:00:14", slot="0000:00:1c.0", functions=1, lanes=1,
                      ids=("0x8086", "0x2725"), subsystem=("0x8086", "0x0024"), driver="iwlwifi",
                      max_lanes=1, slot_lanes=1, gt_per_s=5.0, max_gt_per_s=5.0,
                      slot_gt_per_s=8.0, payload_bytes=128, is_root=False,
                      local_cpus="0-7")  # fmt: skip
    path = host.links[f"/sys/bus/pci/devices/{address}"]
    host.put(path, **{"class": "0x028000"})
    Port("wlp0s20f3", address, "iwlwifi", None, rings=None, channels=None, usecs=None, pause=None,
         private_flags=None, module=None, firmware="89.202a2f7b.0 ty-a0-gf-a0-89.uc",
         xps={}, rss_rings=1, hash_fields=None).place(host)  # fmt: skip
    errors = "netlink error: Operation not supported\n"
    host.answer("ethtool -x wlp0s20f3", errors=errors, returncode=1)
    interrupts(host, address, ["iwlwifi:default_queue", "iwlwifi:queue_1"], [0, 1], first=150)
    netdev(host, "wlp0s20f3", "192.168.1.23/24")
    gateway(host, "wlp0s20f3", "192.168.1.1")
    no_eswitch(host, [address])
    host.answer("dmesg", errors=DMESG_DENIED, returncode=1)
    return host


def container() -> Host:
    """A container with almost nothing: no tools, and a veth without a device."""
    host = Host()
    kernel(host, release=UBUNTU_KERNEL, distribution="Alpine Linux v3.20", command_line=BOOT)
    cpus(host, model=XEON_8168, cores=2, max_khz=None, idle=(), idle_driver="intel_idle")
    memory(host, gib=8)
    busy_kernel(host, segments=10)
    host.answers.clear()
    for path in [p for p in host.files if p.startswith("/proc/sys/net/core/")]:
        del host.files[path]
    host.put("/proc/sys/net/core", somaxconn=4096)
    host.files["/.dockerenv"] = ""
    return host


def dpdk_vfio() -> Host:
    """A tuned host whose ports belong to vfio-pci, so that no netdev tells of them."""
    host = Host()
    cores = "4-15"
    kernel(host, release=DEBIAN_KERNEL, distribution=DEBIAN,
           command_line=f"{BOOT} isolcpus={cores} nohz_full={cores} rcu_nocbs={cores} "
           "default_hugepagesz=1G hugepagesz=1G hugepages=16 amd_iommu=on iommu=pt "
           "processor.max_cstate=1 nosoftlockup")  # fmt: skip
    cpus(host, model=EPYC_4545P, cores=16, max_khz=5_400_000, driver="amd-pstate-epp",
         boost="cpufreq/boost", idle_driver="acpi_idle", idle=AMD_IDLE[:2])  # fmt: skip
    host.put("/sys/devices/system/cpu", isolated=cores, nohz_full=cores)
    host.put("/proc/sys/kernel", watchdog_cpumask="0-3", sched_rt_runtime_us=-1)
    memory(host, gib=64, huge_1g=(16,), default_kb=1 << 20, transparent="always madvise [never]")
    busy_kernel(host)
    addresses = card(host, card="0000:01:00", ids=("0x8086", "0x1572"), driver="vfio-pci",
                     subsystem=("0x8086", "0x0001"), lanes=8, max_lanes=8, gt_per_s=8.0,
                     max_gt_per_s=8.0, payload_bytes=256, functions=4, local_cpus="0-15",
                     total_vfs=32)  # fmt: skip
    iommu(host, unit="ivhd0", domain="identity", functions=addresses)
    on_board(host, "0000:09:00.0", ids=("0x8086", "0x1533"), driver="igb", local_cpus="0-15")
    link = Ethernet(1000, COPPER_MODES, partner=COPPER_MODES, port="Twisted Pair",
                    supported_fec="Not reported", fec="None", configured_fec="")  # fmt: skip
    Port("enp9s0", "0000:09:00.0", "igb", link, rings=(256, 256), rings_max=(4096, 4096),
         channels=4, channels_max=4, usecs=(3, 3), adaptive=("off", "off"),
         pause=("on", "on", "off"), private_flags=None, module=None, firmware="3.25, 0x800005cc",
         hash_fields=HASH_ADDRESSES,
         counters={"rx_missed_errors": 0, "rx_queue_0_drops": 0}).place(host)  # fmt: skip
    names = ["enp9s0", *(f"enp9s0-TxRx-{n}" for n in range(4))]
    interrupts(host, "0000:09:00.0", names, range(4), allowed="0-3")
    netdev(host, "enp9s0", "192.0.2.70/24")
    no_eswitch(host, [*addresses, "0000:09:00.0"])
    thread(host, 5000, "dpdk-testpmd", cpu=4, share=0.01)
    for worker in range(5, 9):
        thread(host, 5000, f"dpdk-worker{worker}", tid=5000 + worker, process="dpdk-testpmd",
               cpu=worker, share=1.0)  # fmt: skip
    return host


def wsl2_tuned() -> Host:
    """WSL2 as its document leaves it."""
    return done("wsl2")


def ovs_offloading() -> Host:
    """Open vSwitch with VF-LAG and flows in the card, as its document leaves it."""
    return done("sriov_offloaded")


def dpdk_tuned() -> Host:
    """A host of the performance report with all its settings."""
    return done("dpdk_test_3")


def kinds() -> dict[str, Callable[[], Host]]:
    """Every healthy host by the name of what makes it."""
    return {
        make.__name__: make
        for make in (
            dual_xeon_100g, epyc_200g, ice_25g, desktop_1g, guest_virtio, guest_vf, laptop,
            clouds.azure, clouds.ec2, clouds.vmware, clouds.guest_with_bonded_vfs, servers.proxmox,
            servers.kubernetes, servers.arm_board, servers.nodes_per_socket_4, servers.storage_node,
            container, dpdk_vfio, wsl2_tuned, ovs_offloading, dpdk_tuned,
        )
    }  # fmt: skip


FIT_FOR = {
    "dual_xeon_100g": (Purpose.TCP, Purpose.STORAGE),
    "epyc_200g": (Purpose.TCP, Purpose.STORAGE),
    "ice_25g": (Purpose.TCP, Purpose.STORAGE),
    "desktop_1g": (Purpose.TCP,),
    "guest_virtio": (Purpose.TCP, Purpose.STORAGE),
    "guest_vf": (Purpose.TCP, Purpose.STORAGE),
    "laptop": (Purpose.TCP,),
    "azure": (Purpose.TCP, Purpose.STORAGE),
    "ec2": (Purpose.TCP, Purpose.STORAGE),
    "vmware": (Purpose.TCP, Purpose.STORAGE),
    "guest_with_bonded_vfs": (Purpose.TCP, Purpose.STORAGE),
    "proxmox": (Purpose.TCP, Purpose.STORAGE),
    "kubernetes": (Purpose.TCP, Purpose.STORAGE),
    "arm_board": (Purpose.TCP,),
    "storage_node": (Purpose.TCP, Purpose.STORAGE),
    "nodes_per_socket_4": (Purpose.TCP, Purpose.STORAGE),
    "dpdk_vfio": (Purpose.DPDK,),
    "wsl2_tuned": (Purpose.TCP, Purpose.STORAGE),
    "ovs_offloading": (Purpose.GUESTS, Purpose.TCP, Purpose.STORAGE),
    "dpdk_tuned": (Purpose.DPDK,),
    "container": (Purpose.TCP, Purpose.STORAGE),
}
"""Purposes that an ordinary host of the kind serves as it comes."""
