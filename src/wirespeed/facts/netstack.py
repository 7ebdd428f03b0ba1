"""Netdevs and how they stack: bonds, bridges, VLANs, tunnels, VFs' settings, MTUs, addresses."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Interface, IPv6Interface, ip_interface
from typing import ClassVar, Self

from wirespeed.facts.json_text import JsonObject, field, object_in, objects_in, objects_of
from wirespeed.model.capture import Capture
from wirespeed.model.fact import Fact
from wirespeed.model.observed import (
    Absent,
    CannotTellError,
    Known,
    Observed,
    Unreadable,
    read_as,
)

Interface = IPv4Interface | IPv6Interface
IP_ADDR = "ip addr show"
NO_MAC = "00:00:00:00:00:00"
REPRESENTOR = re.compile(r"(c\d+)?pf\d+(vf|sf)\d+")
PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:@+-]{0,14}")
LOWER_KINDS = ("vlan", "macvlan", "macvtap", "ipvlan")
"""Kinds whose `link` is the netdev that they lie on; a veth's `link` is its peer."""


@dataclass(frozen=True, slots=True)
class VfSettings:
    """What a PF enforces on one of its VFs, as `ip link show` of the PF lists it."""

    index: int
    """Number of the VF, from 0."""
    has_mac: Observed[bool]
    """False: the address is all zeros, and the guest draws one."""
    vlan: Observed[int]
    """Tag that the card adds and strips; 0 is none."""
    is_spoof_checked: Observed[bool]
    is_trusted: Observed[bool]
    link_state: Observed[str]
    """`auto`, `enable`, `disable`."""
    max_tx_mbit_per_s: Observed[int]
    """0 is no limit."""
    has_port_guid: Observed[bool]
    """Of InfiniBand. False: all zeros, and the subnet manager gives it no address. Absent: the tool
    shows none, or it is a VF of Ethernet."""


@dataclass(frozen=True, slots=True)
class Bond:
    """Options of a bond, by the kernel's names."""

    mode: Observed[str]
    """`active-backup`, `802.3ad`, `balance-xor`, …"""
    miimon_ms: Observed[int]
    """0: the link of the members is not watched."""
    arp_interval_ms: Observed[int]
    """0: no ARP probes."""
    active_port: Observed[str]
    """Netdev that carries the traffic; Absent where the mode has none or no member is up."""
    xmit_hash_policy: Observed[str]


@dataclass(frozen=True, slots=True)
class Vxlan:
    """A VXLAN tunnel of the kernel, Open vSwitch's own (`vxlan_sys_4789`) included."""

    vni: Observed[int]
    """Absent where each packet carries its own (`external`)."""
    local: Observed[str]
    remote: Observed[str]
    """Peer or multicast group; Absent where each packet or the forwarding table has it."""
    dst_port: Observed[int]
    underlay: Observed[str]
    """Netdev that it is bound to; Absent: the routing table picks one."""


@dataclass(frozen=True, slots=True)
class Link:
    """One netdev."""

    netdev: str
    index: int
    mtu: Observed[int]
    max_mtu: Observed[int]
    flags: tuple[str, ...]
    """As the kernel has them: `UP`, `LOWER_UP`, `NO-CARRIER`, …"""
    operstate: Observed[str]
    link_type: Observed[str]
    """`ether`, `infiniband`, `none`, …"""
    mac: Observed[str]
    kind: Observed[str]
    """`bond`, `bridge`, `vlan`, `vxlan`, `veth`, `openvswitch`, …; Absent: a device of its own."""
    master: Observed[str]
    """Bond, bridge, VRF or `ovs-system` that it belongs to."""
    qdisc: Observed[str]
    """What queues the frames that leave by it: `mq`, `fq_codel`, `noqueue`, `tbf`, …"""
    lower: Observed[str]
    """Netdev that a VLAN or a macvlan lies on."""
    pci_address: Observed[str]
    switch_id: Observed[str]
    """Same for every port of one eswitch; Absent where there is none or its mode is legacy."""
    phys_port_name: Observed[str]
    """`p0` an uplink, `pf0vf3` or `c0pf0vf3` a VF representor; `3` of an old kernel."""
    phys_port_id: Observed[str]
    """Same for all functions that are one physical port; few drivers give it."""
    bond: Bond | None
    vlan_id: Observed[int]
    vxlan: Vxlan | None
    vfs: tuple[VfSettings, ...]
    addresses: Observed[tuple[Interface, ...]]

    @property
    def is_vf_representor(self) -> bool:
        """It stands for a VF or a subfunction of an eswitch in switchdev mode.

        mlx5 of Linux before 5.2 or so gives the VF's bare number, as `0`.
        """
        name = self.phys_port_name
        if not isinstance(name, Known):
            return False
        is_old = name.value.isdecimal() and isinstance(self.switch_id, Known)
        return is_old or REPRESENTOR.fullmatch(name.value) is not None


