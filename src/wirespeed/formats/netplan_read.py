"""netplan's files read: what `netplan.py` writes, and what others write by netplan's reference.

https://netplan.readthedocs.io/en/stable/netplan-yaml/ has the fields. A field that is not there is
an error; one that a spec has no word for is listed.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from wirespeed.formats.found import Found, Source
from wirespeed.formats.netplan import PORT, vf_netdev
from wirespeed.formats.wanted import Key, WantedPort

DEVICES = {
    "bonds", "bridges", "dummy-devices", "modems", "nm-devices", "tunnels", "virtual-ethernets",
    "vrfs", "wifis",
}  # fmt: skip
EVERY = {
    "accept-ra", "activation-mode", "addresses", "critical", "dhcp-identifier", "dhcp4",
    "dhcp4-overrides", "dhcp6", "dhcp6-overrides", "gateway4", "gateway6", "hairpin",
    "ignore-carrier",
    "ipv6-address-generation", "ipv6-address-token", "ipv6-mtu", "ipv6-privacy", "link-local",
    "macaddress", "mtu", "nameservers", "neigh-suppress", "networkmanager", "openvswitch",
    "optional", "optional-addresses", "port-mac-learning", "ra-overrides", "renderer", "routes",
    "routing-policy",
}  # fmt: skip
ETHERNET = EVERY | {
    "auth", "delay-virtual-functions-rebind", "embedded-switch-mode", "emit-lldp",
    "generic-receive-offload", "generic-segmentation-offload", "infiniband-mode",
    "large-receive-offload", "link", "match", "receive-checksum-offload", "set-name",
    "tcp-segmentation-offload", "tcp6-segmentation-offload", "transmit-checksum-offload",
    "virtual-function-count", "wakeonlan", "wakeonwlan",
}  # fmt: skip
VLAN = EVERY | {"id", "link"}


def read_netplan(found: Found, sources: Sequence[Source]) -> None:
    """Read all files of a host: netplan lays them over one another."""
    vfs: dict[str, tuple[WantedPort, int]] = {}
    tags: list[tuple[Source, str, dict[str, Any]]] = []
    for source in sources:
        network = source.known("network", _network(source), {"ethernets", "vlans", "version",
                               "renderer", "openvswitch", *DEVICES})  # fmt: skip
        # It is 2 where it does not stand there, and a number in quotes is one (parse.c, strtol).
        if str(network.get("version", 2)) != "2":
            source.refuse("network.version", network["version"], "2")
        for name, value in network.items():
            if name not in ("ethernets", "vlans", "version"):
                found.unsaid(source, f"network.{name}", value)
        for name, value in _part(source, network, "ethernets").items():
            path = f"network.ethernets.{name}"
            _ethernet(found, source, path, name, source.known(path, value or {}, ETHERNET), vfs)
        for name, value in _part(source, network, "vlans").items():
            path = f"network.vlans.{name}"
            tags.append((source, path, source.known(path, value, VLAN)))
    for source, path, fields in tags:
        _vlan(found, source, path, fields, vfs)


def _network(source: Source) -> Any:
    return source.known("the file", source.data, {"network"}).get("network")


def _part(source: Source, network: dict[str, Any], name: str) -> dict[str, Any]:
    return source.fields(f"network.{name}", network[name] or {}) if name in network else {}


def _ethernet(
    found: Found, source: Source, path: str, name: str, fields: dict[str, Any],
    vfs: dict[str, tuple[WantedPort, int]],
) -> None:  # fmt: skip
    fields = dict(fields)
    netdev = name
    if "match" in fields:
        match = source.fields(f"{path}.match", fields["match"])
        if set(match) == {"name"} and not set("*?[") & set(str(match["name"])):
            netdev = str(fields.pop("match")["name"])
    port = found.named(netdev)
    pf = found.named(str(fields.get("link")))
    if port is None and pf is not None:
        _vf(found, source, path, netdev, fields, pf, vfs)
        return
    if port is None or "match" in fields:
        found.unsaid(source, f"{path} (which port of {found.name} it is, is not known)", fields)
        return
    if "activation-mode" not in fields:
        found.set(source, path, port, Key.UP, True, None)
    for address in source.items(f"{path}.addresses", fields.pop("addresses", None) or []):
        is_taken = (port, Key.ADDRESS, None) in found.settings
        if isinstance(address, str) and not is_taken:
            found.set(source, f"{path}.addresses", port, Key.ADDRESS, address, None)
        else:
            found.unsaid(source, f"{path}.addresses", address)
    found.take(source, path, fields, {key: PORT[key] for key in PORT}, port)


def _vf(
    found: Found, source: Source, path: str, netdev: str, fields: dict[str, Any], pf: WantedPort,
    vfs: dict[str, tuple[WantedPort, int]],
) -> None:  # fmt: skip
    vf = _vf_numbers(pf.netdev, len(pf.vf_addresses)).get(netdev)
    if vf is None:
        found.unsaid(source, f"{path} (which VF of {pf.netdev} it is, is not known)", fields)
        return
    vfs[netdev] = (pf, vf)
    found.netdevs.add((pf, vf))
    for name, value in fields.items():
        if name != "link":
            found.unsaid(source, f"{path}.{name}", value)


@lru_cache(maxsize=64)
def _vf_numbers(netdev: str, count: int) -> dict[str | None, int]:
    """Give the number of each VF of a port, by the name that its netdev has."""
    return {vf_netdev(netdev, vf): vf for vf in reversed(range(count))}


def _vlan(
    found: Found, source: Source, path: str, fields: dict[str, Any],
    vfs: dict[str, tuple[WantedPort, int]],
) -> None:  # fmt: skip
    for name in ("id", "link"):
        if name not in fields:
            source.refuse(f"{path}.{name}", None, "it is there")
    lower = found.named(str(fields["link"]))
    if lower is not None and "renderer" not in fields:
        _on_port(found, source, path, fields, lower)
        return
    of = vfs.get(str(fields["link"]))
    if fields.get("renderer") != "sriov" or of is None:
        found.unsaid(source, path, fields)
        return
    port, vf = of
    found.set(source, f"{path}.id", port, Key.VLAN, fields["id"], vf)
    for name, value in fields.items():
        if name not in ("id", "link", "renderer"):
            found.unsaid(source, f"{path}.{name}", value)


def _on_port(
    found: Found, source: Source, path: str, fields: dict[str, Any], port: WantedPort
) -> None:
    """Read a VLAN on a port; a spec has one of each port at most, with one address."""
    if (port, Key.TAG, None) in found.settings:
        found.unsaid(source, path, fields)
        return
    fields = {name: value for name, value in fields.items() if name != "link"}
    found.set(source, path, port, Key.TAG_NETDEV, path.removeprefix("network.vlans."), None)
    for number, address in enumerate(
        source.items(f"{path}.addresses", fields.pop("addresses", None) or [])
    ):
        if isinstance(address, str) and number == 0:
            found.set(source, f"{path}.addresses", port, Key.TAG_ADDRESS, address, None)
        else:
            found.unsaid(source, f"{path}.addresses", address)
    found.take(source, path, fields, {Key.TAG: "id", Key.TAG_MTU: "mtu"}, port)
