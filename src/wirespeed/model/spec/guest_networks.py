"""A spec of guests in networks: what cannot be is refused here, before any host is asked.

Refused are unknown names, overlapping subnets, a segment that the approach does not have, and an
MTU without room for what the approach adds.
"""

from ipaddress import IPv4Network, IPv6Network
from itertools import combinations
from typing import ClassVar, Literal, Self

from pydantic import model_validator

from wirespeed.model.spec.guests import VIRTUAL_MACHINES, GuestKind, GuestSpec
from wirespeed.model.spec.names import KERNEL_LINE, PATH, Name
from wirespeed.model.spec.networks import Failover, NetworkSpec, Underlay
from wirespeed.model.spec.spec import Spec, listed

MAX_VNI = 2**24 - 1
TUNNEL_BYTES = {4: 50, 6: 70}
"""Outer IPv4 20 or IPv6 40, UDP 8, VXLAN or Geneve without options 8, and the inner Ethernet 14:
what is added within the outer MTU, by the version of the underlay's IP."""


class GuestNetworks(Spec):
    """A spec whose guests are in networks, each with a segment of its own."""

    max_segment: ClassVar[int] = MAX_VNI
    segment_name: ClassVar[str] = "VNI"
    host_words: ClassVar[tuple[str, ...]] = ("spare_vfs",)
    takes_untagged: ClassVar[bool] = False
    """Whether segment 0 is a network without a tag; then it is the only one."""
    guests_own_vfs: ClassVar[bool] = False
    """Whether a guest owns a VF of every port for each of its networks; else it has one port of a
    switch."""

    failover: Failover = Failover.ACTIVE_BACKUP
    steering: Literal["driver", "as-found"] = "driver"
    """Who writes the rules of a card's embedded switch: its driver (smfs), or whoever does now."""
    underlay: Underlay
    networks: dict[Name, NetworkSpec]
    guests: dict[Name, GuestSpec]

    @property
    def has_bonds(self) -> bool:
        """Whether both ports of each host are one, in the host or in each of its guests."""
        return self.failover is not Failover.NONE

    def added_bytes(self) -> int:
        """Give what the approach adds to a frame of a guest within the underlay's MTU."""
        return TUNNEL_BYTES[self.underlay.subnet.version]

    def subnets(self) -> dict[str, IPv4Network | IPv6Network]:
        """Give the subnets by their place in the file."""
        return {"underlay": self.underlay.subnet} | super().subnets()

    @model_validator(mode="after")
    def _names_are_known(self) -> Self:
        for name, guest in self.guests.items():
            if guest.host not in self.hosts:
                raise ValueError(f"guest {name}: no host {guest.host!r} among {listed(self.hosts)}")
            for network in guest.networks:
                if network not in self.networks:
                    known = listed(self.networks)
                    raise ValueError(f"guest {name}: no network {network!r} among {known}")
            if len(set(guest.networks)) < len(guest.networks):
                raise ValueError(f"guest {name}: a network is named twice")
        return self

    @model_validator(mode="after")
    def _steering_has_a_switch(self) -> Self:
        if self.guests_own_vfs and self.steering != "driver":
            raise ValueError(f"steering: {self.approach} has no rules of an embedded switch")
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
    def _cpus_are_of_one_guest(self) -> Self:
        owners: dict[tuple[str, str], str] = {}
        for name, guest in self.guests.items():
            if guest.cpus is None:
                continue
            if guest.kind is not GuestKind.LIBVIRT:
                raise ValueError(f"guest {name}: cpus: kind libvirt alone pins each vCPU")
            numbers = guest.cpus.split(",")
            if len(numbers) != guest.vcpus:
                raise ValueError(
                    f"guest {name}: cpus: {len(numbers)} for {guest.vcpus} vcpus; each needs one"
                )
            for number in numbers:
                other = owners.setdefault((guest.host, number), name)
                if other != name:
                    raise ValueError(f"guests {other} and {name}: both have CPU {number}")
        pinned = {host for host, _ in owners}
        for name, guest in self.guests.items():
            if guest.host in pinned and guest.kind in VIRTUAL_MACHINES and guest.cpus is None:
                raise ValueError(
                    f"guest {name}: it would run on the CPUs of others on {guest.host}: name its "
                    "`cpus` too"
                )
        return self

    @model_validator(mode="after")
    def _subnets_are_apart(self) -> Self:
        for (one, a), (other, b) in combinations(self.subnets().items(), 2):
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
        most, kind = self.max_segment, self.segment_name
        seen: dict[int, str] = {}
        for name, network in self.networks.items():
            if network.segment == 0 and self.takes_untagged:
                if len(self.networks) > 1:
                    # Who sends no tag by the card may write one itself.
                    raise ValueError(
                        f"network {name}: without a tag (segment 0) its guests could send into the "
                        "others; it must be the only network"
                    )
            elif not 1 <= network.segment <= most:
                raise ValueError(f"network {name}: {kind} {network.segment} is not 1 to {most}")
            other = seen.setdefault(network.segment, name)
            if other != name:
                raise ValueError(f"networks {other} and {name}: both have {kind} {network.segment}")
        return self

    @model_validator(mode="after")
    def _mtus_have_room(self) -> Self:
        added = self.added_bytes()
        for name, network in self.networks.items():
            if network.mtu + added > self.underlay.mtu:
                raise ValueError(
                    f"network {name}: MTU {network.mtu} and {added} bytes of {self.approach} "
                    f"do not fit into the underlay's {self.underlay.mtu}"
                )
        return self

    @model_validator(mode="after")
    def _vfs_hear_no_lacp(self) -> Self:
        if self.failover is Failover.LACP and self.guests_own_vfs:
            raise ValueError(
                "failover: lacp needs a bond of the host's own ports: a card keeps a switch's LACP "
                "frames from VFs; take active-backup, or approach: ovs-tc"
            )
        return self

    @model_validator(mode="after")
    def _failover_has_two_ports(self) -> Self:
        if self.has_bonds:
            for name, host in self.hosts.items():
                if len(host.ports) < 2:
                    raise ValueError(f"host {name}: {self.failover} needs two ports, it has one")
        return self
