"""The spec of each approach, told apart by `approach:`.

hosts:      {alpha: {reach: ssh://root@alpha, ports: ["0000:03:00.0", "0000:03:00.1"]}}
approach:   legacy-vlan          # or ovs-dpdk, ovs-tc, wsl2, esxi, dpdk, none
failover:   active-backup
underlay:   {subnet: 192.168.9.0/24, mtu: 9080}
networks:   {storage: {segment: 42, subnet: 192.168.10.0/24, mtu: 9000}}
guests:     {ceph-1: {host: alpha, networks: [storage], vcpus: 16, memory_gib: 8,
image: /var/lib/libvirt/images/debian-13.qcow2}}
measure:    {iperf3: {mtu: [1500, 9000], streams: [2, 6], bidirectional: true, runs: 3}}
"""

from ipaddress import IPv4Network, IPv6Network
from typing import Annotated, Any, ClassVar, Literal, Self, TypeAlias

from pydantic import BeforeValidator, Field, TypeAdapter, model_validator

from wirespeed.model.spec.dpdk import (
    L3FWD_EM,
    L3FWD_LPM,
    TO_SENDER,
    DpdkSpec,
    PortDriver,
    ProfileSpec,
    Role,
)
from wirespeed.model.spec.esxi import EsxiSpec
from wirespeed.model.spec.guest_networks import GuestNetworks
from wirespeed.model.spec.networks import MAX_VLAN, HostNetwork, Underlay
from wirespeed.model.spec.settings import TuningSpec, WslSpec
from wirespeed.model.spec.spec import Spec, WithoutGuests

VLAN_TAG_BYTES = 0
"""A port's MTU does not count the tag: Linux and cards keep room for it besides."""


class LegacyVlan(GuestNetworks):
    """Guests own VFs, whose VLANs the card tags and strips."""

    max_segment: ClassVar[int] = MAX_VLAN
    segment_name: ClassVar[str] = "VLAN id"
    takes_untagged: ClassVar[bool] = True
    guests_own_vfs: ClassVar[bool] = True

    approach: Literal["legacy-vlan"] = "legacy-vlan"

    def added_bytes(self) -> int:
        """Give none: the tag has room of its own."""
        return VLAN_TAG_BYTES


class OvsDpdk(GuestNetworks):
    """Open vSwitch forwards in userspace, through tunnels."""

    host_words: ClassVar[tuple[str, ...]] = ("pmd_cpus", "n_rxq", "spare_vfs")

    approach: Literal["ovs-dpdk"] = "ovs-dpdk"


class OvsTc(GuestNetworks):
    """Open vSwitch gives its flows to the card by tc, through tunnels."""

    approach: Literal["ovs-tc"] = "ovs-tc"


class Wsl2(WithoutGuests):
    """WSL 2 comes to a card of its Windows."""

    gives_addresses: ClassVar[bool] = False
    """On the cable they are there already."""

    approach: Literal["wsl2"] = "wsl2"
    underlay: Underlay
    wsl: WslSpec = WslSpec()

    def subnets(self) -> dict[str, IPv4Network | IPv6Network]:
        """Give the subnet of the cable."""
        return {"underlay": self.underlay.subnet}

    @model_validator(mode="after")
    def _has_one_port(self) -> Self:
        for name, host in self.hosts.items():
            if len(host.ports) > 1:
                raise ValueError(f"host {name}: {self.approach} takes one port, it has more")
        return self


class Esxi(WithoutGuests):
    """The driver of ESXi hosts, and settings of guests that are there."""

    approach: Literal["esxi"] = "esxi"
    esxi: EsxiSpec


