"""Healthy guests of clouds and hypervisors, whose ports tell little or odd things."""

from described.bonds import bond
from described.firmware import firmware, module_of_kernel, no_eswitch
from described.host import Host
from described.machine import FLAGS, busy_kernel, cpus, irqbalance, kernel, memory
from described.pcie import DEVICES, card, on_board
from described.port import (
    HASH_ADDRESSES,
    Ethernet,
    Port,
    gateway,
    interrupts,
    mlx5_names,
    netdev,
)

BOOT = "BOOT_IMAGE=/boot/vmlinuz root=UUID=0 ro console=ttyS0"
NO_LINK_MODES = {"supported_fec": "Not reported", "fec": "None", "configured_fec": "",
                 "autonegotiation": False, "partner_autonegotiation": None}  # fmt: skip


def azure() -> Host:
    """Accelerated networking: an adapter of Hyper-V with a VF of the card below it."""
    host = Host()
    release = "6.8.0-1015-azure"
    kernel(host, release=release, distribution="Ubuntu 24.04.1 LTS", command_line=BOOT,
           vendor="Microsoft Corporation", product="Virtual Machine", guest_of="microsoft",
           clocksource="hyperv_clocksource_tsc_page",
           clocksources="hyperv_clocksource_tsc_page tsc acpi_pm ")  # fmt: skip
    cpus(host, model="Intel(R) Xeon(R) Platinum 8370C CPU @ 2.80GHz", cores=4, threads=2,
         max_khz=None, idle_driver="none", idle=(), flags=f"{FLAGS} hypervisor")  # fmt: skip
    memory(host, gib=32)
    busy_kernel(host)
    link = Ethernet(50_000, (), port="Other", **NO_LINK_MODES)
    guid = "/sys/devices/LNXSYSTM:00/LNXSYBUS:00/ACPI0004:00/VMBUS:00/000d3a12-0000-1000-8000-000d"
    Port("eth0", None, "hv_netvsc", link, rings=(9362, 170), rings_max=(18139, 2560), channels=8,
         channels_max=8, usecs=None, pause=None, private_flags=None, module=None, firmware="N/A",
         version="", xps={}, bus_path=guid,
         counters={"tx_busy": 0, "vf_rx_packets": 90_000, "vf_tx_packets": 80_000,
                   "vf_tx_dropped": 0}).place(host)  # fmt: skip
    address = "a1b2:00:02.0"
    on_board(host, address, ids=("0x15b3", "0x1016"), driver="mlx5_core", local_cpus="0-7",
             subsystem="0x15b3")  # fmt: skip
    host.put(host.links[f"{DEVICES}/{address}"], current_link_width=0, max_link_width=0,
             current_link_speed="Unknown", max_link_speed="Unknown")  # fmt: skip
    Port("enP41394s1", address, ethernet=Ethernet(50_000, fec="None"), channels=8, channels_max=8,
         module=None, pause=None, firmware="14.30.1284 (MSF0010110035)",
         link={"master": "eth0"}).place(host)  # fmt: skip
    interrupts(host, address, mlx5_names(address, 8), range(8), allowed="0-7")
    netdev(host, "eth0", "10.0.0.4/24")
    gateway(host, "eth0", "10.0.0.1")
    firmware(host, [address], version="14.30.1284", board_id="MSF0010110035")
    no_eswitch(host, [address])
    module_of_kernel(host, release)
    return host


def ec2() -> Host:
    """An instance with an ENA port, whose driver knows neither speed nor modes."""
    host = Host()
    kernel(host, release="6.1.112-122.189.amzn2023.x86_64", distribution="Amazon Linux 2023",
           command_line=BOOT, vendor="Amazon EC2", product="c6i.2xlarge",
           guest_of="amazon")  # fmt: skip
    cpus(host, model="Intel(R) Xeon(R) Platinum 8375C CPU @ 2.90GHz", cores=4, threads=2,
         max_khz=3_500_000, governor="powersave", flags=f"{FLAGS} hypervisor")  # fmt: skip
    memory(host, gib=16)
    busy_kernel(host, resent=2)
    irqbalance(host)
    address = "0000:00:05.0"
    on_board(host, address, ids=("0x1d0f", "0xec20"), driver="ena", local_cpus="0-7",
             subsystem="0x1d0f")  # fmt: skip
    link = Ethernet(None, (), port="Other", **NO_LINK_MODES)
    Port("ens5", address, "ena", link, mtu=9001, rings=(1024, 1024), rings_max=(16384, 1024),
         channels=8, channels_max=8, adaptive=("on", "n/a"), usecs=(20, 64), pause=None,
         private_flags=None, module=None, firmware="", xps={n: f"{3 << n:02x}" for n in range(8)},
         counters={"tx_timeout": 0, "bw_in_allowance_exceeded": 0, "rx_drops": 0},
         hash_fields=None).place(host)  # fmt: skip
    host.replace_answer("ethtool ens5", "Link detected: no", "Link detected: yes")
    host.put("/sys/class/net/ens5", carrier=1)
    names = ["ena-mgmnt@pci:0000:00:05.0", *(f"ens5-Tx-Rx-{n}" for n in range(8))]
    interrupts(host, address, names, range(8), first=27, allowed="0-7")
    netdev(host, "ens5", "172.31.0.4/20", operstate="UP",
           flags=["BROADCAST", "MULTICAST", "UP", "LOWER_UP"])  # fmt: skip
    gateway(host, "ens5", "172.31.0.1")
    no_eswitch(host, [address])
    return host


