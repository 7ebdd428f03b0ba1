"""A sysinfo-snapshot of a described host: two ConnectX ports below a root port, one VF, one bond.

Files and headings are those that sysinfo-snapshot.py 3.7.9.9 writes
(https://github.com/Mellanox/linux-sysinfo-snapshot): `html_write_paragraph`,
`add_ext_file_handler`, `ethtool_all_interfaces_handler`, `ethtool_S_output`,
`mstcommand_d_handler`, `mlnx_qos_handler`, `devlink_handler`.
"""

from sosreport_tree import CARD, ETHTOOL, LSPCI

PF, VF = "0000:01:00.0", "0000:01:00.2"
CONFIG = bytes([0xB3, 0x15, 0x17, 0x10]) + bytes(range(60)) + bytes(192)
TABLE = """\
    RX:  bytes packets errors dropped  missed   mcast
        354568    1000      0       0       7       0
    RX errors:  length    crc   frame    fifo overrun
                     0      3       0       0       0
    TX:  bytes packets errors dropped carrier collsns
         22378     129      0       2       0       0
"""
IP_LINK = (
    "1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN mode DEFAULT\n"
    "    link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00\n"
    "2: ens1f0: <BROADCAST,MULTICAST,SLAVE,UP,LOWER_UP> mtu 9000 qdisc mq master bond0 state UP\n"
    "    link/ether 02:00:00:00:00:01 brd ff:ff:ff:ff:ff:ff\n" + TABLE +
    "    vf 0     link/ether 02:00:00:00:00:10 brd ff:ff:ff:ff:ff:ff, vlan 40, spoof checking on, "
    "link-state auto, trust off, query_rss off\n"
    "    RX: bytes  packets  mcast   bcast   dropped\n"
    "             0    99999       0       0        0\n"
    "3: ens1f1: <BROADCAST,MULTICAST> mtu 1500 qdisc mq state DOWN mode DEFAULT group default\n"
    "    link/ether 02:00:00:00:00:02 brd ff:ff:ff:ff:ff:ff\n"
    "4: bond0: <BROADCAST,MULTICAST,MASTER,UP,LOWER_UP> mtu 9000 qdisc noqueue state UP\n"
    "    link/ether 02:00:00:00:00:01 brd ff:ff:ff:ff:ff:ff\n"
    "5: bond0.100@bond0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 9000 qdisc noqueue state UP\n"
    "    link/ether 02:00:00:00:00:01 brd ff:ff:ff:ff:ff:ff\n"
    "6: odd0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP\n"
    "    link/ether 02:00:00:00:00:09 brd ff:ff:ff:ff:ff:ff\n"
)  # fmt: skip
BOND = (
    "/proc/net/bonding/bond0:\n\nEthernet Channel Bonding Driver: v6.12.95\n\n"
    "Bonding Mode: fault-tolerance (active-backup)\nPrimary Slave: None\n"
    "Currently Active Slave: ens1f0\nMII Status: up\nMII Polling Interval (ms): 100\n\n"
    "Slave Interface: ens1f0\nMII Status: up\nSpeed: 100000 Mbps\nDuplex: full\n"
    "Link Failure Count: 4\n\n\n"
)
RUN = "____________\n\n"
MLXLINK = """\

#1 mlxlink -d {pf} -m


Operational Info
----------------
State                              : Active
FEC                                : Standard RS-FEC - RS(528,514)

Module Info
-----------
Rx Power Current [dBm]             : 1.886,1.989,2.281,1.976 [-10.41..6]

-------------------------------------------------------------


#1 mlxlink -d {pf} -e

Errors detected while running: mlxlink -d {pf} -e"

-E- Eye is not supported


-------------------------------------------------------------


#1 mlxlink -d {pf} -c


Troubleshooting Info
--------------------
Status Opcode                      : 0
Recommendation                     : Bad signal integrity

Physical Counters and BER Info
------------------------------
Time Since Last Clear [Min]        : 120.0
Effective Physical Errors          : 42
Effective Physical BER             : 1E-12
Raw Physical Errors Per Lane       : 3946,5120,7692,3026
Raw Physical BER Per Lane          : 5E-8,5E-8,5E-5,5E-8
Link Down Counter                  : 3
Raw Physical BER                   : 3E-5
"""
"""Text as in public logs, as https://github.com/Mellanox/mstflint prints it: a section's heading, a
line of dashes, then names and values."""
QOS = (
    "\n\nmlnx_qos -i ens1f0\nDCBX mode: OS controlled\nPriority trust state: dscp\n"
    "PFC configuration:\n\tpriority    0   1   2   3   4   5   6   7\n"
    "\tenabled     0   0   0   1   0   0   0   0   \n" + RUN +
    "\n\nmlnx_qos -i ens1f1\nCommand not invoked mlnx_qos -i ens1f1 due to mlnx_qos does not exists"
    "Could not run command: mlnx_qos -i ens1f1\n" + RUN
)  # fmt: skip
DEVLINK = (
    "\npci/0000:01:00.0:\n  reporter fw\n    state error error 3 recover 2 auto_dump true\n"
    "  reporter vnic\n    state healthy error 0 recover 0\n\n"
    "--------------------------------------------------\n"
    "<td><a href=devlink/devlink_pci000001000_diagnose_fw.txt> x.txt</a></td>\n"
)
MEMINFO = (
    "MemTotal: 1024000 kB\nMemAvailable: 512000 kB\nHugePages_Total:      64\n"
    "HugePages_Free:       60\nHugepagesize:       2048 kB\nHugetlb:          {} kB\n"
)