class Dpdk(WithoutGuests):
    """A tester and a device under test, cabled port to port in the order of the spec."""

    host_words: ClassVar[tuple[str, ...]] = ("role", "cores", "use_vfs")

    approach: Literal["dpdk"] = "dpdk"
    dpdk: DpdkSpec
    profile: ProfileSpec = ProfileSpec()

    def host_of(self, role: Role) -> str:
        """Give the name of the host that has a role."""
        return next(name for name, host in self.hosts.items() if host.role is role)

    @model_validator(mode="after")
    def _has_two_ends(self) -> Self:
        roles = [host.role for host in self.hosts.values()]
        if sorted(map(str, roles)) != [Role.DUT, Role.TESTER]:
            raise ValueError("hosts: one with `role: tester` and one with `role: dut`")
        counts = {len(host.ports) for host in self.hosts.values()}
        if len(counts) > 1:
            raise ValueError("hosts: each port of the tester is cabled to one of the DUT")
        ports = counts.pop()
        if self.dpdk.way_back == "other" and ports != 2:
            raise ValueError(f"way_back: other needs two ports on each host, there is {ports}")
        both = self.dpdk.bidirectional or (self.dpdk.way_back == "same" and ports > 1)
        if both and self.dpdk.forwarder == L3FWD_EM:
            raise ValueError(f"{L3FWD_EM}: its rules are of one stream, and here each port sends")
        if ports > 2 and self.dpdk.forwarder == L3FWD_LPM:
            # The tester's streams go to one of two networks.
            raise ValueError(f"{L3FWD_LPM}: its routes tell two ports apart, there are {ports}")
        if len(self.dpdk.tester.peer_macs) not in (0, ports):
            raise ValueError(f"tester.peer_macs: {ports} ports, an address for each or none")
        tester = self.host_of(Role.TESTER)
        cores = self.hosts[tester].cores
        most = 2 * ports * self.dpdk.tester.queues
        if cores is not None and len(cores.split(",")) > most:
            # Two serve a queue at most: one sends, one judges.
            raise ValueError(f"host {tester}: queues of its ports have work for {most} `cores`")
        unnamed = any(host.cores is None for host in self.hosts.values())
        for field in ("isolate", "ban_cores"):
            if unnamed and getattr(self.profile, field):
                raise ValueError(f"profile.{field}: name the `cores` of each host")
        if self.profile.ban_cores and self.profile.irqbalance is False:
            raise ValueError("profile.ban_cores: with `irqbalance: false` nothing moves interrupts")
        if self.profile.interrupts is not None:
            if self.profile.irqbalance is not False:
                raise ValueError("profile.interrupts: irqbalance moves them; `irqbalance: false`")
            given = [name for name, host in self.hosts.items() if not host.use_vfs]
            if given and self.dpdk.driver is PortDriver.VFIO_PCI:
                raise ValueError(
                    f"profile.interrupts: ports of {given[0]} leave the kernel for vfio-pci, and "
                    "have none then"
                )
        return self

    @model_validator(mode="after")
    def _vfs_receive(self) -> Self:
        users = [name for name, host in self.hosts.items() if host.use_vfs]
        if users and self.dpdk.driver is PortDriver.KERNEL:
            raise ValueError(
                f"host {users[0]}: use_vfs gives VFs to vfio-pci, not `driver: kernel`"
            )
        tester, forwarder = self.host_of(Role.TESTER), self.dpdk.forwarder
        way = self.dpdk.way_back
        if tester in users and forwarder in (TO_SENDER if way == "other" else TO_SENDER[:1]):
            raise ValueError(
                f"host {tester}: use_vfs: a VF receives frames to its own address alone, and with "
                f"`way_back: {way}` {forwarder} does not write it; testpmd-mac does"
            )
        return self

    @model_validator(mode="after")
    def _measures_something(self) -> Self:
        if self.measure.rfc2544 is None:
            raise ValueError("measure: no `rfc2544`, and nothing else is measured here")
        return self


class HostsOnly(WithoutGuests):
    """The ports of hosts, set up, tuned and measured from host to host."""

    approach: Literal["none"] = "none"
    underlay: HostNetwork | None = None
    """Without it no port gets an address, and nothing is measured."""
    tuning: TuningSpec = TuningSpec()

    def subnets(self) -> dict[str, IPv4Network | IPv6Network]:
        """Give the subnet of the ports."""
        return {} if self.underlay is None else {"underlay": self.underlay.subnet}

    @model_validator(mode="after")
    def _underlay_fits(self) -> Self:
        if self.underlay is None:
            return self
        if len(self.hosts) > self.underlay.subnet.num_addresses - 2:
            raise ValueError(f"underlay: {self.underlay.subnet} has no room for the hosts")
        for name, host in self.hosts.items():
            # Two ports of a host in one subnet answer for each other.
            if len(host.ports) > 1:
                raise ValueError(f"host {name}: with underlay, {self.approach} takes one port")
        return self


Member: TypeAlias = Annotated[
    LegacyVlan | OvsDpdk | OvsTc | Wsl2 | Esxi | Dpdk | HostsOnly, Field(discriminator="approach")
]
_MEMBERS: TypeAdapter[Spec] = TypeAdapter(Member)
NOWHERE = "192.0.2.0/24"
"""What former versions wrote where no network was wanted; nobody has it (RFC 5737)."""


def read_spec_data(data: object) -> Spec:
    """Make a spec from a file's data. Raises pydantic's ValidationError."""
    return _MEMBERS.validate_python(data)


def _as_now(data: Any) -> Any:
    """Give what a former version wrote into a journal as it is written now.

    It wrote every field of every approach, and hosts alone as a legacy-vlan without networks.
    """
    if not isinstance(data, dict):
        return data
    kept = {key: value for key, value in data.items() if key not in OWN or value is not None}
    underlay = kept.get("underlay")
    if isinstance(underlay, dict) and underlay.get("subnet") == NOWHERE:
        if kept.get("approach") == "esxi":
            del kept["underlay"]
        elif not kept.get("networks") and not kept.get("guests"):
            kept = {"hosts": kept.get("hosts"), "approach": "none"}
    return kept


OWN = ("wsl", "esxi")
"""Fields of one approach, which were null in the specs of the others."""
AnySpec: TypeAlias = Annotated[Member, BeforeValidator(_as_now)]
"""A spec in a file of ours."""
