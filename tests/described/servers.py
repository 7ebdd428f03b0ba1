"""Healthy servers and boards with what gathers around a port: bridges, tunnels, spare ports."""

from described.bonds import bond
from described.firmware import firmware, mlx5_eswitch, module_of_kernel, no_eswitch
from described.host import Host
from described.machine import (
    EPYC_4545P,
    busy_kernel,
    cpus,
    irqbalance,
    kernel,
    memory,
    sysctl,
    thread,
)
from described.pcie import card
from described.port import (
    HASH_ADDRESSES,
    OPTIC_SFP,
    Ethernet,
    Port,
    gateway,
    interrupts,
    mlx5_names,
    netdev,
)

BOOT = "BOOT_IMAGE=/boot/vmlinuz root=/dev/mapper/pve-root ro quiet"
COPPER_MODES = (
    "10baseT/Half", "10baseT/Full", "100baseT/Half", "100baseT/Full", "1000baseT/Full",
)  # fmt: skip
SFP_MODES = ("1000baseT/Full", "10000baseT/Full", "10000baseSR/Full", "10000baseLR/Full")
UP = ["BROADCAST", "MULTICAST", "UP", "LOWER_UP"]


def proxmox() -> Host:
    """Guests behind a bridge over a bond of two X710 ports; two of four 1G ports have no cable."""
    host = Host()
    kernel(host, release="6.8.12-4-pve", distribution="Debian GNU/Linux 12 (bookworm)",
           command_line=BOOT)  # fmt: skip
    cpus(host, model=EPYC_4545P, cores=16, threads=2, max_khz=5_400_000, driver="amd-pstate-epp",
         boost="cpufreq/boost", idle_driver="acpi_idle", governor="performance")  # fmt: skip
    memory(host, gib=128, transparent="[always] madvise never", swap_gib=8)
    busy_kernel(host, resent=1)
    addresses = card(host, card="0000:01:00", functions=2, ids=("0x8086", "0x1572"), driver="i40e",
                     subsystem=("0x8086", "0x0001"), lanes=8, max_lanes=8, gt_per_s=8.0,
                     max_gt_per_s=8.0, payload_bytes=256, total_vfs=64)  # fmt: skip
    link = Ethernet(10_000, SFP_MODES, fec="None", port="FIBRE", configured_fec="",
                    supported_fec="Not reported", autonegotiation=False)  # fmt: skip
    for number, address in enumerate(addresses):
        name = f"enp1s0f{number}np{number}"
        Port(name, address, "i40e", link, rings=(512, 512), rings_max=(4096, 4096), channels=32,
             channels_max=64, usecs=(50, 50), pause=("off", "off", "off"), private_flags=None,
             module=OPTIC_SFP, firmware="9.20 0x8000d87e 1.3295.0",
             counters={"port.rx_dropped": 3, "rx_alloc_fail": 0, "port.rx_crc_errors": 0,
                       "port.link_xoff_rx": 0, "port.link_xoff_tx": 0}).place(host)  # fmt: skip
        names = [f"i40e-{name}-TxRx-{n}" for n in range(32)]
        interrupts(host, address, names, range(32), first=100 + 40 * number, allowed="0-31")
    copper = card(host, card="0000:02:00", slot="0000:00:02.1", functions=4,
                  ids=("0x8086", "0x1521"), driver="igb", subsystem=("0x8086", "0x0001"), lanes=4,
                  max_lanes=4, slot_lanes=4, gt_per_s=5.0, max_gt_per_s=5.0,
                  payload_bytes=256, total_vfs=7)  # fmt: skip
    for number, address in enumerate(copper):
        name = f"enp2s0f{number}"
        up = number < 2
        gigabit = Ethernet(1000 if up else None, COPPER_MODES, partner=COPPER_MODES if up else (),
                           port="Twisted Pair", supported_fec="Not reported", fec="None",
                           configured_fec="")  # fmt: skip
        Port(name, address, "igb", gigabit, rings=(256, 256), rings_max=(4096, 4096), channels=8,
             channels_max=8, usecs=(3, 3), adaptive=("off", "off"), pause=("on", "on", "off"),
             private_flags=None, module=None, firmware="1.63, 0x80000a05",
             hash_fields=HASH_ADDRESSES,
             counters={"rx_missed_errors": 0, "rx_queue_0_drops": 0}).place(host)  # fmt: skip
        names = [name, *(f"{name}-TxRx-{n}" for n in range(8))]
        interrupts(host, address, names, range(8), first=200 + 10 * number, allowed="0-31")
    bond(host, "bond0", ["enp1s0f0np0", "enp1s0f1np1"], mode="802.3ad", megabits=10_000)
    netdev(host, "bond0", master="vmbr0")
    netdev(host, "vmbr0", "192.0.2.90/24", mtu=1500, flags=UP, operstate="UP",
           link_type="ether", linkinfo={"info_kind": "bridge", "info_data": {}})  # fmt: skip
    for guest in range(3):
        netdev(host, f"tap10{guest}i0", mtu=1500, flags=UP, operstate="UNKNOWN", link_type="ether",
               master="vmbr0", linkinfo={"info_kind": "tun"})  # fmt: skip
        thread(host, 9000 + guest, "CPU 0/KVM", tid=9100 + guest, process="kvm", cpu=3 + guest,
               allowed="0-31", share=0.2)  # fmt: skip
        thread(host, 9000 + guest, f"vhost-{9000 + guest}", tid=9200 + guest, process="kvm",
               cpu=6 + guest, allowed="0-31", share=0.1)  # fmt: skip
    netdev(host, "enp2s0f0", "198.51.100.9/24")
    gateway(host, "vmbr0", "192.0.2.1")
    no_eswitch(host, [*addresses, *copper])
    return host


