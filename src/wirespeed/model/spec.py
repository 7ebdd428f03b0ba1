"""What is wanted: hosts, networks, guests, and the approach that brings them about. One file.

    hosts:      {alpha: {reach: ssh://root@alpha, ports: ["0000:03:00.0", "0000:03:00.1"]}}
    approach:   legacy-vlan          # legacy-vlan | ovs-dpdk | ovs-tc
    failover:   active-backup
    underlay:   {subnet: 192.168.9.0/24, mtu: 9080}
    networks:   {storage: {segment: 42, subnet: 192.168.10.0/24, mtu: 9000}}
    guests:     {ceph-1: {host: alpha, networks: [storage], vcpus: 16, memory_gib: 8,
                          image: /var/lib/libvirt/images/debian-13.qcow2}}
    measure:    {iperf3: {mtu: [1500, 9000], streams: [2, 6], bidirectional: true, runs: 3}}

What cannot be is refused here, before any host is asked: unknown names, overlapping subnets, a
segment that is no VLAN, an MTU without room for what the approach adds.
"""

import re
from collections.abc import Iterable
from enum import StrEnum
from itertools import combinations
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, StrictBool, StrictInt, model_validator
from pydantic_core import PydanticCustomError

from wirespeed.model.frozen import Frozen
from wirespeed.model.names import PciAddress
from wirespeed.model.spec_esxi import EsxiSpec
from wirespeed.model.subnet import Ipv4Subnet, Subnet

NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?")
MAX_VLAN = 4094
MAX_VNI = 2**24 - 1
TUNNEL_BYTES = {4: 50, 6: 70}
"""Outer IPv4 20 or IPv6 40, UDP 8, VXLAN or Geneve without options 8, and the inner Ethernet 14:
what is added within the outer MTU, by the version of the underlay's IP."""
VLAN_TAG_BYTES = 0
"""A port's MTU does not count the tag: Linux and cards keep room for it besides."""
MIN_MTU = 576
MAX_MTU = 9978
"""The largest that ConnectX cards take."""


def _name(text: str) -> str:
    if not NAME.fullmatch(text):
        raise ValueError(f"{text!r}: a name has small letters, digits and hyphens, 32 at most")
    return text


def _whole(value: object) -> object:
    """Refuse what is equal to a whole number and none: a Literal takes 2048.0."""
    if isinstance(value, float | bool):
        raise PydanticCustomError("int_type", "no whole number")
    return value


Name = Annotated[str, AfterValidator(_name)]
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Mtu = Annotated[StrictInt, Field(ge=MIN_MTU, le=MAX_MTU)]


class Approach(StrEnum):
    """How guests come to the card."""

    LEGACY_VLAN = "legacy-vlan"
    OVS_DPDK = "ovs-dpdk"
    OVS_TC = "ovs-tc"
    WSL2 = "wsl2"
    """No guests: WSL 2 itself comes to a card of its Windows."""
    ESXI = "esxi"
    """No guests of ours: the driver of ESXi hosts, and settings of guests that are there."""


class WslNetworking(StrEnum):
    """How WSL is joined to the network."""

    MIRRORED = "mirrored"
    """It has the adapters of Windows."""
    BRIDGED = "bridged"
    """It has the adapter of one switch alone: faster, and without LAN and internet on a cable
    between two machines. Deprecated by its makers."""


class Failover(StrEnum):
    """What happens when a port or its switch is gone."""

    ACTIVE_BACKUP = "active-backup"
    NONE = "none"


class HostSpec(Frozen):
    """A host, how it is reached, and the ports that are shared out."""

    reach: str
    ports: Annotated[tuple[PciAddress, ...], Field(min_length=1, max_length=8)]


class WslSpec(Frozen):
    """Of the approach wsl2."""

    networking: WslNetworking = WslNetworking.MIRRORED
    switch: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9 _.-]{0,63}$")] = (
        "wirespeed-external"
    )
    """External switch on the card; one that is there already is taken, whatever its name."""


