"""A sosreport of a described host: two ConnectX ports below a root port, one VF, one bond.

File names and what each holds: the sos project at 5c7e63ee, sos/report/plugins/networking.py,
pci.py, devices.py, kernel.py, processor.py, mellanox_firmware.py. Texts: ethtool 5.8, lspci 3.7,
udevadm of systemd 249, iproute2 5.15.
"""

from wirespeed.doctor.archive import archive_capture, is_wanted
from wirespeed.model.capture import parse_capture
from wirespeed.model.fact import HostFacts

CARD = "/devices/pci0000:00/0000:00:01.0/0000:01:00"


def host(files: dict[str, str]) -> HostFacts:
    text = archive_capture({p: t for p, t in files.items() if is_wanted(p)}, "sos")
    return HostFacts("sos", parse_capture(text, "sos"))


def record(path: str, **values: str) -> str:
    return "\n".join([f"P: {path}", "L: 0", *(f"E: {n}={v}" for n, v in values.items()), "", ""])


def function(path: str, **values: str) -> str:
    return record(path, SUBSYSTEM="pci", PCI_SLOT_NAME=path.rpartition("/")[2], **values)


UDEV = "".join(
    (
        function("/devices/pci0000:00/0000:00:01.0", DRIVER="pcieport", PCI_CLASS="60400",
                 PCI_ID="8086:2030"),
        function(f"{CARD}.0", DRIVER="mlx5_core", PCI_CLASS="20000", PCI_ID="15B3:1017"),
        function(f"{CARD}.1", DRIVER="mlx5_core", PCI_CLASS="20000", PCI_ID="15B3:1017"),
        function(f"{CARD}.2", DRIVER="vfio-pci", PCI_CLASS="20000", PCI_ID="15B3:1018"),
        record(f"{CARD}.0/net/ens1f0", SUBSYSTEM="net", INTERFACE="ens1f0",
               ID_NET_DRIVER="mlx5_core"),
        record(f"{CARD}.1/net/ens1f1", SUBSYSTEM="net", INTERFACE="ens1f1",
               ID_NET_DRIVER="mlx5_core"),
        record("/devices/virtual/net/bond0", SUBSYSTEM="net", INTERFACE="bond0"),
    )
)  # fmt: skip
LSPCI = """\
00:01.0 PCI bridge [0604]: Intel Corporation Sky Lake-E PCI Express Root Port A [8086:2030] (rev 04)
\tNUMA node: 0
\tCapabilities: [90] Express (v2) Root Port (Slot+), MSI 00
\t\tLnkCap:\tPort #1, Speed 8GT/s, Width x16, ASPM L1, Exit Latency L1 <16us
\t\tLnkSta:\tSpeed 8GT/s (ok), Width x8 (downgraded)

01:00.0 Ethernet controller [0200]: Mellanox Technologies MT27800 [ConnectX-5] [15b3:1017]
\tNUMA node: 0
\tCapabilities: [60] Express (v2) Endpoint, MSI 00
\t\tLnkCap:\tPort #0, Speed 8GT/s, Width x16, ASPM not supported
\t\tLnkSta:\tSpeed 8GT/s (ok), Width x8 (downgraded)
\tCapabilities: [180 v1] Single Root I/O Virtualization (SR-IOV)
\t\tInitial VFs: 4, Total VFs: 4, Number of VFs: 1, Function Dependency Link: 00
\t\tVF offset: 2, stride: 1, Device ID: 1018
\tKernel driver in use: mlx5_core

01:00.1 Ethernet controller [0200]: Mellanox Technologies MT27800 [ConnectX-5] [15b3:1017]
\tNUMA node: 0
\tCapabilities: [60] Express (v2) Endpoint, MSI 00
\t\tLnkCap:\tPort #0, Speed 8GT/s, Width x16, ASPM not supported
\t\tLnkSta:\tSpeed 8GT/s (ok), Width x8 (downgraded)
\tCapabilities: [180 v1] Single Root I/O Virtualization (SR-IOV)
\t\tInitial VFs: 4, Total VFs: 4, Number of VFs: 0, Function Dependency Link: 01
\t\tVF offset: 5, stride: 1, Device ID: 1018

01:00.2 Ethernet controller [0200]: Mellanox Technologies MT27800 [ConnectX-5 VF] [15b3:1018]
\tNUMA node: 0
"""
IP_LINK = """\
1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN mode DEFAULT group default
    link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00 promiscuity 0 minmtu 0 maxmtu 0
2: ens1f0: <BROADCAST,MULTICAST,SLAVE,UP,LOWER_UP> mtu 9000 qdisc mq master bond0 state UP mode \
DEFAULT group default qlen 1000
    link/ether 02:00:00:00:00:01 brd ff:ff:ff:ff:ff:ff promiscuity 0 minmtu 68 maxmtu 9978
    bond_slave state ACTIVE mii_status UP addrgenmode eui64 portname p0 parentbus pci parentdev \
0000:01:00.0
    vf 0     link/ether 02:00:00:00:00:10 brd ff:ff:ff:ff:ff:ff, vlan 40, spoof checking on, \
link-state auto, trust off, query_rss off
3: ens1f1: <BROADCAST,MULTICAST,SLAVE,UP,LOWER_UP> mtu 9000 qdisc mq master bond0 state UP mode \
DEFAULT group default qlen 1000
    link/ether 02:00:00:00:00:02 brd ff:ff:ff:ff:ff:ff promiscuity 0 minmtu 68 maxmtu 9978
    bond_slave state BACKUP mii_status UP addrgenmode eui64 portname p1
4: bond0: <BROADCAST,MULTICAST,MASTER,UP,LOWER_UP> mtu 9000 qdisc noqueue state UP mode DEFAULT
    link/ether 02:00:00:00:00:01 brd ff:ff:ff:ff:ff:ff promiscuity 0 minmtu 68 maxmtu 65535
    bond mode active-backup active_slave ens1f0 miimon 100 updelay 0 xmit_hash_policy layer2
5: bond0.100@bond0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 9000 qdisc noqueue state UP mode DEFAULT
    link/ether 02:00:00:00:00:01 brd ff:ff:ff:ff:ff:ff promiscuity 0 minmtu 0 maxmtu 65535
    vlan protocol 802.1Q id 100 <REORDER_HDR> addrgenmode eui64
"""
IP_ADDRESS = """\
5: bond0.100@bond0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 9000 qdisc noqueue state UP group default
    link/ether 02:00:00:00:00:01 brd ff:ff:ff:ff:ff:ff promiscuity 0 minmtu 0 maxmtu 65535
    inet 192.0.2.7/24 brd 192.0.2.255 scope global bond0.100
       valid_lft forever preferred_lft forever
    inet6 fe80::1/64 scope link
"""
ETHTOOL = """\
Settings for {}:
\tSupported ports: [ FIBRE ]
\tSupported link modes:   25000baseCR/Full
\t                        100000baseCR4/Full
\tSupports auto-negotiation: Yes
\tSpeed: 100000Mb/s
\tDuplex: Full
\tAuto-negotiation: on
\tPort: Direct Attach Copper
\tSupports Wake-on: d
        Current message level: 0x00000004 (4)
                               link
\tLink detected: yes
"""
DMESG = (
    "[    1.0] Linux version 5.14.0-427.el9.x86_64\n"
    "[    9.1] mlx5_core 0000:01:00.0: firmware version: 16.35.3006\n"
    "[ 1450.2] mlx5_core 0000:01:00.0: mlx5_cmd_out_err:821:(pid 871): CREATE_LAG(0x840) "
    "op_mod(0x0) failed, status bad resource state(0x9), syndrome (0x7d49cb), err(-22)\n"
)
NETWORKING = "sos_commands/networking"