def kubernetes() -> Host:
    """A node with an overlay whose MTU leaves room for VXLAN, and a hundred pods."""
    host = Host()
    kernel(host, release="5.15.0-122-generic", distribution="Ubuntu 22.04.5 LTS",
           command_line=BOOT)  # fmt: skip
    cpus(host, model="Intel(R) Xeon(R) Silver 4314 CPU @ 2.40GHz", cores=16, threads=2, nodes=2,
         max_khz=3_400_000, base_khz=2_400_000, governor="powersave")  # fmt: skip
    memory(host, gib=256, nodes=2, huge_2m=(0, 0), huge_1g=(0, 0))
    busy_kernel(host, resent=3)
    irqbalance(host)
    (address,) = card(host, card="0000:17:00", slot="0000:16:02.0", functions=1,
                      ids=("0x14e4", "0x16d7"), driver="bnxt_en", subsystem=("0x14e4", "0x1402"),
                      lanes=8, max_lanes=8, slot_lanes=16, gt_per_s=8.0, max_gt_per_s=8.0,
                      payload_bytes=256, numa_node=0, local_cpus="0-15,32-47")  # fmt: skip
    modes = ("1000baseKX/Full", "10000baseKR/Full", "25000baseCR/Full", "25000baseSR/Full")
    link = Ethernet(25_000, modes, port="FIBRE", fec="RS", partner=modes)
    Port("ens1f0np0", address, "bnxt_en", link, rings=(511, 511), rings_max=(2047, 2047),
         channels=16, channels_max=74, usecs=(10, 28), adaptive=("on", "off"),
         pause=("on", "off", "off"), private_flags=None, module=OPTIC_SFP.replace("10G", "25G"),
         firmware="224.1.60.0/pkg 22.41.06.10",
         counters={"rx_total_ring_discards": 5, "rx_total_oom_discards": 0,
                   "rx_fcs_err_frames": 0, "rx_pause_frames": 0, "tx_pause_frames": 0,
                   "rx_fec_corrected_blocks": 11_000,
                   "rx_fec_uncorrectable_blocks": 0}).place(host)  # fmt: skip
    names = [f"ens1f0np0-TxRx-{n}" for n in range(16)]
    interrupts(host, address, names, range(16), allowed="0-15,32-47")
    netdev(host, "ens1f0np0", "192.0.2.100/24")
    gateway(host, "ens1f0np0", "192.0.2.1")
    netdev(host, "flannel.1", "10.244.1.0/32", mtu=1450, flags=UP, operstate="UNKNOWN",
           link_type="ether", linkinfo={"info_kind": "vxlan", "info_data": {
               "id": 1, "local": "192.0.2.100", "link": "ens1f0np0", "port": 8472}})  # fmt: skip
    netdev(host, "cni0", "10.244.1.1/24", mtu=1450, flags=UP, operstate="UP", link_type="ether",
           linkinfo={"info_kind": "bridge", "info_data": {}})  # fmt: skip
    for pod in range(100):
        netdev(host, f"veth{pod:08x}", mtu=1450, flags=UP, operstate="UP", link_type="ether",
               master="cni0", link_netnsid=pod, linkinfo={"info_kind": "veth"})  # fmt: skip
    no_eswitch(host, [address])
    return host


