"""nmstate's desired state read: what `nmstate.py` writes, and what others write.

The fields are those of nmstate 2.2 (https://nmstate.io/devel/yaml_api.html), which refuses unknown
ones too (deny_unknown_fields).
"""

from collections.abc import Sequence
from typing import Any

from wirespeed.formats.found import Found, Source
from wirespeed.formats.nmstate import PAUSE, RING, SRIOV, VF
from wirespeed.formats.wanted import Key, WantedPort

STATE = {
    "description", "dispatch", "dns-resolver", "hostname", "interfaces",
    "ovn", "ovs-db", "route-rules", "routes",
}  # fmt: skip
INTERFACE = {
    "802.1x", "accept-all-mac-addresses", "alt-names", "controller", "copy-mac-from",
    "description", "dispatch", "driver", "ethernet", "ethtool", "identifier", "ipv4", "ipv6",
    "lldp", "mac-address",
    "max-mtu", "min-mtu", "mptcp", "mtu", "name", "ovs-db", "pci-address", "permanent-mac-address",
    "profile-name", "state", "type", "wait-ip",
}  # fmt: skip
VLAN = {"base-iface", "id", "protocol", "registration-protocol", "reorder-headers", "loose-binding"}
IP = {
    "addr-gen-mode", "address", "allow-extra-address", "auto-dns", "auto-gateway",
    "auto-route-metric", "auto-route-table-id", "auto-routes", "autoconf", "dhcp",
    "dhcp-client-id", "dhcp-custom-hostname", "dhcp-duid", "dhcp-send-hostname", "enabled",
    "forwarding", "mptcp-flags", "prefix-route-metric", "token", "valid-life-time",
}  # fmt: skip
ADDRESS = {
    "ip", "prefix-length", "mptcp-flags", "preferred-life-time", "protocol", "valid-life-time",
}  # fmt: skip
ETHERNET = {"auto-negotiation", "duplex", "speed", "sr-iov"}
VF_FIELDS = {"id", "iface-name", "qos", "vlan-proto", *VF.values()}
RING_FIELDS = {
    "rx", "rx-jumbo", "rx-jumbo-max", "rx-max", "rx-mini", "rx-mini-max", "tx", "tx-max",
}  # fmt: skip
LINK_LOCAL = ("fe80:", "169.254.")
USUAL = ({"enabled": False}, {"enabled": True}, {"enabled": True, "dhcp": False})


def read_nmstate(found: Found, sources: Sequence[Source]) -> None:
    """Read all states of a host."""
    for source in sources:
        state = source.known("the file", source.data, STATE)
        for name, value in state.items():
            if name != "interfaces":
                found.unsaid(source, name, value)
        for number, one in enumerate(source.items("interfaces", state.get("interfaces", []))):
            fields = source.fields(f"interfaces[{number}]", one)
            _interface(found, source, f"interfaces[{number}]", fields)