class Tunnel(StrEnum):
    """What the frames of a network are packed in on their way to another host."""

    VXLAN = "vxlan"
    GENEVE = "geneve"


class UnderlayDriver(StrEnum):
    """Who drives the ports of ovs-dpdk, where the card has no embedded switch that it knows."""

    KERNEL = "kernel"
    """The kernel, as before: the switch takes its netdevs."""
    VFIO_PCI = "vfio-pci"
    """DPDK: the whole port leaves the kernel."""


class Underlay(Frozen):
    """The network between the hosts that tunnels run over; also the MTU of the ports."""

    subnet: Subnet
    mtu: Mtu
    tunnel: Tunnel = Tunnel.VXLAN
    """Of the Open vSwitch approaches."""
    driver: UnderlayDriver = UnderlayDriver.KERNEL


class NetworkSpec(Frozen):
    """A network of guests, kept apart from the others."""

    segment: StrictInt
    """VLAN id or VXLAN network identifier, by the approach."""
    subnet: Ipv4Subnet
    mtu: Mtu


class GuestKind(StrEnum):
    """What owns the VFs."""

    NONE = "none"
    """Nothing of ours: the VFs are made ready, and somebody else starts the guest."""
    NAMESPACE = "namespace"
    """A network namespace of the host, as containers have one: the VF's netdev moves into it."""
    QEMU = "qemu"
    """A virtual machine that QEMU runs directly."""
    LIBVIRT = "libvirt"
    """A virtual machine that libvirt runs."""


VIRTUAL_MACHINES = (GuestKind.QEMU, GuestKind.LIBVIRT)


PATH = re.compile(r"/[A-Za-z0-9._/@+-]{1,1023}")
"""On a host: no character that QEMU's options or XML give a meaning to."""
AUTHORIZED_KEY = re.compile(r"[a-z0-9@.-]{1,64} [A-Za-z0-9+/=]{16,8192}( [A-Za-z0-9@._-]{1,128})?")
KERNEL_LINE = re.compile(r"[ -~]{0,2000}")


def _authorized_key(text: str) -> str:
    if not AUTHORIZED_KEY.fullmatch(text):
        raise ValueError(f"{text[:40]!r}: no public key as authorized_keys has it, in one line")
    return text


AuthorizedKey = Annotated[str, AfterValidator(_authorized_key)]


class GuestSpec(Frozen):
    """A guest, its host, and its networks: the first one's address is how it is measured."""

    host: Name
    networks: Annotated[tuple[Name, ...], Field(min_length=1, max_length=16)]
    kind: GuestKind = GuestKind.NONE
    vcpus: Annotated[StrictInt, Field(ge=1, le=1024)] = 1
    memory_gib: Annotated[Number, Field(gt=0, le=65536)] = 1
    """Of a virtual machine."""
    image: str | None = None
    """Disk of a virtual machine, a path on its host; it is not written to."""
    hugepage_kib: Annotated[Literal[2048, 1048576] | None, BeforeValidator(_whole)] = None
    """Pages that a virtual machine's memory is made of; None: the host's usual ones."""
    kernel: str | None = None
    """Kernel of a virtual machine, a path on its host; None: the image's own, by its firmware."""
    initrd: str | None = None
    append: str = ""
    """Command line of that kernel."""
    authorized_keys: tuple[AuthorizedKey, ...] = ()
    """Who may log in as root to a virtual machine; none: a key that wirespeed keeps for itself."""


class Iperf3Spec(Frozen):
    """Streams and MTUs to go through."""

    mtu: tuple[Mtu, ...] = (1500, 9000)
    streams: tuple[Annotated[StrictInt, Field(ge=1, le=128)], ...] = (2, 6)
    bidirectional: StrictBool = True
    runs: Annotated[StrictInt, Field(ge=1, le=100)] = 3
    seconds: Annotated[StrictInt, Field(ge=1, le=3600)] = 10
    """Of one run; whole ones, as iperf3 takes them."""


