"""Guests that are virtual machines, with VFs of their own: started on the host, then set up within.

On the host: hugepages, the guest's seed, the guest. In it, by ssh through the host: names of its
ports by their PCI addresses, bond, MTU, address, as in a namespace.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from wirespeed.approaches.distribution import require_programs
from wirespeed.approaches.guest_index import guest_index
from wirespeed.approaches.guest_network import (
    DEAF_DRIVERS,
    LOCAL_STATION,
    guest_networks,
    steps_in_guest,
)
from wirespeed.approaches.host_ports import port_of
from wirespeed.approaches.traits import RequestedStep
from wirespeed.approaches.vf_ports import pf_with_room, vf_address, vf_shares
from wirespeed.facts.cpu import Cpus
from wirespeed.facts.locality import local_cpus, node_of_port
from wirespeed.model.error import InputError
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import Known, known, value_or_none
from wirespeed.model.spec.guest_networks import GuestNetworks
from wirespeed.model.spec.guests import VIRTUAL_MACHINES, GuestKind
from wirespeed.model.step import Step
from wirespeed.steps.guest_libvirt import GuestLibvirt
from wirespeed.steps.guest_machine import MAX_VFS, vf_address_in_guest
from wirespeed.steps.guest_qemu import GuestQemu
from wirespeed.steps.guest_seed import GuestSeed
from wirespeed.steps.hugepages import Hugepages
from wirespeed.steps.module import Module
from wirespeed.steps.netdev_name import NetdevName

FIRST_SSH_PORT = 22100
"""Of the host's loopback: the first virtual machine of a host; the next ones follow."""
MIB_PER_GIB = 1024


@dataclass(frozen=True, slots=True)
class Taken:
    """Of the host, by a switch whose guests they are."""

    pages: Mapping[int, int]
    """Hugepages near the card, by their size in KiB."""
    cpus: frozenset[int]
    """CPUs that poll, and those that share a core with one."""


NOTHING_TAKEN = Taken(MappingProxyType({}), frozenset())


def virtual_machines(
    spec: GuestNetworks, name: str, host: HostFacts, taken: Taken = NOTHING_TAKEN
) -> Iterator[RequestedStep]:
    """Give all guests of a host that are virtual machines, whose VFs are handed out by then.

    `taken`: what another part of the plan needs for itself.
    """
    guests = machines_of(spec, name)
    if not guests:
        return
    for guest in guests:
        require_programs(host, name, guest, spec.guests[guest].kind)
    yield from map(RequestedStep, _hugepages(spec, name, host, guests, taken.pages))
    # It comes with vfio-pci (a softdep of vfio), and modprobe -r of that does not take it away.
    yield RequestedStep(Module(name="vfio_iommu_type1", reason="maps a guest's memory for its VFs"))
    cpus = _cpus_by_guest(spec, name, host, taken.cpus)
    for guest in guests:
        yield from _machine(spec, name, host, guest, cpus[guest], taken.cpus)


def machines_of(spec: GuestNetworks, name: str) -> tuple[str, ...]:
    """Guests of a host that are virtual machines, in the order of the spec."""
    guests = guest_index(spec).by_host.get(name, ())
    return tuple(guest for guest in guests if spec.guests[guest].kind in VIRTUAL_MACHINES)


def guest_ssh_port(spec: GuestNetworks, guest: str) -> int:
    """Port of the host's loopback that leads to a virtual machine's sshd."""
    return FIRST_SSH_PORT + machines_of(spec, spec.guests[guest].host).index(guest)


def management_mac(guest: str) -> str:
    """MAC address of a virtual machine's management port: the same from run to run."""
    digest = hashlib.sha256(f"{guest} management".encode()).digest()
    return ":".join(f"{byte:02x}" for byte in (LOCAL_STATION, *digest[:5]))


