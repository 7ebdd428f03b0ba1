"""A spec from what was found in files of another tool. Pure: what it misses is told by `compared`.

Where every VF of every port has a VLAN, the same on each port of its host, it is a `legacy-vlan`:
a network of each VLAN, a guest of each VF. Where each host has one port, in switchdev mode, and
every VF's representor is in a bridge of Open vSwitch, it is an `ovs-tc`: a network of each bridge.
Else it is of hosts alone. It says nothing that a file
contradicts, but the MAC of a VF.
"""

from collections.abc import Iterator, Mapping, Sequence
from ipaddress import IPv4Interface
from typing import Any

from wirespeed.facts.queues import Queues
from wirespeed.formats.found import Found
from wirespeed.formats.wanted import Key, Setting, Value, WantedHost, WantedPort
from wirespeed.model.error import InputError
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import Known
from wirespeed.model.spec.names import MAX_MTU, MIN_MTU, NAME
from wirespeed.model.spec.networks import MAX_VLAN
from wirespeed.model.subnet import unusable

PAUSE = (Key.PAUSE_AUTONEG, Key.PAUSE_RX, Key.PAUSE_TX)
UNDERLAY = "underlay"
MAX_GUESTS = 5000
"""Some forty ports with all the VFs that a ConnectX has; the spec has 7 values for each."""
MAX_LINES = 20
BRIDGE = "br-"
"""What a network's bridge is called by, before the network's name."""


def spec_data(
    founds: Sequence[Found],
    reached: Mapping[str, str],
    facts: Mapping[str, HostFacts],
    subnets: Mapping[str, str],
    segments: Mapping[str, int],
) -> dict[str, Any]:
    """Give the data of a spec; hosts are in the order of their addresses.

    Raises InputError `formats.says_nothing`, `formats.subnet_missing`, `formats.segment_missing`,
    `formats.too_many_vfs`.
    """
    hosts = [WantedHost(one.name, _ports(one), tuple(one.settings.values()), ()) for one in founds]
    for host in hosts:
        if not host.ports:
            raise InputError(
                "formats.says_nothing",
                where=host.name,
                found="\n".join(
                    next(one for one in founds if one.name == host.name).others[:MAX_LINES]
                )
                or "the files configure no port of this host",
                so="no spec was made",
                next="give the files of this host, or leave it out of --host",
            )
    hosts.sort(key=_place)
    data: dict[str, Any] = {
        "hosts": {
            host.name: {
                "reach": reached[host.name],
                "ports": [port.pci_address for port in host.ports],
            }
            for host in hosts
        }
    }
    vlans = {host.name: _vlans(host) for host in hosts}
    mtus = {host.of(port).get(Key.MTU) for host in hosts for port in host.ports}
    netdevs = {(one.name, *of) for one in founds for of in one.netdevs}
    mtu = mtus.pop() if len(mtus) == 1 else None
    if _is_mtu(mtu) and all(vlans.values()):
        return data | _guests(hosts, vlans, int(mtu or 0), netdevs, subnets)
    bridged = {host.name: _bridged(host) for host in hosts}
    names = _network_mtus(bridged)
    if _is_mtu(mtu) and names and all(bridged.values()):
        return data | _behind_bridges(hosts, bridged, names, int(mtu or 0), netdevs,
                                      subnets, segments)  # fmt: skip
    data["approach"] = "none"
    underlay = _underlay(hosts)
    tuning = _tuning(hosts, facts)
    return data | (underlay and {"underlay": underlay}) | (tuning and {"tuning": tuning})


def compared(found: Found, made: WantedHost) -> tuple[list[str], list[str]]:
    """Give what a spec does not say of a host's files, and what it wants beyond them."""
    ours = {(one.port, one.key, one.vf): one for one in made.settings}
    unsaid: list[str] = []
    for place, one in found.settings.items():
        other = ours.pop(place, None)
        if other is None:
            unsaid.append(one.words())
        elif not _is_same(one, other):
            unsaid.append(f"{one.words()} (the spec gives {other.value})")
    return unsaid + found.others, [one.words() for one in ours.values()] + list(made.others)


def _is_same(one: Setting, other: Setting) -> bool:
    if one.key in (Key.ADDRESS, Key.TAG_ADDRESS, Key.MAC):
        return str(one.value).lower() == str(other.value).lower()
    return one.value == other.value


def _ports(found: Found) -> tuple[WantedPort, ...]:
    named = {port for port, _, _ in found.settings}
    return tuple(port for port in found.ports if port in named)