class PingSpec(Frozen):
    """Flood ping."""

    count: Annotated[StrictInt, Field(ge=1, le=10**7)] = 10000
    warmup: Annotated[StrictInt, Field(ge=0, le=100)] = 1
    runs: Annotated[StrictInt, Field(ge=1, le=100)] = 3


class Rfc2544Spec(Frozen):
    """Zero-loss search."""

    frame_bytes: tuple[Annotated[StrictInt, Field(ge=64, le=9600)], ...] = (
        64, 128, 256, 512, 1024, 1280, 1518,
    )  # fmt: skip
    flows: Annotated[StrictInt, Field(ge=1, le=2**24)] = 8192
    seconds: Annotated[Number, Field(gt=0, le=86400)] = 60


class FailoverSpec(Frozen):
    """A paced flow while each port in turn is lost and comes back."""

    load_pps: Annotated[StrictInt, Field(ge=10, le=100_000)] = 1000
    seconds: Annotated[Number, Field(ge=1, le=3600)] = 10
    """How long a port is away, and how long the flow goes on after it is back."""


class IsolationSpec(Frozen):
    """Forged frames between guests that must not hear each other."""

    frames: Annotated[StrictInt, Field(ge=1, le=10**6)] = 200
    """Of each kind, between each two guests."""


class MeasureSpec(Frozen):
    """What proves it."""

    iperf3: Iperf3Spec = Iperf3Spec()
    ping: PingSpec = PingSpec()
    failover: FailoverSpec = FailoverSpec()
    isolation: IsolationSpec = IsolationSpec()
    rfc2544: Rfc2544Spec | None = None


NO_NETWORKS = {
    "networks": {},
    "guests": {},
    "failover": Failover.NONE,
    "underlay": {"subnet": "192.0.2.0/24", "mtu": 1500},
}
"""What a spec need not say whose approach makes no network; nobody has the subnet (RFC 5737)."""