def tree() -> dict[str, str]:
    """Path below the archive's top folder, to its content."""
    files = {
        "sos_commands/devices/udevadm_info_--export-db": UDEV,
        "sos_commands/pci/lspci_-nnvv": LSPCI,
        f"{NETWORKING}/ip_-s_-d_link": IP_LINK,
        f"{NETWORKING}/ip_-d_address": IP_ADDRESS,
        f"{NETWORKING}/devlink_dev_info": (
            "pci/0000:01:00.0:\n  driver mlx5_core\n  versions:\n      fixed:\n"
            "        fw.psid MT_0000000012\n      running:\n        fw.version 16.35.3006\n"
            "      stored:\n        fw.version 16.35.3006\n"
        ),
        f"{NETWORKING}/devlink_dev_eswitch_show_pci.0000_01_00.0": (
            "pci/0000:01:00.0: mode legacy inline-mode none encap-mode basic\n"
        ),
        "sos_commands/kernel/dmesg": DMESG,
        "sos_commands/host/hostname": "alpha\n",
        "sos_commands/host/hostnamectl_status": "   Chassis: server\n   Operating System: Debian\n",
        "proc/sys/kernel/osrelease": "5.14.0-427.el9.x86_64\n",
        "proc/cmdline": "BOOT_IMAGE=/vmlinuz ro quiet\n",
        "usr/lib/os-release": 'NAME="Example Linux"\nPRETTY_NAME="Example Linux 9.4"\n',
        "sys/devices/system/cpu/online": "0-3\n",
        "sys/devices/system/node/node0/cpulist": "0-3\n",
        "proc/meminfo": "MemTotal: 1024 kB\nMemAvailable: 512 kB\nHugepagesize: 2048 kB\n",
        "var/log/messages": "of no use here\n",
    }
    for number, netdev in enumerate(("ens1f0", "ens1f1")):
        files |= {
            f"{NETWORKING}/ethtool_{netdev}": ETHTOOL.format(netdev),
            f"{NETWORKING}/ethtool_-i_{netdev}": (
                f"driver: mlx5_core\nversion: 5.14.0\nfirmware-version: 16.35.3006 (MT_0000000012)"
                f"\nbus-info: 0000:01:00.{number}\n"
            ),
            f"{NETWORKING}/ethtool_-c_{netdev}": ("netlink error: Operation not supported\n"),
            f"{NETWORKING}/ethtool_-g_{netdev}": (
                f"Ring parameters for {netdev}:\nPre-set maximums:\nRX:\t\t8192\nTX:\t\t8192\n"
                "Current hardware settings:\nRX:\t\t8192\nTX:\t\t8192\n"
            ),
            f"{NETWORKING}/ethtool_-S_{netdev}": (
                "NIC statistics:\n     rx_packets_phy: 1000\n     rx_discards_phy: 0\n"
            ),
            f"sys{CARD}.{number}/net/{netdev}/flags": "0x1843\n",
            f"sys{CARD}.{number}/net/{netdev}/statistics/rx_packets": "1000\n",
        }
    return files