def _place(host: WantedHost) -> tuple[int, int]:
    """Order hosts by their address; those without one stay in their order, behind."""
    addresses = [_address_of(host.of(port)) for port in host.ports]
    first = next((one for one in addresses if one is not None), None)
    return (1, 0) if first is None else (0, int(first))


def _address_of(wanted: Mapping[Key, Value]) -> IPv4Interface | None:
    """Give the address of a port's network: in the VLAN on it, where there is one."""
    return _address(wanted.get(Key.TAG_ADDRESS if Key.TAG in wanted else Key.ADDRESS))


def _address(value: Value | None) -> IPv4Interface | None:
    try:
        return IPv4Interface(value) if isinstance(value, str) else None
    except ValueError:
        return None


def _is_mtu(value: Value | None) -> bool:
    return isinstance(value, int) and MIN_MTU <= value <= MAX_MTU


def _underlay(hosts: list[WantedHost]) -> dict[str, Any]:
    """Give the network between hosts, where their addresses are those that a spec gives."""
    mtus, subnets, tags = set(), set(), set()
    for place, host in enumerate(hosts, 1):
        wanted = host.of(host.ports[0])
        address = _address_of(wanted)
        if len(host.ports) > 1 or address is None:
            return {}
        if address.ip != address.network.network_address + place:
            return {}
        mtus.add(wanted.get(Key.MTU))
        tags.add(wanted.get(Key.TAG))
        subnets.add(address.network)
    if len(mtus) > 1 or len(subnets) > 1 or len(tags) > 1 or not _is_mtu(mtu := mtus.pop()):
        return {}
    subnet = subnets.pop()
    if unusable(subnet) or len(hosts) > subnet.num_addresses - 2:
        return {}
    tag = tags.pop()
    if tag is not None and not 0 < int(tag) <= MAX_VLAN:
        return {}
    return {"subnet": str(subnet), "mtu": mtu} | ({} if tag is None else {"vlan": tag})


def _tuning(hosts: list[WantedHost], facts: Mapping[str, HostFacts]) -> dict[str, Any]:
    """Give what every port has alike."""
    each = [(host, port, host.of(port)) for host in hosts for port in host.ports]
    tuning: dict[str, Any] = {}
    if all(_is_largest(facts[host.name], port, wanted) for host, port, wanted in each):
        tuning["rings"] = "largest"
    channels = {wanted.get(Key.CHANNELS) for _, _, wanted in each}
    if len(channels) == 1 and (one := channels.pop()):
        tuning["channels"] = one
    pauses = {tuple(wanted.get(key) for key in PAUSE) for _, _, wanted in each}
    if len(pauses) == 1 and (pause := pauses.pop()) in ((False, False, False), (False, True, True)):
        tuning["pause"] = pause[1]
    return tuning


def _is_largest(facts: HostFacts, port: WantedPort, wanted: Mapping[Key, Value]) -> bool:
    queues = facts[Queues].of(port.netdev)
    most = (queues.rx_ring_descriptors_max, queues.tx_ring_descriptors_max)
    rings = zip((Key.RX_RING, Key.TX_RING), most, strict=True)
    return all(isinstance(one, Known) and one.value == wanted.get(key) for key, one in rings)


def _vlans(host: WantedHost) -> list[int]:
    """Give the VLAN of each VF, where every port has the same; else none."""
    found: set[tuple[int, ...]] = set()
    for port in host.ports:
        total = host.of(port).get(Key.VFS, 0)
        vlans = [int(host.of(port, vf).get(Key.VLAN, 0)) for vf in range(int(total))]
        if not all(0 < vlan <= MAX_VLAN for vlan in vlans) or set(host.vfs(port)) - set(
            range(len(vlans))
        ):
            return []
        found.add(tuple(vlans))
    return list(found.pop()) if len(found) == 1 else []


def _guests(
    hosts: list[WantedHost], vlans: Mapping[str, list[int]], mtu: int,
    netdevs: set[tuple[str, WantedPort, int]], subnets: Mapping[str, str],
) -> dict[str, Any]:  # fmt: skip
    """Give the networks and guests of a spec of VFs."""
    _refuse_many(hosts, vlans)
    numbers = list(dict.fromkeys(vlan for of in vlans.values() for vlan in of))
    names = [UNDERLAY, *(f"vlan{number}" for number in numbers)]
    _require_subnets("VLANs", "legacy-vlan", names, subnets)
    networks = {
        name: {"segment": number, "subnet": subnets[name], "mtu": mtu}
        for name, number in zip(names[1:], numbers, strict=True)
    }
    return {
        "approach": "legacy-vlan",
        "failover": "active-backup" if all(len(h.ports) > 1 for h in hosts) else "none",
        "underlay": {"subnet": subnets[UNDERLAY], "mtu": mtu},
        "networks": networks,
        "guests": dict(
            _each_guest(hosts, {h: [f"vlan{v}" for v in of] for h, of in vlans.items()}, netdevs)
        ),
    }