def arm_board() -> Host:
    """A Raspberry Pi: no PCI, no hypervisor flag, a cpuinfo of other words."""
    host = Host()
    kernel(host, release="6.6.51+rpt-rpi-v8", distribution="Debian GNU/Linux 12 (bookworm)",
           command_line="console=tty1 root=PARTUUID=0 rootwait", clocksource="arch_sys_counter",
           clocksources="arch_sys_counter ")  # fmt: skip
    for name in ("sys_vendor", "product_name"):
        del host.files[f"/sys/class/dmi/id/{name}"]
    cpus(host, model="Cortex-A72", cores=4, max_khz=1_800_000, min_khz=600_000, idle=(),
         driver="cpufreq-dt", governor="ondemand", boost="cpufreq/boost",
         idle_driver="none")  # fmt: skip
    host.files["/proc/cpuinfo"] = (
        "processor\t: 0\nBogoMIPS\t: 108.00\nFeatures\t: fp asimd evtstrm crc32 cpuid\n"
        "CPU implementer\t: 0x41\nCPU part\t: 0xd08\n"
    )
    memory(host, gib=4, huge_1g=None)
    busy_kernel(host, segments=50)
    link = Ethernet(1000, COPPER_MODES, partner=COPPER_MODES, port="Twisted Pair",
                    supported_fec="Not reported", fec="None", configured_fec="")  # fmt: skip
    Port("eth0", None, "bcmgenet", link, rings=None, channels=None, usecs=(57, 0),
         adaptive=("off", "n/a"), pause=("on", "on", "on"), private_flags=None, module=None,
         firmware="", xps={}, rss_rings=1, hash_fields=None,
         counters={"rx_packets": 5_000, "rx_crc": 0},
         bus_path="/sys/devices/platform/scb/fd580000.ethernet").place(host)  # fmt: skip
    netdev(host, "eth0", "192.168.1.40/24")
    gateway(host, "eth0", "192.168.1.1")
    host.data["devlink -j dev info"] = {"info": {}}
    host.data["devlink -j health show"] = {"health": {}}
    return host


def nodes_per_socket_4() -> Host:
    """One socket as four nodes: most cores of its queues are on others than the card."""
    host = Host()
    kernel(host, release="6.12.38+deb13-amd64", distribution="Debian GNU/Linux 13 (trixie)",
           command_line=BOOT)  # fmt: skip
    cpus(host, model="AMD EPYC 9554 64-Core Processor", nodes=4, cores=16, max_khz=3_750_000,
         driver="acpi-cpufreq", boost="cpufreq/boost", idle_driver="acpi_idle",
         governor="ondemand")  # fmt: skip
    memory(host, gib=512, nodes=4, huge_2m=(0,) * 4, huge_1g=(0,) * 4)
    busy_kernel(host)
    irqbalance(host)
    (address,) = card(host, card="0000:a1:00", slot="0000:a0:01.1", functions=1, numa_node=2,
                      ids=("0x15b3", "0x1021"), local_cpus="32-47", gt_per_s=32.0,
                      max_gt_per_s=32.0, slot_gt_per_s=32.0)  # fmt: skip
    modes = ("100000baseCR4/Full", "200000baseCR4/Full", "400000baseCR4/Full")
    Port("enp161s0np0", address, ethernet=Ethernet(400_000, modes), channels=63,
         module=None, firmware="28.39.2048 (MT_0000000838)").place(host)  # fmt: skip
    order = [*range(32, 48), *range(32), *range(48, 64)]
    interrupts(host, address, [f"mlx5_async0@pci:{address}"], [32], first=99, allowed="32-47")
    names = [f"mlx5_comp{n}@pci:{address}" for n in range(63)]
    interrupts(host, address, names, order, first=100)
    netdev(host, "enp161s0np0", "192.0.2.110/24")
    no_eswitch(host, [address])
    return host