class Spec(Frozen):
    """The whole file."""

    hosts: dict[Name, HostSpec]
    approach: Approach
    failover: Failover = Failover.ACTIVE_BACKUP
    underlay: Underlay
    networks: dict[Name, NetworkSpec]
    guests: dict[Name, GuestSpec]
    measure: MeasureSpec = MeasureSpec()
    wsl: WslSpec | None = None
    esxi: EsxiSpec | None = None

    @model_validator(mode="before")
    @classmethod
    def _wsl2_has_no_networks(cls, data: object) -> object:
        if isinstance(data, dict) and data.get("approach") == Approach.WSL2:
            return {"networks": {}, "guests": {}, "failover": Failover.NONE} | data
        if isinstance(data, dict) and data.get("approach") == Approach.ESXI:
            return NO_NETWORKS | data
        return data

    @model_validator(mode="after")
    def _esxi_fits(self) -> Self:
        if (self.esxi is not None) != (self.approach is Approach.ESXI):
            raise ValueError(f"esxi: it belongs to approach: {Approach.ESXI}, which needs it")
        if self.esxi is not None and (self.networks or self.guests):
            raise ValueError(f"{self.approach}: it has neither networks nor guests")
        return self

    @model_validator(mode="after")
    def _wsl2_fits(self) -> Self:
        if self.approach is not Approach.WSL2:
            if self.wsl is not None:
                raise ValueError(f"wsl: it belongs to approach: {Approach.WSL2}")
            return self
        if self.networks or self.guests:
            raise ValueError(f"{self.approach}: it has neither networks nor guests")
        if self.failover is not Failover.NONE:
            raise ValueError(f"{self.approach}: a switch has one port, so failover: none")
        for name, host in self.hosts.items():
            if len(host.ports) > 1:
                raise ValueError(f"host {name}: {self.approach} takes one port, it has more")
        return self

    @model_validator(mode="after")
    def _names_are_known(self) -> Self:
        for name, guest in self.guests.items():
            if guest.host not in self.hosts:
                raise ValueError(f"guest {name}: no host {guest.host!r} among {_list(self.hosts)}")
            for network in guest.networks:
                if network not in self.networks:
                    known = _list(self.networks)
                    raise ValueError(f"guest {name}: no network {network!r} among {known}")
            if len(set(guest.networks)) < len(guest.networks):
                raise ValueError(f"guest {name}: a network is named twice")
        return self

    @model_validator(mode="after")
    def _guests_can_be(self) -> Self:
        for name, guest in self.guests.items():
            if name in self.hosts:
                raise ValueError(f"guest {name}: a host has that name")
            if (guest.image is not None) != (guest.kind in VIRTUAL_MACHINES):
                word = "needs an" if guest.image is None else "takes no"
                raise ValueError(f"guest {name}: of kind {guest.kind}, it {word} image")
            for key in ("image", "kernel", "initrd"):
                path = getattr(guest, key)
                if path is not None and (not PATH.fullmatch(path) or ".." in path.split("/")):
                    raise ValueError(
                        f"guest {name}: {key} {path!r} is not an absolute path of letters, digits "
                        "and ._/@+- without .."
                    )
            if not KERNEL_LINE.fullmatch(guest.append):
                raise ValueError(f"guest {name}: append has other than printable ASCII")
            if guest.kernel is None and (guest.initrd is not None or guest.append):
                raise ValueError(f"guest {name}: initrd and append belong to a kernel")
        return self

    @model_validator(mode="after")
    def _subnets_are_apart(self) -> Self:
        subnets = {"underlay": self.underlay.subnet}
        subnets |= {f"network {name}": network.subnet for name, network in self.networks.items()}
        for (one, a), (other, b) in combinations(subnets.items(), 2):
            # Of different versions, they cannot.
            if a.version == b.version and a.overlaps(b):
                raise ValueError(f"{one} {a} and {other} {b} overlap")
        if len(self.hosts) > self.underlay.subnet.num_addresses - 2:
            raise ValueError(f"underlay: {self.underlay.subnet} has no room for the hosts")
        for name, network in self.networks.items():
            guests = sum(name in guest.networks for guest in self.guests.values())
            if guests > network.subnet.num_addresses - 2:
                raise ValueError(
                    f"network {name}: {network.subnet} has no room for {guests} guests"
                )
        return self

    @model_validator(mode="after")
    def _segments_are_what_the_approach_has(self) -> Self:
        most, kind = (
            (MAX_VLAN, "VLAN id") if self.approach is Approach.LEGACY_VLAN else (MAX_VNI, "VNI")
        )
        seen: dict[int, str] = {}
        for name, network in self.networks.items():
            if not 1 <= network.segment <= most:
                raise ValueError(f"network {name}: {kind} {network.segment} is not 1 to {most}")
            other = seen.setdefault(network.segment, name)
            if other != name:
                raise ValueError(f"networks {other} and {name}: both have {kind} {network.segment}")
        return self

    @model_validator(mode="after")
    def _mtus_have_room(self) -> Self:
        added = TUNNEL_BYTES[self.underlay.subnet.version]
        if self.approach is Approach.LEGACY_VLAN:
            added = VLAN_TAG_BYTES
        for name, network in self.networks.items():
            if network.mtu + added > self.underlay.mtu:
                raise ValueError(
                    f"network {name}: MTU {network.mtu} and {added} bytes of {self.approach} "
                    f"do not fit into the underlay's {self.underlay.mtu}"
                )
        return self

    @model_validator(mode="after")
    def _failover_has_two_ports(self) -> Self:
        if self.failover is Failover.ACTIVE_BACKUP:
            for name, host in self.hosts.items():
                if len(host.ports) < 2:
                    raise ValueError(f"host {name}: {self.failover} needs two ports, it has one")
        for name, host in self.hosts.items():
            if len(set(host.ports)) < len(host.ports):
                raise ValueError(f"host {name}: a port is named twice")
        return self


def _list(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or "none"
