"""Which CPUs are near a port: those of the NUMA node that its card hangs on."""

from collections.abc import Iterable

from wirespeed.facts.cpu import Cpus
from wirespeed.facts.pci import Pci
from wirespeed.facts.virtualization import Virtualization
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import Absent, Known, Observed, Unreadable
from wirespeed.model.port import Port


def node_of_port(host: HostFacts, port: Port) -> Observed[int]:
    """NUMA node of the card. Absent: a host with one node, or a firmware that gives the card none.

    A port without a PCI address, as Hyper-V's, has no node of its own.
    """
    nodes = host[Cpus].nodes
    if not isinstance(nodes, Known):
        return nodes
    if len([cpus for cpus in nodes.value.values() if cpus]) < 2:
        return Absent(nodes.source, "all CPUs are on one NUMA node")
    if port.pci_address is None:
        return Absent(f"ls -l /sys/class/net/{port.name}/device", "it is not a PCI function")
    source = f"cat /sys/bus/pci/devices/{port.pci_address}/numa_node"
    function = host[Pci].functions.get(port.pci_address)
    if function is None:
        return Unreadable("the function was not read", source)
    if isinstance(function.numa_node, Known) and function.numa_node.value < 0:
        return Absent(source, "the firmware gives the card no NUMA node")
    return function.numa_node


def cpu_mask_text(cpus: Iterable[int]) -> str:
    """Write a set of CPUs as the mask that sysfs reads: groups of 32 bits with commas."""
    mask = sum(1 << cpu for cpu in set(cpus))
    groups = [f"{mask & 0xFFFFFFFF:08x}"]
    while mask := mask >> 32:
        groups.insert(0, f"{mask & 0xFFFFFFFF:08x}")
    return ",".join(groups).lstrip("0") or "0"


def local_cpus(host: HostFacts, port: Port) -> Observed[frozenset[int]]:
    """CPUs of the card's node; all that are online where it has none."""
    node = node_of_port(host, port)
    cpus = host[Cpus]
    if isinstance(node, Known):
        return cpus.of_node(node.value)
    return cpus.online if isinstance(node, Absent) else node


def cpus_for_interrupts(host: HostFacts, near: frozenset[int]) -> list[int]:
    """Give those of `near` that may serve interrupts: isolated ones are kept free for threads.

    All of `near` where every one is isolated, or it is not known which are.
    """
    isolated = host[Cpus].isolated
    free = near - isolated.value if isinstance(isolated, Known) else near
    return sorted(free or near)


def local_cores(host: HostFacts, port: Port) -> Observed[int]:
    """Physical cores among them; two threads of one core are one."""
    local = local_cpus(host, port)
    if not isinstance(local, Known):
        return local
    cores = set()
    for number in local.value:
        cpu = host[Cpus].by_number.get(number)
        siblings = cpu.smt_siblings if cpu else Unreadable("it was not read", "lscpu -e")
        if not isinstance(siblings, Known):
            what = f"which CPUs share a core with CPU {number}: {siblings.reason}"
            return Unreadable(what, siblings.source)
        cores.add(siblings.value)
    return Known(len(cores), local.source)


def is_one_socket(host: HostFacts, cpus: Iterable[int]) -> bool:
    """Tell whether these CPUs are known to be of one processor, though of several nodes.

    A firmware may split a processor: sub-NUMA clusters of Intel's, nodes per socket of AMD's. A
    virtual machine's sockets are what its hypervisor says: nothing is known of them. An Arm's
    flags do not tell a guest. An Arm whose firmware describes no sockets has -1 for each CPU
    (reset_cpu_topology, drivers/base/arch_topology.c).
    """
    of_host, is_guest = host[Cpus], host[Virtualization].is_guest
    if isinstance(is_guest, Known) and is_guest.value:
        return False
    if not isinstance(of_host.flags, Known) or "hypervisor" in of_host.flags.value:
        return False
    packages = [one.package for n in cpus if (one := of_host.by_number.get(n)) is not None]
    known_ones = {package.value for package in packages if isinstance(package, Known)}
    are_known = all(isinstance(package, Known) for package in packages)
    return are_known and len(known_ones) == 1 and min(known_ones) >= 0