VERBS = (
    "hca_id:\tmlx5_0\n\ttransport:\t\t\tInfiniBand (0)\n\tnode_guid:\t\t\t0c42:a103:0000:0000\n"
    "\tphys_port_cnt:\t\t\t1\n\t\tport:\t1\n\t\t\tstate:\t\t\tPORT_ACTIVE (4)\n"
    "\t\t\tmax_mtu:\t\t4096 (5)\n\t\t\tactive_mtu:\t\t4096 (5)\n\t\t\tlink_layer:\t\tEthernet\n"
)


def ethtool(netdev: str, number: int) -> str:
    answers = {
        "": f"Settings for {netdev}:\n\tLink detected: no\n" if number else ETHTOOL.format(netdev),
        "-i": f"driver: mlx5_core\nversion: 6.12\nbus-info: {PF[:-1]}{number}\n",
        "-g": f"Ring parameters for {netdev}:\nPre-set maximums:\nRX:\t\t8192\nTX:\t\t8192\n"
        "Current hardware settings:\nRX:\t\t1024\nTX:\t\t1024\n",
        "-c": f"Could not run command: ethtool -c {netdev}",
        "-x": f"RX flow hash indirection table for {netdev} with 2 RX ring(s):\n    0:   0   1\n"
        "RSS hash key:\nff:70:3e:d3:2c:54\n",
    }  # fmt: skip
    return "\n\n" + "".join(
        f"ethtool {option} {netdev}\n{text}\n{RUN}" for option, text in answers.items()
    )


def texts() -> dict[str, str]:
    """Heading to content of the page."""
    others = {"bond0": "bonding\n", "bond0.100": "802.1Q VLAN Support\n"}
    others["rep0"] = f"mlx5e_rep\nbus-info: {PF}\n"
    return {
        "ethtool_all_interfaces": "ethtool version 6.1"
        + ethtool("ens1f0", 0) + ethtool("ens1f1", 1)
        + "".join(f"ethtool -i {name}\ndriver: {d}{RUN}" for name, d in others.items())
        + "ethtool -S output:\n\nethtool -S ens1f0\n"
        "<td><a href=ethtool_S/ethtool_S_ens1f0>ethtool -S ens1f0</a></td>\n",
        "hostname": "alpha", "ip -s -s link show": IP_LINK, "proc_net_bonding_files": BOND,
        "ip -s -s addr show": "5: bond0.100@bond0: <UP> mtu 9000 state UP\n"
        "    inet 192.0.2.7/24 scope global bond0.100\n",
        "/proc/net/vlan/bond0.100": "bond0.100  VID: 100\t REORDER_HDR: 1  dev->priv_flags: 1021\n",
        "mlxlink / mstlink": MLXLINK.format(pf=PF), "mlnx_qos_handler": QOS,
        "devlink_handler": DEVLINK, "ibv_devinfo -v": VERBS,
        "Mellanox_Nvidia_pci_buses": f"Mellanox pci buses \n../../..{CARD}.0\n../../..{CARD}.1\n",
        "lscpu": "On-line CPU(s) list:   0-3\nVulnerability Spectre v2: Mitigation; Retpolines\n",
        "/proc/cmdline": "BOOT_IMAGE=/vmlinuz ro \"x=<a & b>\"",
        "/etc/os-release": 'PRETTY_NAME="Example Linux 9.4"',
        "/proc/meminfo": MEMINFO.format(131072),
        "/proc/version": "Linux version 5.14.0-427.el9.x86_64 (builder) (gcc) #1 SMP\n",
        "/proc/cpuinfo": "processor\t: 0\nmodel name\t: Some CPU\nflags\t\t: fpu avx2\n\n",
        "/proc/modules": "mlx5_core 2437120 1 mlx5_ib, Live 0xffffffffc0a00000 (OE)\n",
        "/sys/devices/system/node/node0/cpulist": "0-3",
    }  # fmt: skip


