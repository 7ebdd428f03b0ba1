"""nmstate: the desired state of a host, for `nmstatectl apply`, as nmstate 2.2 reads it."""

from ipaddress import ip_interface
from typing import Any

from wirespeed.formats.form import Format, Written, yaml_text
from wirespeed.formats.wanted import Key, Setting, Value, WantedHost, WantedPort

FILE = "wirespeed.nmstate.yaml"
RING = {Key.RX_RING: "rx", Key.TX_RING: "tx"}
PAUSE = {Key.PAUSE_AUTONEG: "autoneg", Key.PAUSE_RX: "rx", Key.PAUSE_TX: "tx"}
SRIOV = {Key.AUTOPROBE: "drivers-autoprobe", Key.VFS: "total-vfs"}
VF = {
    Key.MAC: "mac-address",
    Key.VLAN: "vlan-id",
    Key.SPOOF_CHECK: "spoof-check",
    Key.TRUST: "trust",
    Key.MIN_RATE: "min-tx-rate",
    Key.MAX_RATE: "max-tx-rate",
}
TAGGED = {Key.TAG, Key.TAG_NETDEV, Key.TAG_MTU, Key.TAG_ADDRESS}
PORT = {Key.UP, Key.MTU, Key.ADDRESS, *RING, *PAUSE, *SRIOV}
NOTE = "drivers-autoprobe is a field of later nmstate 2.2; one without it refuses the file."


def _write(host: WantedHost) -> Written:
    found = [_interface(host, port) for port in host.ports if host.of(port).keys() & PORT]
    found += [_vlan(port, host.of(port)) for port in host.ports if Key.TAG in host.of(port)]
    text = yaml_text({"interfaces": found})
    said = frozenset(one for one in host.settings if _is_said(one))
    has_probe = any(one.key is Key.AUTOPROBE for one in said)
    return Written({FILE: text} if found else {}, said, (NOTE,) if has_probe else ())


def _is_said(one: Setting) -> bool:
    return one.key in ({*PORT, *TAGGED} if one.vf is None else VF)


def _interface(host: WantedHost, port: WantedPort) -> dict[str, Any]:
    wanted = host.of(port)
    found: dict[str, Any] = {"name": port.netdev, "type": "ethernet"}
    found |= {"state": "up"} if Key.UP in wanted else {}
    found |= {"mtu": wanted[Key.MTU]} if Key.MTU in wanted else {}
    found |= _ip(wanted[Key.ADDRESS]) if Key.ADDRESS in wanted else {}
    ethtool = {"ring": _named(RING, wanted), "pause": _named(PAUSE, wanted)}
    if any(ethtool.values()):
        found["ethtool"] = {name: values for name, values in ethtool.items() if values}
    vfs = [{"id": vf, **_named(VF, host.of(port, vf))} for vf in host.vfs(port)]
    sriov = _named(SRIOV, wanted) | ({"vfs": vfs} if vfs else {})
    return found | ({"ethernet": {"sr-iov": sriov}} if sriov else {})


def _vlan(port: WantedPort, wanted: dict[Key, Value]) -> dict[str, Any]:
    found: dict[str, Any] = {"name": wanted[Key.TAG_NETDEV], "type": "vlan", "state": "up"}
    found |= {"mtu": wanted[Key.TAG_MTU]} if Key.TAG_MTU in wanted else {}
    found["vlan"] = {"base-iface": port.netdev, "id": wanted[Key.TAG]}
    return found | (_ip(wanted[Key.TAG_ADDRESS]) if Key.TAG_ADDRESS in wanted else {})


def _ip(value: Value) -> dict[str, Any]:
    address = ip_interface(str(value))
    one = {"ip": str(address.ip), "prefix-length": address.network.prefixlen}
    return {f"ipv{address.version}": {"enabled": True, "dhcp": False, "address": [one]}}


def _named(names: dict[Key, str], wanted: dict[Key, Value]) -> dict[str, Any]:
    return {name: wanted[key] for key, name in names.items() if key in wanted}


FORMAT = Format("nmstate", _write)