def _interface(found: Found, source: Source, path: str, fields: dict[str, Any]) -> None:
    name = fields.get("name")
    if not isinstance(name, str):
        source.refuse(f"{path}.name", name, "the name of an interface")
    path = f"interfaces.{name}"
    port = found.named(name)
    if fields.get("type") == "vlan" and _is_on_port(found, fields):
        _vlan(found, source, path, dict(fields))
        return
    if fields.get("type", "ethernet") != "ethernet" or port is None:
        found.unsaid(source, f"{path} (no port of a card of {found.name})", fields)
        return
    fields = dict(source.known(path, fields, INTERFACE))
    del fields["name"]
    fields.pop("type", None)
    state = fields.pop("state", "up")
    if state not in ("up", "down", "absent", "ignore"):
        source.refuse(f"{path}.state", state, "up, down, absent or ignore")
    if state == "up":
        found.set(source, f"{path}.state", port, Key.UP, True, None)
    else:
        found.unsaid(source, f"{path}.state", state)
    for version in ("ipv4", "ipv6"):
        _ip(found, source, f"{path}.{version}", fields.pop(version, {"enabled": False}), port)
    ethtool = source.known(
        f"{path}.ethtool", fields.pop("ethtool", {}),
        {"ring", "pause", "coalesce", "feature", "fec"},
    )  # fmt: skip
    for part, value in ethtool.items():
        names = {"ring": RING, "pause": PAUSE}.get(part)
        if names is None:
            found.unsaid(source, f"{path}.ethtool.{part}", value)
            continue
        allowed = RING_FIELDS if part == "ring" else names.values()
        found.take(
            source, f"{path}.ethtool.{part}",
            source.known(f"{path}.ethtool.{part}", value, allowed), names, port,
        )  # fmt: skip
    ethernet = source.known(f"{path}.ethernet", fields.pop("ethernet", {}), ETHERNET)
    for part, value in ethernet.items():
        if part == "sr-iov":
            _sriov(found, source, f"{path}.ethernet.sr-iov", value, port)
        else:
            found.unsaid(source, f"{path}.ethernet.{part}", value)
    found.take(source, path, fields, {Key.MTU: "mtu"}, port)


def _is_on_port(found: Found, fields: dict[str, Any]) -> bool:
    """Say whether a VLAN is up, and the first that is found on a port of the host."""
    of = fields.get("vlan")
    port = found.named(str(of.get("base-iface"))) if isinstance(of, dict) else None
    is_first = port is not None and (port, Key.TAG, None) not in found.settings
    return is_first and fields.get("state", "up") == "up"


def _vlan(found: Found, source: Source, path: str, fields: dict[str, Any]) -> None:
    fields = source.known(path, fields, {*INTERFACE, "vlan"})
    of = dict(source.known(f"{path}.vlan", fields.pop("vlan"), VLAN))
    port = found.named(str(of.pop("base-iface")))
    if port is None:
        raise AssertionError("a VLAN of no port is listed whole")
    found.set(source, f"{path}.name", port, Key.TAG_NETDEV, fields.pop("name"), None)
    for version in ("ipv4", "ipv6"):
        value = fields.pop(version, {"enabled": False})
        _ip(found, source, f"{path}.{version}", value, port, Key.TAG_ADDRESS)
    found.take(source, f"{path}.vlan", of, {Key.TAG: "id"}, port)
    for name in ("type", "state"):
        fields.pop(name, None)
    found.take(source, path, fields, {Key.TAG_MTU: "mtu"}, port)


def _ip(
    found: Found, source: Source, path: str, value: Any, port: WantedPort, key: Key = Key.ADDRESS
) -> None:
    fields = dict(source.known(path, value, IP))
    for one in source.items(f"{path}.address", fields.pop("address", [])):
        given = source.known(f"{path}.address", one, ADDRESS)
        if not {"ip", "prefix-length"} <= set(given):
            source.refuse(f"{path}.address", one, "ip and prefix-length")
        text = f"{given['ip']}/{given['prefix-length']}"
        is_further = (port, key, None) in found.settings or len(given) > 2
        # `nmstatectl show` has those that the kernel gave, too.
        if is_further or text.lower().startswith(LINK_LOCAL):
            found.unsaid(source, f"{path}.address", one)
        else:
            found.set(source, f"{path}.address", port, key, text, None)
    if fields not in USUAL:
        for name, other in fields.items():
            found.unsaid(source, f"{path}.{name}", other)


def _sriov(found: Found, source: Source, path: str, value: Any, port: WantedPort) -> None:
    fields = dict(source.known(path, value, {"max-vfs", "vfs", *SRIOV.values()}))
    for number, one in enumerate(source.items(f"{path}.vfs", fields.pop("vfs", []))):
        of = f"{path}.vfs[{number}]"
        given = dict(source.known(of, one, VF_FIELDS))
        vf = source.value(f"{of}.id", Key.VFS, given.pop("id", None))
        found.take(source, of, given, VF, port, int(vf))
    found.take(source, path, fields, SRIOV, port)