def page(paragraphs: dict[str, str]) -> str:
    """As `html_write_paragraph` writes it, with what it takes the place of in each text."""
    written = "".join(
        f'<a name="sec1"></a><small><a href="#index">[back]</a></small> <h2>{title}</h2><p>'
        + text.replace("\t", "&nbsp;" * 4).replace("<", "&lt;").replace(">", "&gt;")
        .replace("\n", "<br/>") + "</p>"
        for title, text in paragraphs.items()
    )  # fmt: skip
    return (
        "<html><body><pre><h1>Mellanox Technologies</h1><br/><h2>Linux Ethernet Driver System "
        "Information Snapshot Utility</h2><br/><h2>Version: 3.7.9.9</h2><br/><hr/>"
        f"<h2>1. Server Commands: </h2><table></table>{written}</pre></html>"
    )


def tree(**changed: str) -> dict[str, str]:
    """Path below the archive's top folder, to its content."""
    rows = [f"{n:02x}: {CONFIG[n : n + 16].hex(' ')}\n" for n in range(0, 256, 16)]
    head, tail = LSPCI.split("\n\n01:00.1", 1)
    numa = ["/devices/pci0000:00/0000:00:01.0", *(f"{CARD}.{n}" for n in range(3))]
    ib = f"/sys{CARD}.0/infiniband/mlx5_0"
    rdma = {
        "ports/1/state": "4: ACTIVE", "ports/1/link_layer": "Ethernet",
        "ports/1/hw_counters/out_of_sequence": "17", "sys_image_guid": "0c42:a103:0000:0000",
        "ports/1/gids/0": "fe80:0000:0000:0000:0e42:a1ff:fe00:0000",
        "ports/1/gid_attrs/types/0": "RoCE v2", "ports/1/gids/1": "0000:0000:0000:0000:0000::",
    }  # fmt: skip
    return {
        "alpha-20261124-135046.html": page(texts() | changed),
        "sr_iov.html": "<h2>SR-IOV</h2>", "performance_tuning_analyze.html": "<h2>AMD</h2><p>x</p>",
        "status-log-sysinfo-snapshot-v3.7.9.9-alpha": "of no use here\n",
        "pcie_files/lspci_nnvvvxxxx": f"{head}\n{''.join(rows)}\n01:00.1{tail}",
        "pcie_files/system_information": "\tManufacturer: Dell Inc.\n\tProduct Name: PowerEdge\n",
        "commands_txt_output/numa_node": "".join(f"/sys{path}/numa_node 0\n" for path in numa),
        "commands_txt_output/sysctl_a": "net.core.rmem_max = 212992\nvm.swappiness = 60\n",
        "commands_txt_output/other_system_files": "".join(
            f"File: {ib}/{path}: {text}\n" for path, text in rdma.items()
        ),
        "ethtool_S/ethtool_S_ens1f0": "NIC statistics:\n     rx_packets_phy: 1000\n",
        "ecn/config/ens1f0": "".join(
            f"/sys/class/net/ens1f0/ecn/roce_{point}/enable/{n}= {int(point == 'np')}\n\n\n"
            for point in ("np", "rp") for n in range(8)
        ) + "/sys/class/net/ens1f0/ecn/roce_np/cnp_dscp= 48\n\n\n",
        "firmware/mstconfig_000001000": f"mstconfig -d {PF} -e  q\nDevice #1:\n\n"
        "Configurations:           Default         Current         Next Boot\n"
        "         NUM_OF_VFS       8               8               16\n",
        "journal": "[    9.100000] alpha kernel: mlx5_core 0000:01:00.0: mlx5_cmd_out_err:821:"
        "(pid 8): CREATE_LAG(0x840) op_mod(0x0) failed, status bad resource state(0x9), "
        "syndrome (0x7d49cb), err(-22)\n",
    }  # fmt: skip
