"""netplan: one YAML file of a host.

A VF is a netdev there: its VLAN is a `vlans` entry with `renderer: sriov` on it. A VF that vfio-pci
has is none, and netplan can say no more of it than that it is counted.
"""

import re
from collections.abc import Mapping
from typing import Any

from wirespeed.formats.form import Format, Written, yaml_text
from wirespeed.formats.wanted import Key, Setting, Value, WantedHost, WantedPort

TAGGED = {Key.TAG, Key.TAG_NETDEV, Key.TAG_MTU, Key.TAG_ADDRESS}
FILE = "90-wirespeed.yaml"
PORT = {Key.MTU: "mtu", Key.VFS: "virtual-function-count"}
BY_SLOT = re.compile(r"(en(?:P\d+)?(?:p\d+)?s\d+(?:f\d+)?)(?:np\d+)?")
MAX_NAME = 15
NOTE = "{vf} is taken to be VF {number} of {pf}, as udev names it (systemd.net-naming-scheme(7))."
LATE = (
    "netplan 0.106 gives a VF its VLAN only if the VF's netdev is there already: after `netplan "
    "apply`, and after each boot, run `netplan apply --sriov-only` once more, and see `ip link "
    "show` for the VLAN of each VF. A VF without its VLAN is in the untagged network."
)
WHY = {
    Key.MAC: "netplan does not tell the card the MAC of a VF",
    Key.VLAN: "netplan knows a VF by its netdev, and this one has none of a known name",
}


def vf_netdev(pf: str, vf: int) -> str | None:
    """Give what udev calls a VF of a PF that it named itself, by slot or path; else None.

    The PF's name without that of the card's port, `v` and the number of the VF.
    """
    match = BY_SLOT.fullmatch(pf)
    name = f"{match[1]}v{vf}" if match else ""
    return name if 0 < len(name) <= MAX_NAME else None


def _write(host: WantedHost) -> Written:
    ethernets: dict[str, dict[str, Any]] = {}
    vlans: dict[str, dict[str, Any]] = {}
    said: set[Setting] = set()
    notes: list[str] = []
    for port in host.ports:
        wanted = host.of(port)
        if not wanted.keys() & {*PORT, Key.UP, Key.ADDRESS}:
            continue
        own: dict[str, Any] = {name: wanted[key] for key, name in PORT.items() if key in wanted}
        if Key.ADDRESS in wanted:
            own["addresses"] = [wanted[Key.ADDRESS]]
        ethernets[port.netdev] = own
        if Key.TAG in wanted:
            vlans[str(wanted[Key.TAG_NETDEV])] = _vlan(port, wanted)
        keys = {*PORT, *TAGGED, Key.UP, Key.ADDRESS}
        said |= {o for o in host.settings if o.port == port and o.vf is None and o.key in keys}
        for vf, name, vlan in _tagged(host, port):
            ethernets[name] = {"link": port.netdev}
            vlans[f"{name}-vlan"] = {"id": vlan, "link": name, "renderer": "sriov"}
            said.add(Setting(port, Key.VLAN, vlan, vf))
            notes.append(NOTE.format(vf=name, number=vf, pf=port.netdev))
    notes += [LATE] if notes else []
    network = {"version": 2, "ethernets": ethernets} | ({"vlans": vlans} if vlans else {})
    files = {FILE: yaml_text({"network": network})} if ethernets else {}
    return Written(files, frozenset(said), tuple(notes))


def _vlan(port: WantedPort, wanted: Mapping[Key, Value]) -> dict[str, Any]:
    found: dict[str, Any] = {"id": wanted[Key.TAG], "link": port.netdev}
    found |= {"mtu": wanted[Key.TAG_MTU]} if Key.TAG_MTU in wanted else {}
    return found | ({"addresses": [wanted[Key.TAG_ADDRESS]]} if Key.TAG_ADDRESS in wanted else {})


def _tagged(host: WantedHost, port: WantedPort) -> list[tuple[int, str, int]]:
    """Give the VFs whose VLAN can be said: number, netdev, VLAN."""
    found: list[tuple[int, str, int]] = []
    for vf in host.vfs(port):
        wanted, name = host.of(port, vf), vf_netdev(port.netdev, vf)
        vlan = wanted.get(Key.VLAN)
        is_netdev = Key.DRIVER not in wanted and host.of(port).get(Key.AUTOPROBE) is not False
        if isinstance(vlan, int) and vlan and name is not None and is_netdev:
            found.append((vf, name, vlan))
    return found


FORMAT = Format("netplan", _write, WHY, is_private=True)
