"""sriov-network-operator's objects read: what `sriov_operator.py` writes, and what others write.

The fields are those of the operator's CRDs, at the commit that its writer is held against. A policy
selects nodes and ports: one that names neither by name or address is listed, never guessed at.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from wirespeed.facts.sriov import MAX_VFS
from wirespeed.formats.found import Found, Source
from wirespeed.formats.sriov_operator import API, MAY, NAMESPACE, NODE, OVS_VF, VF
from wirespeed.formats.wanted import Key, WantedPort
from wirespeed.steps.eswitch_mode import MODES

OBJECT = {"apiVersion", "kind", "metadata", "spec", "status"}
POLICY = {
    "bridge", "deviceType", "eSwitchMode", "excludeTopology", "externallyManaged", "isRdma",
    "linkType", "mtu", "needVhostNet", "nicSelector", "nodeSelector", "numVfs", "priority",
    "resourceName", "vdpaType",
}  # fmt: skip
UNSAID = {
    "bridge", "excludeTopology", "externallyManaged", "isRdma", "linkType", "needVhostNet",
    "priority", "vdpaType",
}  # fmt: skip
"""Fields of a policy that a spec has no word for."""
SELECTOR = {"deviceID", "netFilter", "pfNames", "rootDevices", "vendor"}
NETWORK = {
    "capabilities", "ipam", "linkState", "logFile", "logLevel", "metaPlugins", "networkNamespace",
    "resourceName", "vlanProto", "vlanQoS", *VF.values(),
}  # fmt: skip
OVS_NETWORK = {
    "capabilities", "interfaceType", "ipam", "metaPlugins", "networkNamespace", "resourceName",
    "trunk", "vlan", *OVS_VF.values(),
}  # fmt: skip
NETWORKS = {"SriovNetwork": (NETWORK, VF), "OVSNetwork": (OVS_NETWORK, OVS_VF)}
"""By kind: the fields that there are, and those that a spec has settings for."""
OTHER_KINDS = {
    "SriovIBNetwork", "SriovNetworkNodeState", "SriovNetworkPoolConfig",
    "SriovOperatorConfig",
}  # fmt: skip
USUAL = {"networkNamespace": "default", "capabilities": MAY}
"""What `export-spec` writes, and what says nothing of a host."""
PF_NAME = re.compile(r"([^#]+)(?:#(\d{1,5})-(\d{1,5}))?")
NAMES = "A spec does not say the names of resources and networks, which pods ask for."
NOTE = "Which VF has which VLAN the operator decides: they are taken in the order of the networks."


class _Network(NamedTuple):
    """A network of pods, and which of its fields are settings of a VF."""

    source: Source
    path: str
    spec: dict[str, Any]
    keys: Mapping[Key, str]


@dataclass(slots=True)
class _Networks:
    """The VFs of each resource, and the networks on it."""

    vfs: dict[str, list[tuple[WantedPort, int]]] = field(default_factory=dict)
    ports: dict[str, list[WantedPort]] = field(default_factory=dict)
    of: dict[str, list[_Network]] = field(default_factory=dict)
    count: int = 0
    """Of VFs, in all policies that were read."""


def read_sriov_operator(found: Found, sources: Sequence[Source]) -> None:
    """Read all objects, as far as they are about one host."""
    networks = _Networks()
    found.notes.append(NAMES)
    for source in sources:
        whole = source.known("the object", source.data, OBJECT)
        kind = whole.get("kind")
        if whole.get("apiVersion") != API:
            source.refuse("apiVersion", whole.get("apiVersion"), API)
        metadata = source.fields("metadata", whole.get("metadata"))
        path = f"{kind} {metadata.get('name')}"
        for name, value in metadata.items():
            if name != "name" and (name, value) != ("namespace", NAMESPACE):
                found.unsaid(source, f"{path}: metadata.{name}", value)
        if "status" in whole:
            found.unsaid(source, f"{path}: status", whole["status"])
        if kind == "SriovNetworkNodePolicy":
            _policy(found, source, path, source.known(path, whole.get("spec"), POLICY), networks)
        elif kind in NETWORKS:
            names, keys = NETWORKS[kind]
            spec = source.known(path, whole.get("spec"), names)
            one = _Network(source, path, spec, keys)
            networks.of.setdefault(str(spec.get("resourceName")), []).append(one)
        elif kind in OTHER_KINDS:
            found.unsaid(source, path, whole.get("spec"))
        else:
            expected = ", ".join(sorted({"SriovNetworkNodePolicy", *NETWORKS, *OTHER_KINDS}))
            source.refuse("kind", kind, f"one of {expected}")
    for resource, given in networks.of.items():
        _give(found, resource, given, networks)


def _policy(
    found: Found, source: Source, path: str, spec: dict[str, Any], networks: _Networks
) -> None:
    for name in ("nicSelector", "nodeSelector", "numVfs", "resourceName"):
        if name not in spec:
            source.refuse(f"{path}.{name}", None, "it is there")
    nodes = source.fields(f"{path}.nodeSelector", spec["nodeSelector"])
    if set(nodes) != {NODE}:
        found.unsaid(source, f"{path} (which hosts it is for, their labels say)", spec)
        return
    if nodes[NODE] not in found.hosts:
        source.refuse(f"{path}.nodeSelector", nodes[NODE], f"one of {', '.join(found.hosts)}")
    if nodes[NODE] != found.name:
        return
    selector = dict(source.known(f"{path}.nicSelector", spec["nicSelector"], SELECTOR))
    parts = list(_parts(found, source, f"{path}.nicSelector", selector))
    if not parts:
        found.unsaid(source, f"{path} (which ports it is for, is not said by name)", spec)
        return
    kind = spec.get("deviceType", "netdevice")
    if kind not in ("netdevice", "vfio-pci"):
        source.refuse(f"{path}.deviceType", kind, "netdevice or vfio-pci")
    for name, value in selector.items():
        found.unsaid(source, f"{path}.nicSelector.{name}", value)
    for name in sorted(set(spec) & UNSAID):
        found.unsaid(source, f"{path}.{name}", spec[name])
    mode = spec.get("eSwitchMode", "legacy")
    if mode not in MODES:
        source.refuse(f"{path}.eSwitchMode", mode, " or ".join(MODES))
    total = int(source.value(f"{path}.numVfs", Key.VFS, spec["numVfs"]))
    resource = str(spec["resourceName"])
    for port, first, last in parts:
        vfs = range(first, (total - 1 if last is None else last) + 1)
        if vfs and vfs[-1] >= total:
            source.refuse(f"{path}.nicSelector", f"VFs {first} to {vfs[-1]}", f"less than {total}")
        found.set(source, f"{path}.numVfs", port, Key.VFS, total, None)
        if "eSwitchMode" in spec:
            found.set(source, f"{path}.eSwitchMode", port, Key.ESWITCH, mode, None)
        if "mtu" in spec:
            found.set(source, f"{path}.mtu", port, Key.MTU, spec["mtu"], None)
        networks.ports.setdefault(resource, []).append(port)
        networks.count += len(vfs)
        if networks.count > MAX_VFS:
            source.refuse(
                f"{path}.numVfs", networks.count, f"at most {MAX_VFS} VFs in all policies of a host"
            )
        for vf in vfs:
            networks.vfs.setdefault(resource, []).append((port, vf))
            if kind == "netdevice":
                found.netdevs.add((port, vf))
            else:
                found.set(source, f"{path}.deviceType", port, Key.DRIVER, kind, vf)


def _parts(
    found: Found, source: Source, path: str, selector: dict[str, Any]
) -> Iterator[tuple[WantedPort, int, int | None]]:
    """Give the ports that are named, each with its first VF and its last; None: all of them."""
    devices = source.items(f"{path}.rootDevices", selector.pop("rootDevices", []))
    names = source.items(f"{path}.pfNames", selector.pop("pfNames", []))
    at = [found.at(source, f"{path}.rootDevices", str(one)) for one in devices]
    if not names:
        yield from ((port, 0, None) for port in at)
    for name in names:
        match = PF_NAME.fullmatch(str(name))
        port = found.named(match[1]) if match else None
        if match is None or port is None:
            has = ", ".join(one.netdev for one in found.ports) or "none"
            source.refuse(f"{path}.pfNames", name, f"a netdev of {found.name}, which has {has}")
        if not at or port in at:
            yield port, int(match[2] or 0), None if match[3] is None else int(match[3])


def _give(found: Found, resource: str, given: list[_Network], networks: _Networks) -> None:
    """Give the VFs of a resource their networks: each port's one by one, or all of them the one."""
    ports = list(dict.fromkeys(networks.ports.get(resource, [])))
    if not ports:
        for one in given:
            where = f"{one.path} (no policy that was read of {found.name} has its resource)"
            found.unsaid(one.source, where, one.spec)
        return
    for one in given:
        for name, value in one.spec.items():
            is_known = name in {"resourceName", *one.keys.values()} or USUAL.get(name) == value
            if not is_known:
                found.unsaid(one.source, f"{one.path}.{name}", value)
    for port in ports:
        vfs = [vf for of, vf in networks.vfs[resource] if of == port]
        if len(given) not in (1, len(vfs)):
            for one in given:
                where = f"{one.path} (which of {len(vfs)} VFs of {port.netdev} has it, is not said)"
                found.unsaid(one.source, where, one.spec)
            continue
        if len(given) > 1 and NOTE not in found.notes:
            found.notes.append(NOTE)
        for place, vf in enumerate(vfs):
            one = given[0 if len(given) == 1 else place]
            settings = {name: one.spec[name] for name in one.keys.values() if name in one.spec}
            found.take(one.source, one.path, settings, one.keys, port, vf)
