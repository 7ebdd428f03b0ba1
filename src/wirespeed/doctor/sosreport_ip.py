"""`ip -d link` and `ip -d address` as text, made into the JSON that `ip -j` prints. Pure.

Only what a fact asks about. Text: iproute2, ip/ipaddress.c and ip/iplink_*.c.
"""

import json
import re
from collections.abc import Iterator
from itertools import pairwise

HEAD = re.compile(r"^(\d+): ([^\s:@]+)(?:@(\S+))?: <([^>]*)> (.*)$")
KINDS = (
    "bond", "bridge", "vlan", "vxlan", "geneve", "veth", "tun", "dummy", "openvswitch", "macvlan",
    "macvtap", "gre", "gretap", "team", "ipvlan", "vrf", "ifb", "wireguard", "ipip", "sit",
)  # fmt: skip
VF = re.compile(r"^\s*vf (\d+)\s+(?:link/\S+|MAC)\s+([0-9a-f:]{17})")
ADDRESS = re.compile(r"^\s*(inet6?) ([0-9a-fA-F.:]+)(?: peer \S+?)?/(\d+)\b")


def ip_links(text: str) -> list[dict[str, object]]:
    """Give the objects of `ip -j -d link show`."""
    return [_link(head, lines) for head, lines in _netdevs(text)]


def ip_addresses(text: str) -> list[dict[str, object]]:
    """Give the objects of `ip -j addr show`: names and addresses."""
    return [
        {
            "ifname": head[2],
            "addr_info": [
                {"family": m[1], "local": m[2], "prefixlen": int(m[3])}
                for line in lines
                if (m := ADDRESS.match(line))
            ],
        }
        for head, lines in _netdevs(text)
    ]


def netdev_lines(text: str) -> list[tuple[str, list[str]]]:
    """Give each netdev's name and the lines below its own."""
    return [(head[2], lines) for head, lines in _netdevs(text)]


def as_json(objects: list[dict[str, object]]) -> str:
    """Give one line."""
    return json.dumps(objects)


def _netdevs(text: str) -> Iterator[tuple[re.Match[str], list[str]]]:
    head: re.Match[str] | None = None
    lines: list[str] = []
    for line in text.splitlines():
        if match := HEAD.match(line):
            if head is not None:
                yield head, lines
            head, lines = match, []
        elif head is not None:
            lines.append(line)
    if head is not None:
        yield head, lines


def _link(head: re.Match[str], lines: list[str]) -> dict[str, object]:
    words = head[5].split()
    after = dict(pairwise(words))
    own = [line for line in lines if not VF.match(line)]
    details = " ".join(own).split()
    more = dict(pairwise(details))
    found: dict[str, object] = {
        "ifindex": int(head[1]), "ifname": head[2], "flags": head[4].split(","),
    }  # fmt: skip
    if head[3] and head[3] != "NONE":
        found["link"] = head[3]
    for name, key, source in (
        ("mtu", "mtu", after), ("max_mtu", "maxmtu", more),
    ):  # fmt: skip
        if source.get(key, "").isdecimal():
            found[name] = int(source[key])
    for name, key, source in (
        ("qdisc", "qdisc", after), ("master", "master", after), ("operstate", "state", after),
        ("phys_port_name", "portname", more), ("phys_switch_id", "switchid", more),
        ("parentbus", "parentbus", more), ("parentdev", "parentdev", more),
        ("phys_port_id", "portid", more),
    ):  # fmt: skip
        if key in source:
            found[name] = source[key]
    if match := re.search(r"link/\S+ ([0-9a-f:]{11,})", " ".join(own)):
        found["address"] = match[1]
    if match := re.search(r"\blink/(\w+)", " ".join(own)):
        found["link_type"] = match[1]
    if info := _info(own):
        found["linkinfo"] = info
    if vfs := [vf for line in lines if (vf := _vf(line)) is not None]:
        found["vfinfo_list"] = vfs
    return found


def _info(lines: list[str]) -> dict[str, object]:
    for line in lines:
        words = line.split()
        kind = words[0] if words else ""
        if kind in KINDS:
            return {"info_kind": kind, "info_data": _data(kind, words)}
    return {}


def _data(kind: str, words: list[str]) -> dict[str, object]:
    after = dict(pairwise(words))
    wanted = {
        "bond": ("mode", "miimon", "arp_interval", "active_slave", "xmit_hash_policy"),
        "vlan": ("id",),
        "vxlan": ("id", "local", "remote", "group", "dstport", "dev"),
    }.get(kind, ())
    names = {"dstport": "port", "dev": "link"}
    found: dict[str, object] = {
        names.get(key, key): int(after[key]) if after[key].isdecimal() else after[key]
        for key in wanted
        if key in after
    }
    if kind == "vxlan" and "external" in words:
        found["external"] = True
    return found


def _vf(line: str) -> dict[str, object] | None:
    match = VF.match(line)
    if match is None:
        return None
    found: dict[str, object] = {"vf": int(match[1]), "address": match[2]}
    if vlan := re.search(r"\bvlan (\d+)", line):
        found["vlan_list"] = [{"vlan": int(vlan[1])}]
    for name, pattern in (("spoofchk", r"spoof checking (on|off)"), ("trust", r"trust (on|off)")):
        if flag := re.search(pattern, line):
            found[name] = flag[1] == "on"
    if state := re.search(r"link-state (\w+)", line):
        found["link_state"] = state[1]
    limit = re.search(r"(?:max_tx_rate|tx rate) (\d+)\s?\(?Mbps", line)
    found["rate"] = {"max_tx": int(limit[1]) if limit else 0}
    return found
