"""A sosreport of a real container, reduced by hand to what is read, with other names and addresses.

Of https://github.com/canonical/hotsos, tests/unit/fake_data_root/vault (Apache-2.0): an LXC
container within a KVM guest. Its one netdev is a veth, while /sys shows the guest's virtio cards.
"""

NETWORKING = "sos_commands/networking/"
CANNOT = "Operation not supported"
IP_LINK = """\
1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN mode DEFAULT group default \
qlen 1000
    link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00 promiscuity 0 minmtu 0 maxmtu 0 \
addrgenmode eui64 numtxqueues 1 numrxqueues 1 gso_max_size 65536 gso_max_segs 65535
    RX: bytes  packets  errors  dropped overrun mcast
    23144071   210750   0       0       0       0
26: eth0@if27: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP mode DEFAULT \
group default qlen 1000
    link/ether 02:00:00:00:00:1c brd ff:ff:ff:ff:ff:ff link-netnsid 0 promiscuity 0 minmtu 68 \
maxmtu 65535
    veth addrgenmode eui64 numtxqueues 1 numrxqueues 1 gso_max_size 65536 gso_max_segs 65535
    RX: bytes  packets  errors  dropped overrun mcast
    765589091  3167379  0       0       0       0
"""
ADDRESS = """\
26: eth0@if27: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP group default
    link/ether 02:00:00:00:00:1c brd ff:ff:ff:ff:ff:ff link-netnsid 0 promiscuity 0 minmtu 68
    veth numtxqueues 1 numrxqueues 1 gso_max_size 65536 gso_max_segs 65535
    inet 192.0.2.121/24 brd 192.0.2.255 scope global eth0
       valid_lft forever preferred_lft forever
    inet 192.0.2.200/24 brd 192.0.2.255 scope global secondary eth0
       valid_lft forever preferred_lft forever
"""
ETHTOOL = """\
Settings for eth0:
\tSupported ports: [ ]
\tSupported link modes:   Not reported
\tSupported pause frame use: No
\tSupports auto-negotiation: No
\tSupported FEC modes: Not reported
\tAdvertised link modes:  Not reported
\tAdvertised FEC modes: Not reported
\tSpeed: 10000Mb/s
\tDuplex: Full
\tPort: Twisted Pair
\tPHYAD: 0
\tTransceiver: internal
\tAuto-negotiation: off
\tMDI-X: Unknown
\tLink detected: yes
"""
DRIVER = """\
driver: veth
version: 1.0
firmware-version:
expansion-rom-version:
bus-info:
supports-statistics: yes
supports-priv-flags: no
"""
UDEV = """\
P: /devices/pci0000:00/0000:00:03.0
L: 0
E: DEVPATH=/devices/pci0000:00/0000:00:03.0
E: SUBSYSTEM=pci
E: DRIVER=virtio-pci
E: PCI_CLASS=20000
E: PCI_ID=1AF4:1000
E: PCI_SUBSYS_ID=1AF4:0001
E: PCI_SLOT_NAME=0000:00:03.0

P: /devices/virtual/net/eth0
L: 0
E: DEVPATH=/devices/virtual/net/eth0
E: SUBSYSTEM=net
E: INTERFACE=eth0
E: IFINDEX=26
E: ID_NET_DRIVER=veth

P: /devices/virtual/net/lo
L: 0
E: DEVPATH=/devices/virtual/net/lo
E: SUBSYSTEM=net
E: INTERFACE=lo
E: IFINDEX=1

"""
LSPCI = """\
lspci: Unable to load libkmod resources: error -12
00:03.0 Ethernet controller [0200]: Red Hat, Inc. Virtio network device [1af4:1000]
\tSubsystem: Red Hat, Inc. Virtio network device [1af4:0001]
\tPhysical Slot: 3
\tControl: I/O+ Mem+ BusMaster+ SpecCycle- MemWINV- VGASnoop- ParErr- Stepping- SERR+ DisINTx+
\tCapabilities: <access denied>
\tKernel driver in use: virtio-pci
"""
HOSTNAMECTL = """\
   Static hostname: alpha
         Icon name: computer-container
           Chassis: container
    Virtualization: lxc
  Operating System: Ubuntu 20.04.3 LTS
            Kernel: Linux 5.4.0-97-generic
"""


def container() -> dict[str, str]:
    """Give the files by their path."""
    return {
        "sos_commands/host/hostname": "alpha\n",
        "sos_commands/host/hostnamectl_status": HOSTNAMECTL,
        "sos_commands/devices/udevadm_info_--export-db": UDEV,
        "sos_commands/pci/lspci_-nnvv": LSPCI,
        f"{NETWORKING}ip_-s_-d_link": IP_LINK,
        f"{NETWORKING}ip_-d_address": ADDRESS,
        f"{NETWORKING}ethtool_eth0": ETHTOOL,
        f"{NETWORKING}ethtool_-i_eth0": DRIVER,
        f"{NETWORKING}ethtool_-S_eth0": "NIC statistics:\n     peer_ifindex: 27\n"
        "     rx_queue_0_xdp_packets: 0\n     rx_queue_0_xdp_drops: 0\n",
        f"{NETWORKING}ethtool_-l_eth0": "Cannot get device channel parameters\n"
        f": {CANNOT}\nChannel parameters for eth0:\n",
        f"{NETWORKING}ethtool_-g_eth0": f"Cannot get device ring settings: {CANNOT}\n"
        "Ring parameters for eth0:\n",
        f"{NETWORKING}ethtool_-c_eth0": f"Cannot get device coalesce settings: {CANNOT}\n"
        "Coalesce parameters for eth0:\n",
        f"{NETWORKING}ethtool_-a_eth0": f"Cannot get device pause settings: {CANNOT}\n"
        "Pause parameters for eth0:\n",
        f"{NETWORKING}ethtool_-m_eth0": f"Cannot get module EEPROM information: {CANNOT}\n",
        "proc/cmdline": "BOOT_IMAGE=/boot/vmlinuz-5.4.0-97-generic root=/dev/vda1 ro\n",
        "etc/os-release": 'NAME="Ubuntu"\nPRETTY_NAME="Ubuntu 20.04.3 LTS"\n',
    }
