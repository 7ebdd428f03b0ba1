"""sriov-network-operator: a SriovNetworkNodePolicy of each port, a network of each VLAN or bridge.

A VF with a VLAN has a SriovNetwork. One in switchdev mode, whose representor is in a bridge of Open
vSwitch, has an OVSNetwork, whose CNI puts it there; bridge and tunnels are made by something else
(the operator's own bridges have the port itself in them).

The operator lends any free VF of a resource to the pod that asks for the network, and gives it the
VLAN then. VFs of one port that differ in their driver are two policies (`pfNames: NETDEV#0-1`).
"""

from collections.abc import Mapping
from itertools import groupby
from typing import Any

from wirespeed.formats.form import Format, Written, yaml_text
from wirespeed.formats.wanted import Key, Setting, Value, WantedHost, WantedPort

FILE = "sriov-network-operator.yaml"
API = "sriovnetwork.openshift.io/v1"
NAMESPACE = "sriov-network-operator"
MAY = '{"mac": true}'
"""What a pod may ask for."""
NODE = "kubernetes.io/hostname"
VF = {
    Key.VLAN: "vlan",
    Key.SPOOF_CHECK: "spoofChk",
    Key.TRUST: "trust",
    Key.MIN_RATE: "minTxRate",
    Key.MAX_RATE: "maxTxRate",
}
OVS_VF = {Key.BRIDGE: "bridge", Key.REPRESENTOR_MTU: "mtu"}
"""ovs-cni gives the MTU to the representor and to the VF itself (pkg/sriov/sriov.go)."""
PORT = {Key.MTU, Key.VFS, Key.ESWITCH}
NOTES = (
    "The node is taken to be called as the host is in the spec, and the operator to be in the "
    f"namespace {NAMESPACE}.",
    "The operator raises a port's MTU to that of its policy, and lowers none.",
    "A pod gets any free VF of its resource: which guest has which VF cannot be said.",
)
WHY = {
    Key.MAC: "the pod asks for it, by its annotation",
    Key.UP: "no field of a policy",
    Key.ADDRESS: "a policy is about VFs",
    Key.MTU: "without VFs there is no policy",
    Key.ESWITCH: "without VFs there is no policy",
    Key.AUTOPROBE: "the operator decides it by `deviceType`",
}


def _write(host: WantedHost) -> Written:
    policies: list[dict[str, Any]] = []
    networks: dict[str, dict[str, Any]] = {}
    said: set[Setting] = set()
    for number, port in enumerate(host.ports):
        if not host.of(port).get(Key.VFS):
            continue
        for kind, vfs in _groups(host, port):
            resource = f"wirespeed_port{number}_{kind.partition('-')[0]}"
            policies.append(_policy(host, port, resource, kind, vfs))
            for vf in vfs:
                for kind_of, keys in (("SriovNetwork", VF), ("OVSNetwork", OVS_VF)):
                    wanted = _settings(host.of(port, vf), keys)
                    if wanted:
                        name = _network_name(resource, wanted)
                        networks[name] = _network(kind_of, name, resource, wanted)
        said |= {o for o in host.settings if o.port == port and _is_said(o)}
    text = yaml_text(*policies, *networks.values())
    return Written({FILE: text} if policies else {}, frozenset(said), NOTES if policies else ())


def _is_said(one: Setting) -> bool:
    return one.key in (PORT if one.vf is None else {*VF, *OVS_VF, Key.DRIVER})


def _groups(host: WantedHost, port: WantedPort) -> list[tuple[str, list[int]]]:
    """Give the VFs that follow one another and have one driver, by `deviceType`."""

    def kind(vf: int) -> str:
        return str(host.of(port, vf).get(Key.DRIVER, "netdevice"))

    all_vfs = range(int(host.of(port)[Key.VFS]))
    return [(name, list(vfs)) for name, vfs in groupby(all_vfs, kind)]


def _policy(
    host: WantedHost, port: WantedPort, resource: str, kind: str, vfs: list[int]
) -> dict[str, Any]:
    wanted = host.of(port)
    total = int(wanted[Key.VFS])
    is_whole = len(vfs) == total
    part = {"pfNames": [f"{port.netdev}#{vfs[0]}-{vfs[-1]}"]}
    name = f"{host.name}-{resource}-{vfs[0]}".replace("_", "-")
    spec: dict[str, Any] = {
        "nodeSelector": {NODE: host.name},
        "nicSelector": {"rootDevices": [port.pci_address]} if is_whole else part,
        "resourceName": resource,
        "numVfs": total,
        "deviceType": kind,
    }
    more = {Key.MTU: "mtu", Key.ESWITCH: "eSwitchMode"}
    spec |= {name: wanted[key] for key, name in more.items() if key in wanted}
    return _object("SriovNetworkNodePolicy", name, spec)


def _settings(wanted: dict[Key, Value], keys: Mapping[Key, str]) -> dict[str, Any]:
    named = {name: wanted[key] for key, name in keys.items() if key in wanted}
    return {n: ("off", "on")[v] if isinstance(v, bool) else v for n, v in named.items()}


def _network_name(resource: str, wanted: dict[str, Any]) -> str:
    """Name a network by all that it has: hosts that want the same have the same object."""
    words = [f"{name}-{value}".lower() for name, value in wanted.items()]
    return "-".join([resource.replace("_", "-"), *words])


def _network(kind: str, name: str, resource: str, wanted: dict[str, Any]) -> dict[str, Any]:
    spec = {"resourceName": resource, "networkNamespace": "default", "capabilities": MAY, **wanted}
    return _object(kind, name, spec)


def _object(kind: str, name: str, spec: dict[str, Any]) -> dict[str, Any]:
    metadata = {"name": name, "namespace": NAMESPACE}
    return {"apiVersion": API, "kind": kind, "metadata": metadata, "spec": spec}


FORMAT = Format("sriov-operator", _write, WHY, switches=frozenset({"ovs-tc"}))
