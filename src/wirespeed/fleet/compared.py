"""What of a host's facts is compared with other hosts: settings and traits, by meaning. Pure.

A setting is one value that somebody or some program chose: an MTU, a ring, a parameter of the
kernel. Counts, temperatures, addresses and names are not settings. Ports are numbered by their PCI
address, so that two hosts whose netdevs are called otherwise compare. Sets are compared without
their order. What could not be read is left out: it is neither equal nor different.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, is_dataclass

from wirespeed.facts.coalescing import Coalescing
from wirespeed.facts.cpu import Cpus
from wirespeed.facts.cpu_mitigations import Mitigations
from wirespeed.facts.cpu_power import CpuPower
from wirespeed.facts.eswitch import Eswitch
from wirespeed.facts.firmware import Firmware
from wirespeed.facts.firmware_driver import DriverOrigin
from wirespeed.facts.irqbalance import Irqbalance
from wirespeed.facts.kernel import Kernel
from wirespeed.facts.link import Links
from wirespeed.facts.memory import Memory
from wirespeed.facts.module import Modules
from wirespeed.facts.netstack import NetStack
from wirespeed.facts.offloads import Offloads
from wirespeed.facts.pci import Pci
from wirespeed.facts.pci_cards import card
from wirespeed.facts.pci_config import PciConfig
from wirespeed.facts.ports import Ports
from wirespeed.facts.queues import Queues
from wirespeed.facts.sriov import Sriov
from wirespeed.facts.steering import Steering
from wirespeed.facts.sysctl import Sysctls
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import Absent, CannotTellError, Known, Unreadable
from wirespeed.model.port import Port, PortKind

Named = Iterator[tuple[str, object]]
OWN_TO_A_HOST = ("BOOT_IMAGE", "root", "initrd", "resume", "ip", "BOOTIF", "hostname")
"""Parameters of the kernel that name a disk, an image or an address."""
LINK_FIELDS = (
    "link_bps", "is_full_duplex", "autonegotiation", "fec_active", "fec_configured", "pause",
    "driver",
)  # fmt: skip
QUEUE_FIELDS = ("combined_channels", "rx_ring_descriptors", "tx_ring_descriptors")
PCIE_FIELDS = ("aspm", "extended_tags", "max_payload_bytes", "max_read_request_bytes",
               "relaxed_ordering")  # fmt: skip
SHOWN = 160
"""Characters of a value; of a longer one the start and a digest, so that it still compares."""


def settings_of(host: HostFacts) -> dict[str, str]:
    """Give every setting that is known, by its name: `port 0 mtu`, `sysctl net.core.rmem_max`."""
    ports = _ports(host)
    found: dict[str, str] = {}
    for part in (*_OF_HOST, *(_of_ports(ports, read) for read in _OF_PORT)):
        try:
            for name, value in part(host):
                for leaf, text in _leaves(name, value):
                    found[leaf] = text
        except (CannotTellError, KeyError):
            # What a host does not tell of is not compared.
            continue
    return found


def profile_key(settings: dict[str, str]) -> str:
    """Give a key that equal settings share."""
    text = "\n".join(f"{name}={value}" for name, value in sorted(settings.items()))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def traits_of(host: HostFacts) -> dict[str, tuple[str, ...]]:
    """Give what hosts may share: kernel, system, card, firmware, driver, cable. Unknown: left out.

    `card` is one text for all cards of a host, as `2 x ConnectX-5 (15b3:1017)`: its cohort.
    """
    found: dict[str, tuple[str, ...]] = {}
    for name, read in _TRAITS.items():
        try:
            values = tuple(sorted({value for value in read(host) if value}))
        except (CannotTellError, KeyError):
            continue
        if values:
            found[name] = values
    return found


def _ports(host: HostFacts) -> list[Port]:
    try:
        ports = host[Ports].ports
    except CannotTellError:
        return []
    own = [port for port in ports if port.kind is not PortKind.OTHER]
    return sorted(own, key=lambda port: (port.pci_address or "~", port.netdev or ""))


def _of_ports(
    ports: list[Port], read: Callable[[HostFacts, Port], Named]
) -> Callable[[HostFacts], Named]:
    def part(host: HostFacts) -> Named:
        for number, port in enumerate(ports):
            try:
                for name, value in read(host, port):
                    yield f"port {number} {name}", value
            except (CannotTellError, KeyError):
                continue

    return part


def _leaves(name: str, value: object) -> Iterator[tuple[str, str]]:
    """Give each single value below `value`; nothing of what could not be read."""
    if isinstance(value, Known):
        yield from _leaves(name, value.value)
    elif isinstance(value, Absent):
        yield name, "absent"
    elif value is None or isinstance(value, Unreadable):
        return
    elif is_dataclass(value) and not isinstance(value, type):
        for one in fields(value):
            yield from _leaves(f"{name} {_words(one.name)}", getattr(value, one.name))
    elif isinstance(value, dict):
        for key, one in value.items():
            yield from _leaves(f"{name} {key}", one)
    else:
        yield name, _text(value)


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, set | frozenset | tuple | list):
        text = ",".join(sorted(map(str, value))) or "none"
    else:
        text = " ".join(str(value).split())
    if len(text) > SHOWN:
        text = f"{text[:SHOWN]}… {hashlib.sha256(text.encode()).hexdigest()[:8]}"
    return text


def _words(name: str) -> str:
    return name.removeprefix("is_").replace("_", " ")


def _kernel(host: HostFacts) -> Named:
    kernel = host[Kernel]
    yield "kernel", kernel.release
    yield "system", kernel.distribution
    yield "clock source", kernel.clocksource
    if isinstance(kernel.command_line, Known):
        for name, value in kernel.command_line.value.parameters:
            if name not in OWN_TO_A_HOST:
                yield f"kernel parameter {name}", value or "set"


def _cpu(host: HostFacts) -> Named:
    yield "CPU", host[Cpus].model_name
    power = host[CpuPower]
    yield "turbo", power.turbo
    governors = {p.governor.value for p in power.policies.values() if isinstance(p.governor, Known)}
    if governors:
        yield "frequency governor", frozenset(governors)
    for state in power.idle_states:
        if isinstance(state.name, Known):
            yield f"idle state {state.name.value} disabled", state.disabled
    yield "mitigation", host[Mitigations].by_vulnerability


def _memory(host: HostFacts) -> Named:
    memory = host[Memory]
    yield "transparent hugepages", memory.transparent
    for pool in memory.pools if isinstance(memory.pools, tuple) else ():
        node = "" if pool.numa_node is None else f" on node {pool.numa_node}"
        yield f"hugepages of {pool.page_bytes >> 20} MiB{node}", pool.total


def _services(host: HostFacts) -> Named:
    yield "irqbalance runs", host[Irqbalance].is_running


def _sysctls(host: HostFacts) -> Named:
    for name, value in host[Sysctls].values.items():
        yield f"sysctl {name}", value


def _link(host: HostFacts, port: Port) -> Named:
    link = host[Links].by_netdev[port.netdev or ""]
    for name in LINK_FIELDS:
        value = getattr(link, name)
        if name == "driver":
            yield "driver", value.name
            yield "driver version", value.version
            yield "firmware", value.firmware_version
        else:
            yield _words(name), value


def _netdev(host: HostFacts, port: Port) -> Named:
    links = host[NetStack].links
    if isinstance(links, Known):
        yield "mtu", links.value[port.netdev or ""].mtu


def _queues(host: HostFacts, port: Port) -> Named:
    queues = host[Queues].netdevs[port.netdev or ""]
    for name in QUEUE_FIELDS:
        yield _words(name), getattr(queues, name)


def _coalescing(host: HostFacts, port: Port) -> Named:
    yield "coalescing", host[Coalescing].netdevs[port.netdev or ""]


def _offloads(host: HostFacts, port: Port) -> Named:
    offloads = host[Offloads].netdevs[port.netdev or ""]
    if isinstance(offloads.features, Known):
        for name, feature in offloads.features.value.items():
            yield name, feature.is_on
    if isinstance(offloads.private_flags, Known):
        for name, flag in offloads.private_flags.value.items():
            yield f"flag {name}", flag


def _steering(host: HostFacts, port: Port) -> Named:
    steering = host[Steering].of(port.netdev or "")
    yield "threaded NAPI", steering.is_napi_threaded
    yield "hash function", steering.hash_function


def _module(host: HostFacts, port: Port) -> Named:
    yield "module", host[Modules].by_netdev[port.netdev or ""].part


def _function(host: HostFacts, port: Port) -> Named:
    address = port.pci_address or ""
    function = host[Pci].functions[address]
    yield "PCIe lanes", function.lanes
    yield "PCIe GT/s", function.gt_per_s
    yield "NUMA node", function.numa_node
    config = host[PciConfig].by_address[address]
    for name in PCIE_FIELDS:
        yield f"PCIe {_words(name)}", getattr(config, name)


def _virtual_functions(host: HostFacts, port: Port) -> Named:
    yield "VFs", host[Sriov].pfs[port.pci_address or ""].num_vfs


def _eswitch(host: HostFacts, port: Port) -> Named:
    yield "eswitch mode", host[Eswitch].pfs[port.pci_address or ""].mode


def _firmware(host: HostFacts, port: Port) -> Named:
    one = host[Firmware].cards[port.pci_address or ""]
    settings = one.settings.value if isinstance(one.settings, Known) else one.settings
    if isinstance(settings, dict):
        for name, setting in settings.items():
            yield f"firmware {name}", setting.current


_OF_HOST = (_kernel, _cpu, _memory, _services, _sysctls)
_OF_PORT = (
    _link, _netdev, _queues, _coalescing, _offloads, _steering, _module, _function,
    _virtual_functions, _eswitch, _firmware,
)  # fmt: skip


def _known(value: object) -> str:
    return str(value.value) if isinstance(value, Known) else ""


def _cards(host: HostFacts) -> Iterable[str]:
    counts: dict[str, int] = {}
    for port in _ports(host):
        function = host[Pci].functions.get(port.pci_address or "")
        if function is None:
            name = port.driver or "unknown"
        elif isinstance(function.vendor, Known) and isinstance(function.device, Known):
            ids = (function.vendor.value, function.device.value)
            known = card(*ids)
            name = f"{known.name} " if known else ""
            name += f"({ids[0]:04x}:{ids[1]:04x})"
        else:
            name = "unknown"
        counts[name] = counts.get(name, 0) + 1
    return [", ".join(f"{count} x {name}" for name, count in sorted(counts.items()))]


def _per_link(host: HostFacts, field: str) -> Iterable[str]:
    links = host[Links].by_netdev
    names = [port.netdev for port in _ports(host) if port.netdev in links]
    return [_known(getattr(links[name].driver, field)) for name in names if name]


def _cables(host: HostFacts) -> Iterable[str]:
    modules = host[Modules].by_netdev
    return [_known(modules[p.netdev].part) for p in _ports(host) if p.netdev in modules]


_TRAITS: dict[str, Callable[[HostFacts], Iterable[str]]] = {
    "kernel": lambda host: [_known(host[Kernel].release)],
    "system": lambda host: [_known(host[Kernel].distribution)],
    "CPU": lambda host: [_known(host[Cpus].model_name)],
    "card": _cards,
    "firmware": lambda host: _per_link(host, "firmware_version"),
    "driver": lambda host: [host[DriverOrigin].runs, *_per_link(host, "name")],
    "cable": _cables,
}
