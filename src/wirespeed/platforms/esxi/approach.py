"""ESXi hosts made ready for guests with a card of their own, as in test 5 of the DPDK report.

A host that is reached by esxi:// gets the parameters of its driver, which are in force from its
next boot on; one that is reached by vsphere://, the settings of its guests, which are in force from
their next start on. One machine may be named twice, once for each.
"""

from collections.abc import Iterator

from wirespeed.approaches.traits import ApproachTraits, RequestedStep
from wirespeed.model.error import InputError
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import Known, known
from wirespeed.model.spec.esxi import EsxiGuestSpec, EsxiSpec
from wirespeed.model.spec.members import Esxi
from wirespeed.platforms.esxi.facts.esxi_guests import EsxiGuests
from wirespeed.platforms.esxi.facts.esxi_hardware import EsxiHardware
from wirespeed.platforms.esxi.facts.esxi_ports import EsxiPorts
from wirespeed.platforms.esxi.facts.vsphere import by_vsphere, is_esxi
from wirespeed.platforms.esxi.steps.esxi_guest import EsxiGuest
from wirespeed.platforms.esxi.steps.esxi_module_parameters import EsxiModuleParameters


def esxi(spec: Esxi, name: str, host: HostFacts) -> Iterator[RequestedStep]:
    """Give the steps of the host `name`. Raises InputError `spec.*`."""
    wanted = spec.esxi
    if not is_esxi(host.capture):
        raise InputError(
            "spec.no_esxi",
            where=name,
            found="it is not an ESXi host",
            next="reach it by esxi://USER@HOST or vsphere://USER@HOST",
        )
    _require_ports(spec.hosts[name].ports, name, host)
    if by_vsphere(host.capture) is None:
        yield from _driver(wanted)
    else:
        yield from _guests(wanted, name, host)


def _require_ports(wanted: tuple[str, ...], name: str, host: HostFacts) -> None:
    ports = known(host[EsxiPorts].ports, "the ports of the host").values()
    there = {p.pci_address.value: p.name for p in ports if isinstance(p.pci_address, Known)}
    if missing := sorted(set(wanted) - there.keys()):
        has = ", ".join(f"{address} {port}" for address, port in there.items())
        raise InputError(
            "spec.port_unknown",
            where=f"{name} {missing[0]}",
            found=f"no uplink of the host has that PCI address; there are {has or 'none'}",
            next="name one of these under `ports`",
        )


def _driver(wanted: EsxiSpec) -> Iterator[RequestedStep]:
    if wanted.parameters:
        reason = "The driver makes VFs for the guests, and the configured queues, when it starts."
        yield RequestedStep(EsxiModuleParameters(parameters=dict(wanted.parameters), reason=reason))


def _guests(wanted: EsxiSpec, name: str, host: HostFacts) -> Iterator[RequestedStep]:
    there = {guest.number for guest in host[EsxiGuests].guests}
    for number, guest in wanted.guests.items():
        if number not in there:
            raise InputError(
                "spec.guest_unknown",
                where=f"{name} guest {number}",
                found=f"the host has {', '.join(sorted(there)) or 'none'}",
                next="list the numbers and names of guests with `vim-cmd vmsvc/getallvms`",
            )
        _require_cpus(guest, f"{name} guest {number}", host[EsxiHardware])
        yield RequestedStep(EsxiGuest(number=number, **guest.model_dump()))


def _require_cpus(guest: EsxiGuestSpec, where: str, has: EsxiHardware) -> None:
    """Refuse what the host has not, where it says what it has: the guest would not start."""
    last = int(guest.affinity.rpartition(",")[2]) if guest.affinity else -1
    for number, count, what in (
        (last, has.threads, "CPU"),
        (-1 if guest.numa_node is None else guest.numa_node, has.numa_nodes, "NUMA node"),
    ):
        if isinstance(count, Known) and number >= count.value:
            raise InputError(
                "spec.cpu_unknown",
                where=where,
                found=f"{what} {number} is not on this host: it has 0 to {count.value - 1}",
                next="give CPUs of the card's NUMA node",
            )


APPROACH = ApproachTraits(Esxi, esxi)