def storage_node() -> Host:
    """Jumbo frames on a VLAN over a bond of two 25G ports; tuned's `network-throughput` is on."""
    host = Host()
    release = "5.14.0-503.11.1.el9_5.x86_64"
    kernel(host, release=release, distribution="Red Hat Enterprise Linux 9.5 (Plow)",
           command_line=BOOT, vendor="Dell Inc.", product="PowerEdge R760")  # fmt: skip
    cpus(host, model="Intel(R) Xeon(R) Gold 5420+", nodes=2, cores=28, threads=2,
         max_khz=4_100_000, base_khz=2_000_000)  # fmt: skip
    memory(host, gib=256, nodes=2, huge_2m=(0, 0), huge_1g=(0, 0))
    busy_kernel(host, segments=90_000, resent=4)
    irqbalance(host)
    for name, value in {
        "net.core.rmem_max": 16_777_216, "net.core.wmem_max": 16_777_216,
        "net.ipv4.tcp_rmem": "4096\t87380\t16777216", "net.ipv4.tcp_wmem": "4096\t65536\t16777216",
        "vm.swappiness": 10, "kernel.numa_balancing": 1,
    }.items():  # fmt: skip
        sysctl(host, name, value)
    addresses = card(host, card="0000:b5:00", slot="0000:b4:02.0", ids=("0x15b3", "0x101f"),
                     numa_node=1, local_cpus="28-55,84-111", lanes=8, max_lanes=8, slot_lanes=16,
                     slot_gt_per_s=32.0, payload_bytes=512, total_vfs=8)  # fmt: skip
    modes = ("1000baseT/Full", "10000baseCR/Full", "25000baseCR/Full", "25000baseSR/Full")
    for number, address in enumerate(addresses):
        name = f"ens7f{number}np{number}"
        Port(name, address, ethernet=Ethernet(25_000, modes, partner=modes, port="FIBRE"),
             channels=56, mtu=9000, module=OPTIC_SFP.replace("10G", "25G"), version=release,
             firmware="26.39.2048 (DEL0000000031)", link={"master": "bond0"},
             counters={"rx_out_of_buffer": 3, "rx_discards_phy": 8}).place(host)  # fmt: skip
        near = [*range(28, 56), *range(84, 112)]
        interrupts(host, address, mlx5_names(address, 56), near, first=300 + 60 * number,
                   allowed="28-55,84-111")  # fmt: skip
    bond(host, "bond0", ["ens7f0np0", "ens7f1np1"], mode="802.3ad", megabits=25_000, mtu=9000)
    for vlan, address, mtu in ((42, "192.168.10.8/24", 9000), (40, "192.168.20.8/24", 1500)):
        netdev(host, f"bond0.{vlan}", address, mtu=mtu, flags=UP, operstate="UP", link="bond0",
               link_type="ether",
               linkinfo={"info_kind": "vlan", "info_data": {"id": vlan}})  # fmt: skip
    gateway(host, "bond0.40", "192.168.20.1")
    firmware(host, addresses, settings={}, version="26.39.2048", board_id="DEL0000000031")
    mlx5_eswitch(host, addresses)
    module_of_kernel(host, release)
    thread(host, 7000, "msgr-worker-0", tid=7004, process="ceph-osd", cpu=30, allowed="0-111",
           share=0.4)  # fmt: skip
    return host
