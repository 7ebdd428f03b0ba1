"""Netdevs of a sysinfo-snapshot: `ip -s -s link show`, and who drives each by `ethtool -i`. Pure.

Without `-d`, ip prints neither the kind of a netdev nor the name of its port: what the driver does
not tell stays unknown, as `null`.
"""

import re
from collections.abc import Iterator, Mapping

from wirespeed.doctor.sosreport_ip import ip_links, netdev_lines
from wirespeed.facts.cpu_list import cpu_list_text

PCI_ADDRESS = re.compile(r"(?<![0-9a-f])[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f]\b")
KINDS = {
    "bonding": "bond", "bridge": "bridge", "802.1Q VLAN Support": "vlan", "veth": "veth",
    "vxlan": "vxlan", "tun": "tun", "openvswitch": "openvswitch", "dummy": "dummy", "team": "team",
    "macvlan": "macvlan", "geneve": "geneve",
}  # fmt: skip
"""The name that a driver gives to ethtool, and ip's word for the kind."""
BOND_MODES = {
    "load balancing (round-robin)": "balance-rr", "load balancing (xor)": "balance-xor",
    "fault-tolerance (active-backup)": "active-backup", "fault-tolerance (broadcast)": "broadcast",
    "IEEE 802.3ad Dynamic link aggregation": "802.3ad", "transmit load balancing": "balance-tlb",
    "adaptive load balancing": "balance-alb",
}  # fmt: skip
"""bond_mode_name of the kernel, and the word of iproute2 (ip/iplink_bond.c)."""
NEVER_SHOWN = ("phys_port_name", "phys_switch_id", "phys_port_id", "max_mtu")
FLAGS = {
    "UP": 0x1, "BROADCAST": 0x2, "LOOPBACK": 0x8, "POINTOPOINT": 0x10, "NOARP": 0x80,
    "PROMISC": 0x100, "ALLMULTI": 0x200, "MASTER": 0x400, "SLAVE": 0x800, "MULTICAST": 0x1000,
}  # fmt: skip
"""include/uapi/linux/if.h"""
COLUMNS = {
    "RX:": {"packets": "rx_packets", "missed": "rx_missed_errors"},
    "RX errors:": {"crc": "rx_crc_errors", "missed": "rx_missed_errors"},
    "TX:": {"packets": "tx_packets", "dropped": "tx_dropped"},
}
INTERRUPTS = "commands_txt_output/interrupts"
MASKS = "show_irq_affinity_all/"
IRQ_FILES = rf"{INTERRUPTS}|{MASKS}[^/]+"
MASK = re.compile(r"^(\d{1,9}): ([0-9a-f]{1,8}(?:,[0-9a-f]{8}){0,255})$", re.M)
"""show_irq_affinity.sh of mlnx-tools: smp_affinity, in hexadecimal, words of 32 bits."""
TABLE = re.compile(r"^\s+((?:RX|TX)(?: errors)?:)\s+(\w.*)$")


def drivers_of(answers: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Netdev to driver and bus address, of `ethtool -i`."""
    found = {}
    for netdev, text in answers.items():
        pairs = dict(line.split(": ", 1) for line in text.splitlines() if ": " in line)
        if driver := pairs.get("driver"):
            found[netdev] = (driver.strip(), pairs.get("bus-info", "").strip())
    return found


def netdev_links(
    text: str,
    drivers: Mapping[str, tuple[str, str]],
    bonding: Mapping[str, str],
    files: Mapping[str, str],
) -> list[dict[str, object]]:
    """Give the objects of `ip -j -d link show`, as far as they are known."""
    links = ip_links(text)
    for link in links:
        netdev = str(link["ifname"])
        driver, bus = drivers.get(netdev, ("", ""))
        link |= dict.fromkeys(NEVER_SHOWN)
        if PCI_ADDRESS.fullmatch(bus):
            if driver.startswith("virtio"):
                continue  # its parent is the virtio device, which ethtool does not name
            link |= {"parentbus": "pci", "parentdev": bus}
        elif netdev in bonding:
            link["linkinfo"] = {"info_kind": "bond", "info_data": _bond(bonding[netdev])}
        elif "LOOPBACK" not in str(link["flags"]):
            vlan = re.search(r"\bVID: (\d{1,4})\b", files.get(f"/proc/net/vlan/{netdev}", ""))
            data = {"id": int(vlan[1]) if vlan else None}
            link["linkinfo"] = {"info_kind": KINDS.get(driver), "info_data": data}
    return links


def _bond(text: str) -> dict[str, object]:
    def line(name: str) -> str:
        match = re.search(rf"^{re.escape(name)}: *(.*\S)", text, re.M)
        return match[1] if match else ""

    modes = (word for name, word in BOND_MODES.items() if line("Bonding Mode").startswith(name))
    miimon, active = line("MII Polling Interval (ms)"), line("Currently Active Slave")
    found: dict[str, object] = {
        "mode": next(modes, None),
        "miimon": int(miimon) if miimon.isdecimal() else None,
        "arp_interval": None,
        "xmit_hash_policy": line("Transmit Hash Policy").partition(" ")[0] or None,
    }
    return found | ({"active_slave": active} if active else {})


def flag_lines(links: list[dict[str, object]]) -> Iterator[str]:
    """Give each netdev's flags as sysfs has them."""
    for link in links:
        words = link["flags"]
        flags = sum(FLAGS.get(word, 0) for word in words) if isinstance(words, list) else 0
        yield f"/sys/class/net/{link['ifname']}/flags:{flags:#x}"


def irq_files(files: Mapping[str, str]) -> dict[str, str]:
    """Give the files below /proc that are known: one that may land on one CPU does so."""
    found = {"proc/interrupts": files.get(INTERRUPTS, "")}
    for path, text in files.items():
        for number, mask in MASK.findall(text) if path.startswith(MASKS) else ():
            bits = int(mask.replace(",", ""), 16)
            cpus = [cpu for cpu in range(bits.bit_length()) if bits >> cpu & 1]
            found[f"proc/irq/{number}/smp_affinity_list"] = cpu_list_text(cpus)
            if len(cpus) == 1:
                found[f"proc/irq/{number}/effective_affinity_list"] = cpu_list_text(cpus)
    return found


def statistics(text: str) -> dict[str, list[str]]:
    """Give the lines of the section `statistics` of each netdev."""
    return {netdev: [*_counts(lines)] for netdev, lines in netdev_lines(text)}


def _counts(lines: list[str]) -> Iterator[str]:
    for number, line in enumerate(lines[:-1]):
        if re.match(r"\s*vf \d", line):
            return  # what follows is each VF's
        match = TABLE.match(line)
        if match is None:
            continue
        names = COLUMNS.get(match[1], {})
        for name, value in zip(match[2].split(), lines[number + 1].split(), strict=False):
            if name in names and value.isdecimal():
                yield f"{names[name]} {value}"