@dataclass(frozen=True, slots=True)
class NetStack(Fact):
    """Every netdev of the host's network namespace by its name."""

    links: Observed[dict[str, Link]]

    script: ClassVar[str] = """\
run ip-link - ip -j -d link show
run ip-addr - ip -j addr show
"""

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read both lists of JSON objects."""
        found = objects_of(capture.text("ip-link", "ip -d link show"))
        if not isinstance(found, Known):
            return cls(found)
        addresses = _addresses(objects_of(capture.text("ip-addr", IP_ADDR)))
        links = {}
        for one in found.value:
            netdev, index = one.get("ifname"), one.get("ifindex")
            if isinstance(netdev, str) and isinstance(index, int):
                links[netdev] = _link(one, netdev, index, addresses)
        return cls(Known(links, found.source))

    def __getitem__(self, netdev: str) -> Link:
        """Give one netdev; raises CannotTellError where it is not known."""
        if not isinstance(self.links, Known):
            raise CannotTellError(f"netdevs: {self.links.reason}", self.links.source)
        if netdev not in self.links.value:
            raise CannotTellError(f"no netdev {netdev} in this namespace", "ip link show")
        return self.links.value[netdev]

    def members(self, master: str) -> tuple[Link, ...]:
        """Netdevs that belong to a bond, a bridge or `ovs-system`."""
        return tuple(link for link in self._all() if _is(link.master, master))

    def directly_above(self, netdev: str) -> tuple[Link, ...]:
        """The bond or bridge that a netdev belongs to, and the VLANs and macvlans on it."""
        links = self.links.value if isinstance(self.links, Known) else {}
        own = links.get(netdev)
        master = own.master if own else None
        up = [links[master.value]] if isinstance(master, Known) and master.value in links else []
        return (*up, *(link for link in self._all() if _is(link.lower, netdev)))

    def sets_mtu(self, netdev: str) -> str:
        """Give the netdev whose MTU is to be set: a bond gives its own to each member.

        A member that is set by itself changes neither what IP sends nor RoCE of a bond
        (bond_change_mtu() in drivers/net/bonding/bond_main.c; mlx5_query_port_roce()).
        """
        links = self.links.value if isinstance(self.links, Known) else {}
        master = links[netdev].master if netdev in links else None
        above = links.get(master.value) if isinstance(master, Known) else None
        return above.netdev if above and above.bond else netdev

    def vrf_above(self, netdev: str) -> str | None:
        """Give the VRF that a netdev, or what lies on it, belongs to: its routes are not main's."""
        vrfs = (link.netdev for link in self._all() if _is(link.kind, "vrf"))
        return next((vrf for vrf in vrfs if netdev in self.ports_below(vrf)), None)

    def ports_below(self, netdev: str) -> frozenset[str]:
        """Every netdev that traffic through this one may leave by: members, lower ones, itself."""
        seen: set[str] = set()
        todo = [netdev]
        links = self.links.value if isinstance(self.links, Known) else {}
        while todo:
            name = todo.pop()
            if name in seen or name not in links:
                continue
            seen.add(name)
            link = links[name]
            todo += [member.netdev for member in self.members(name)]
            todo += [o.value for o in (link.lower, _underlay(link)) if isinstance(o, Known)]
        return frozenset(seen)

    def with_address(self, address: str) -> Link | None:
        """Give the netdev that has an IP address; None where none of those that are known has."""
        for link in self._all():
            if isinstance(link.addresses, Known) and any(
                str(own.ip) == address for own in link.addresses.value
            ):
                return link
        return None

    def _all(self) -> Iterator[Link]:
        return iter(self.links.value.values() if isinstance(self.links, Known) else ())


def named_plainly(*netdevs: str) -> bool:
    """Whether these names can stand in a command: none starts with `-` or holds odd characters."""
    return all(PLAIN.fullmatch(netdev) for netdev in netdevs)


def _is(observed: Observed[str], netdev: str) -> bool:
    return isinstance(observed, Known) and observed.value == netdev


def _underlay(link: Link) -> Observed[str] | None:
    return link.vxlan.underlay if link.vxlan else None