def vmware() -> Host:
    """A guest of ESXi with vmxnet3, whose PCIe link is made up."""
    host = Host()
    kernel(host, release="4.18.0-553.el8_10.x86_64", distribution="AlmaLinux 8.10",
           command_line=BOOT, vendor="VMware, Inc.", product="VMware Virtual Platform",
           guest_of="vmware")  # fmt: skip
    cpus(host, model="Intel(R) Xeon(R) Gold 6248 CPU @ 2.50GHz", cores=4, max_khz=None,
         idle_driver="none", idle=(), flags=f"{FLAGS} hypervisor")  # fmt: skip
    memory(host, gib=16, swap_gib=4)
    busy_kernel(host)
    (address,) = card(host, card="0000:0b:00", slot="0000:00:16.0", functions=1, lanes=32,
                      ids=("0x15ad", "0x07b0"), subsystem=("0x15ad", "0x07b0"), driver="vmxnet3",
                      max_lanes=32, slot_lanes=32, gt_per_s=5.0, max_gt_per_s=5.0,
                      slot_gt_per_s=5.0, payload_bytes=128, local_cpus="0-3")  # fmt: skip
    bridge = host.links[f"{DEVICES}/0000:00:16.0"]
    host.put(bridge, vendor="0x15ad", device="0x07a0", subsystem_vendor="0x15ad")
    link = Ethernet(10_000, ("1000baseT/Full", "10000baseT/Full"), port="Twisted Pair",
                    **NO_LINK_MODES)  # fmt: skip
    Port("ens192", address, "vmxnet3", link, rings=(1024, 512), rings_max=(4096, 4096), channels=4,
         channel_kind="RX+TX", channels_max=8, usecs=None, pause=None, private_flags=None,
         module=None, firmware="", counters={"drv dropped tx total": 0, "pkts rx OOB": 0},
         xps={}, hash_fields=HASH_ADDRESSES).place(host)  # fmt: skip
    interrupts(host, address, [f"ens192-rxtx-{n}" for n in range(4)], range(4), first=56,
               allowed="0-3")  # fmt: skip
    netdev(host, "ens192", "192.0.2.80/24")
    gateway(host, "ens192", "192.0.2.1")
    no_eswitch(host, [address])
    return host


def guest_with_bonded_vfs() -> Host:
    """A guest that bonds a VF of each port of a card, as the legacy approach has it."""
    host = Host()
    release = "6.12.38+deb13-amd64"
    kernel(host, release=release, distribution="Debian GNU/Linux 13 (trixie)", command_line=BOOT,
           vendor="QEMU", product="Standard PC (i440FX + PIIX, 1996)", guest_of="kvm")  # fmt: skip
    cpus(host, model="AMD EPYC 4545P 16-Core Processor", cores=16, max_khz=None, idle_driver="none",
         idle=(), flags=f"{FLAGS} hypervisor")  # fmt: skip
    memory(host, gib=8)
    busy_kernel(host)
    addresses = ("0000:00:04.0", "0000:00:05.0")
    for number, address in enumerate(addresses):
        on_board(host, address, ids=("0x15b3", "0x101a"), driver="mlx5_core", local_cpus="0-15",
                 subsystem="0x15b3")  # fmt: skip
        host.put(host.links[f"{DEVICES}/{address}"], current_link_width=0, max_link_width=0,
                 current_link_speed="Unknown", max_link_speed="Unknown")  # fmt: skip
        Port(f"ens{4 + number}", address, channels=11, channels_max=11, module=None, mtu=9000,
             pause=None).place(host)  # fmt: skip
        interrupts(host, address, mlx5_names(address, 11), range(11), first=40 + 20 * number,
                   allowed="0-15")  # fmt: skip
    bond(host, "bond0", ["ens4", "ens5"], mtu=9000)
    netdev(host, "bond0", "192.168.10.2/24")
    firmware(host, addresses, version="16.35.4554")
    no_eswitch(host, addresses)
    module_of_kernel(host, release)
    return host