def _refuse_many(hosts: list[WantedHost], vfs: Mapping[str, Sequence[object]]) -> None:
    """Raise InputError `formats.too_many_vfs` where a spec of them could not be read again."""
    total = sum(map(len, vfs.values()))
    if total > MAX_GUESTS:
        raise InputError(
            "formats.too_many_vfs",
            where=", ".join(host.name for host in hosts),
            found=f"{total} VFs with a network; a spec has a guest for each, and at most "
            f"{MAX_GUESTS} guests",
            so="no spec was made",
            next="give the files of fewer hosts, or correct the number of VFs",
        )


def _require_subnets(
    what: str, approach: str, names: Sequence[str], subnets: Mapping[str, str]
) -> None:
    missing = [name for name in names if name not in subnets]
    if missing:
        raise InputError(
            "formats.subnet_missing",
            where=", ".join(missing),
            found=f"the files have VFs in {what}, but not the subnets of their guests",
            so=f"a spec of approach {approach} needs these subnets",
            next=" ".join(f"--subnet {name}=SUBNET" for name in missing),
        )


def _each_guest(
    hosts: list[WantedHost],
    networks: Mapping[str, Sequence[str]],
    netdevs: set[tuple[str, WantedPort, int]],
) -> Iterator[tuple[str, dict[str, Any]]]:
    for host in hosts:
        for vf, network in enumerate(networks[host.name]):
            is_netdev = all((host.name, port, vf) in netdevs for port in host.ports)
            kind = {"kind": "namespace"} if is_netdev else {}
            yield f"{host.name}-vf{vf}", {"host": host.name, "networks": [network], **kind}


def _bridged(host: WantedHost) -> list[tuple[str, Value]]:
    """Give the network of each VF's bridge and its MTU, where a host is of `ovs-tc`; else none."""
    if len(host.ports) > 1 or host.of(host.ports[0]).get(Key.ESWITCH) != "switchdev":
        return []
    port = host.ports[0]
    found: list[tuple[str, Value]] = []
    for vf in range(int(host.of(port).get(Key.VFS, 0))):
        wanted = host.of(port, vf)
        name, mtu = (
            str(wanted.get(Key.BRIDGE)).removeprefix(BRIDGE),
            wanted.get(Key.REPRESENTOR_MTU),
        )
        if Key.BRIDGE not in wanted or not NAME.fullmatch(name) or mtu is None or not _is_mtu(mtu):
            return []
        found.append((name, mtu))
    return found


def _network_mtus(bridged: Mapping[str, list[tuple[str, Value]]]) -> dict[str, Value]:
    """Give each network's MTU; none at all where one has two."""
    pairs = list(dict.fromkeys(pair for of in bridged.values() for pair in of))
    return dict(pairs) if len(dict(pairs)) == len(pairs) else {}


def _behind_bridges(
    hosts: list[WantedHost], bridged: Mapping[str, list[tuple[str, Value]]],
    mtus: Mapping[str, Value], mtu: int, netdevs: set[tuple[str, WantedPort, int]],
    subnets: Mapping[str, str], segments: Mapping[str, int],
) -> dict[str, Any]:  # fmt: skip
    """Give the networks and guests of a spec of VFs whose representors are in bridges."""
    _refuse_many(hosts, bridged)
    _require_subnets("bridges", "ovs-tc", [UNDERLAY, *mtus], subnets)
    missing = [name for name in mtus if name not in segments]
    if missing:
        raise InputError(
            "formats.segment_missing",
            where=", ".join(missing),
            found="the files have VFs in bridges, but not the tunnels between them",
            so="a spec of approach ovs-tc needs a VXLAN network identifier for each",
            next=" ".join(f"--segment {name}=VNI" for name in missing),
        )
    networks = {host: [name for name, _ in of] for host, of in bridged.items()}
    return {
        "approach": "ovs-tc",
        "failover": "none",
        "underlay": {"subnet": subnets[UNDERLAY], "mtu": mtu},
        "networks": {
            name: {"segment": segments[name], "subnet": subnets[name], "mtu": one}
            for name, one in mtus.items()
        },
        "guests": dict(_each_guest(hosts, networks, netdevs)),
    }
