"""Bonds of a described host."""

from collections.abc import Sequence

from described.host import Host
from described.port import IP_LINK, netdev

MODES = {
    "active-backup": "fault-tolerance (active-backup)",
    "balance-rr": "load balancing (round-robin)",
    "802.3ad": "IEEE 802.3ad Dynamic link aggregation",
}


def bond(
    host: Host,
    name: str,
    members: Sequence[str],
    *,
    mode: str = "active-backup",
    miimon_ms: int = 100,
    megabits: int = 100_000,
    mtu: int = 1500,
) -> None:
    """A bond as `ip` and /proc/net/bonding show it; the first member is the active one."""
    active = {"active_slave": members[0]} if mode == "active-backup" else {}
    netdev(host, name, mtu=mtu, operstate="UP", link_type="ether", max_mtu=65535,
           flags=["BROADCAST", "MULTICAST", "MASTER", "UP", "LOWER_UP"],
           linkinfo={"info_kind": "bond", "info_data": {
               "mode": mode, **active, "miimon": miimon_ms, "arp_interval": 0,
               "xmit_hash_policy": "layer3+4"}})  # fmt: skip
    for member in members:
        own = next(one for one in host.data[IP_LINK] if one["ifname"] == member)
        own["master"] = name
        own["linkinfo"] = {"info_slave_kind": "bond", "info_slave_data": {"state": "ACTIVE"}}
    lines = ["Ethernet Channel Bonding Driver: v6.12", "", f"Bonding Mode: {MODES[mode]}"]
    if mode == "active-backup":
        lines += ["Primary Slave: None", f"Currently Active Slave: {members[0]}"]
    lines += ["MII Status: up", f"MII Polling Interval (ms): {miimon_ms}", "Up Delay (ms): 0"]
    if mode == "802.3ad":
        lines += ["", "802.3ad info", "LACP active: on", "LACP rate: fast",
                  "Active Aggregator Info:", "\tAggregator ID: 1",
                  f"\tNumber of ports: {len(members)}"]  # fmt: skip
    for member in members:
        lines += ["", f"Slave Interface: {member}", "MII Status: up", f"Speed: {megabits} Mbps",
                  "Duplex: full", "Link Failure Count: 1", "Slave queue ID: 0"]  # fmt: skip
        if mode == "802.3ad":
            lines += ["Aggregator ID: 1"]
    host.files[f"/proc/net/bonding/{name}"] = "\n".join(lines)