def _link(
    one: JsonObject, netdev: str, index: int, addresses: Observed[dict[str, tuple[Interface, ...]]]
) -> Link:
    source = f"ip -d link show {netdev}"
    info = object_in(one, "linkinfo")
    kind = field(info, "info_kind", str, source)
    data = object_in(info, "info_data")
    lower = field(one, "link", str, source)
    if not (isinstance(kind, Known) and kind.value in LOWER_KINDS):
        lower = Absent(source, "it lies on no other netdev")
    is_pci = one.get("parentbus") == "pci"
    flags = one.get("flags")
    return Link(
        netdev=netdev,
        index=index,
        mtu=field(one, "mtu", int, source),
        max_mtu=field(one, "max_mtu", int, source),
        flags=tuple(map(str, flags)) if isinstance(flags, list) else (),
        operstate=field(one, "operstate", str, source),
        link_type=field(one, "link_type", str, source),
        mac=field(one, "address", str, source),
        kind=kind,
        master=field(one, "master", str, source),
        qdisc=field(one, "qdisc", str, source),
        lower=lower,
        pci_address=field(one, "parentdev", str, source) if is_pci else Absent(source),
        switch_id=field(one, "phys_switch_id", str, source),
        phys_port_name=field(one, "phys_port_name", str, source),
        phys_port_id=field(one, "phys_port_id", str, source),
        bond=_bond(data, source) if _is(kind, "bond") else None,
        vlan_id=field(data, "id", int, source) if _is(kind, "vlan") else Absent(source),
        vxlan=_vxlan(data, source) if _is(kind, "vxlan") else None,
        vfs=tuple(_vf(vf, source) for vf in objects_in(one, "vfinfo_list")),
        addresses=(
            Known(addresses.value.get(netdev, ()), f"ip addr show {netdev}")
            if isinstance(addresses, Known)
            else addresses
        ),
    )


def _bond(data: JsonObject, source: str) -> Bond:
    return Bond(
        mode=field(data, "mode", str, source),
        miimon_ms=field(data, "miimon", int, source),
        arp_interval_ms=field(data, "arp_interval", int, source),
        active_port=field(data, "active_slave", str, source),
        xmit_hash_policy=field(data, "xmit_hash_policy", str, source),
    )


def _vxlan(data: JsonObject, source: str) -> Vxlan:
    def either(*names: str) -> Observed[str]:
        name = next((name for name in names if name in data), names[0])
        return field(data, name, str, source)

    external = data.get("external") is True
    return Vxlan(
        vni=Absent(source, "external") if external else field(data, "id", int, source),
        local=either("local", "local6"),
        remote=either("remote", "remote6", "group", "group6"),
        dst_port=field(data, "port", int, source),
        underlay=field(data, "link", str, source),
    )


def _vf(vf: JsonObject, source: str) -> VfSettings:
    # `mac` in older iproute2; `address` now, as for the port itself.
    mac = field(vf, "address" if "address" in vf else "mac", str, source)
    tags = [tag for tag in (vf, *objects_in(vf, "vlan_list")) if "vlan" in tag]
    index = vf.get("vf")
    return VfSettings(
        index=index if isinstance(index, int) else -1,
        has_mac=Known(mac.value != NO_MAC, source) if isinstance(mac, Known) else mac,
        # The tool leaves the tag out where it is 0.
        vlan=field(tags[0], "vlan", int, source) if tags else Known(0, source),
        is_spoof_checked=field(vf, "spoofchk", bool, source),
        is_trusted=field(vf, "trust", bool, source),
        link_state=field(vf, "link_state", str, source),
        max_tx_mbit_per_s=field(object_in(vf, "rate"), "max_tx", int, source),
        has_port_guid=read_as(
            field(vf, "port guid", str, source), lambda guid: bool(guid.strip("0:"))
        ),
    )


def _addresses(found: Observed[list[JsonObject]]) -> Observed[dict[str, tuple[Interface, ...]]]:
    if not isinstance(found, Known):
        return found
    addresses: dict[str, tuple[Interface, ...]] = {}
    for one in found.value:
        own = []
        for address in objects_in(one, "addr_info"):
            try:
                own.append(ip_interface(f"{address.get('local')}/{address.get('prefixlen')}"))
            except ValueError:
                return Unreadable(f"{str(address.get('local'))[:40]!r} is not an address", IP_ADDR)
        addresses[str(one.get("ifname"))] = tuple(own)
    return Known(addresses, found.source)