def _hugepages(
    spec: GuestNetworks,
    name: str,
    host: HostFacts,
    guests: tuple[str, ...],
    taken: Mapping[int, int],
) -> Iterator[Hugepages]:
    """Give as many hugepages as the guests' memory takes beside what is taken, by their size."""
    node = _node(spec, name, host)
    for page_kib in (2048, 1048576):
        backed = [g for g in guests if spec.guests[g].hugepage_kib == page_kib]
        count = sum(-(-_memory_mib(spec, g) * 1024 // page_kib) for g in backed)
        if count:
            count += taken.get(page_kib, 0)
            yield Hugepages(page_kib=page_kib, numa_node=node, count=count)


def _machine(
    spec: GuestNetworks,
    name: str,
    host: HostFacts,
    guest: str,
    cpus: str,
    taken: frozenset[int],
) -> Iterator[RequestedStep]:
    """Give one guest: its seed, itself, and what is in it."""
    shares, ports = vf_shares(spec, name), spec.hosts[name].ports
    networks = guest_networks(spec, guest)
    vfs = [
        vf_address(pf_with_room(spec, name, host, port), shares.index((guest, network.network)))
        for network in networks
        # Behind Open vSwitch, a guest has one port of each network, of the host's first.
        for port in ports[: len(network.members)]
    ]
    if len(vfs) > MAX_VFS:
        raise InputError(
            "spec.too_many_vfs_in_guest",
            where=f"guest {guest}",
            found=f"{len(networks)} networks on {len(ports)} ports need {len(vfs)} VFs",
            so=f"its virtual machine has slots for {MAX_VFS} VFs",
            next="give this guest fewer networks",
        )
    one, mac = spec.guests[guest], management_mac(guest)
    yield RequestedStep(GuestSeed(guest=guest, authorized_keys=one.authorized_keys, mac=mac))
    kind = GuestQemu if one.kind is GuestKind.QEMU else GuestLibvirt
    machine = kind(
        guest=guest,
        vcpus=one.vcpus,
        memory_mib=_memory_mib(spec, guest),
        hugepage_kib=one.hugepage_kib,
        numa_node=_node(spec, name, host),
        cpus=one.cpus or cpus,
        emulator_cpus=_emulator_cpus(spec, name, host, guest, taken),
        image=str(one.image),
        kernel=one.kernel,
        initrd=one.initrd,
        append=one.append,
        vfs=tuple(vfs),
        ssh_port=guest_ssh_port(spec, guest),
        mac=mac,
    )
    yield RequestedStep(machine)
    if any(network.netdev not in network.members for network in networks):
        reason = "without the parameter, the module makes a bond0 of its own"
        yield _within(guest, Module(name="bonding", parameters=("max_bonds=0",), reason=reason))
    is_deaf = any(port_of(host, name, port).driver in DEAF_DRIVERS for port in ports)
    number = 0
    for network in networks:
        for member in network.members:
            address = vf_address_in_guest(number)
            yield _within(guest, NetdevName(pci_address=address, netdev=member))
            number += 1
        for step in steps_in_guest(spec, guest, network, is_deaf=is_deaf):
            yield _within(guest, step)


def _within(guest: str, step: Step) -> RequestedStep:
    return RequestedStep(step, is_made=True, guest=guest)


def _memory_mib(spec: GuestNetworks, guest: str) -> int:
    """Whole hugepages: QEMU has no memory of a part of one (failed to resize memfd)."""
    one = spec.guests[guest]
    page_mib = max(1, (one.hugepage_kib or 0) // 1024)
    return -(-round(one.memory_gib * MIB_PER_GIB) // page_mib) * page_mib


def _node(spec: GuestNetworks, name: str, host: HostFacts) -> int | None:
    """NUMA node of the first port; None: there is one, or it is not known."""
    return value_or_none(node_of_port(host, port_of(host, name, spec.hosts[name].ports[0])))


def _emulator_cpus(
    spec: GuestNetworks, name: str, host: HostFacts, guest: str, taken: frozenset[int]
) -> str:
    """Give the CPUs for QEMU's other threads of a guest whose vCPUs have CPUs of their own.

    They are those of the host that no guest is pinned to and no switch polls on. Empty: those of
    the guest, which names none.
    Raises InputError `spec.guest_cpus`, CannotTellError.
    """
    if spec.guests[guest].cpus is None:
        return ""
    online = known(host[Cpus].online, f"CPUs of {name}")
    named = _named(spec, name)
    free = online - named - taken
    if named <= online - taken and free:
        return _listed(free)
    lacks = named - online or named & taken
    raise InputError(
        "spec.guest_cpus",
        where=f"guest {guest}",
        found=f"CPUs {_listed(lacks)} of {name} are "
        + ("not online" if named - online else "those that the switch polls on")
        if lacks
        else f"guests have all CPUs of {name}: {_listed(named)}",
        so="a vCPU would have no CPU of its own"
        if lacks
        else "QEMU's own threads would run on those of the vCPUs",
        next=f"list other CPUs of {name} under `cpus`; {_listed(online - taken)} may be used",
    )


def _named(spec: GuestNetworks, name: str) -> frozenset[int]:
    """Give the CPUs that guests of a host are pinned to by the spec."""
    guests = (spec.guests[guest].cpus for guest in machines_of(spec, name))
    return frozenset(int(cpu) for cpus in guests if cpus for cpu in cpus.split(","))


def _cpus_by_guest(
    spec: GuestNetworks, name: str, host: HostFacts, taken: frozenset[int]
) -> dict[str, str]:
    """Give the CPUs of each guest: beside a switch that polls, one of its own for each vCPU.

    Where there are too few for that, or no switch polls, all guests share those near the card.
    Raises InputError `spec.no_cpus` where the switch leaves none.
    """
    guests = machines_of(spec, name)
    near = local_cpus(host, port_of(host, name, spec.hosts[name].ports[0]))
    if not taken:
        is_split = _node(spec, name, host) is not None and isinstance(near, Known)
        shared = _listed(near.value) if is_split and isinstance(near, Known) else ""
        return dict.fromkeys(guests, shared)
    free = sorted(known(near, f"CPUs near the card of {name}") - taken)
    if not free:
        raise InputError(
            "spec.no_cpus",
            where=f"hosts.{name}.pmd_cpus",
            found=f"CPUs {_listed(taken)} poll or share a core with a polling CPU, and the card's "
            "node has no others",
            so="guests and the switch would wait for each other",
            next="list fewer CPUs under pmd_cpus",
        )
    if sum(spec.guests[guest].vcpus for guest in guests) > len(free):
        return dict.fromkeys(guests, _listed(free))
    each = iter(free)
    return {
        guest: _listed([next(each) for _ in range(spec.guests[guest].vcpus)]) for guest in guests
    }


def _listed(cpus: Iterable[int]) -> str:
    return ",".join(map(str, sorted(cpus)))
