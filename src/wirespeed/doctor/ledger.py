"""The ledger of a port: every ceiling of its path, from the facts."""

from collections.abc import Callable, Iterator

from wirespeed.catalog import platforms
from wirespeed.ceilings.cpu import DPDK_CYCLES_PER_PACKET, DPDK_CYCLES_SOURCE, cores_ceiling
from wirespeed.ceilings.devices import device_for
from wirespeed.ceilings.encapsulation import (
    ON_WIRE_BYTES,
    Encapsulation,
    encapsulation_ceiling,
)
from wirespeed.ceilings.ethernet import ethernet_ceiling, infiniband_ceiling
from wirespeed.ceilings.packet_rate import packet_rate_ceiling
from wirespeed.ceilings.pcie import pcie_ceiling
from wirespeed.ceilings.tcp import (
    UNSCALED_WINDOW_BYTES,
    goodput_bps,
    tcp_payload_bytes,
    tcp_window_ceiling,
)
from wirespeed.ceilings.vswitch import vswitch_ceiling
from wirespeed.facts.clouds import instance_of
from wirespeed.facts.cpu import Cpus
from wirespeed.facts.link import Links
from wirespeed.facts.netstack import NetStack
from wirespeed.facts.pci import Pci
from wirespeed.facts.pci_cards import card
from wirespeed.facts.pci_config import PciConfig
from wirespeed.facts.pci_links import has_state, link_state
from wirespeed.facts.routes import Routes
from wirespeed.facts.sysctl import WINDOW_SCALING, Sysctls
from wirespeed.facts.virtualization import Virtualization
from wirespeed.model.ceiling import Ceiling, Direction, Ledger
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import Absent, CannotTellError, Known, known
from wirespeed.model.port import Port, PortKind
from wirespeed.model.question import Purpose, Question

VIRTUAL = (PortKind.HYPERV, PortKind.VIRTIO)
VIRTUAL_DRIVERS = frozenset({"vmxnet3", "xen_netfront", "vif", "veth", "tun"})
"""Of adapters that a hypervisor or kernel makes up, and that look like cards."""
EMULATED = frozenset({(0x8086, 0x100E), (0x8086, 0x100F), (0x10EC, 0x8139), (0x1022, 0x2000)})
"""82540EM and 82545EM (`e1000`), RTL8139 and PCnet: QEMU hw/net, VMware, VirtualBox, Xen."""
KINDS = {"vlan": Encapsulation.VLAN, "vxlan": Encapsulation.VXLAN}
"""What the kernel calls netdevs that add to a frame."""
WINDOW_SYSCTL = {
    Direction.RECEIVE: "net.ipv4.tcp_rmem", Direction.TRANSMIT: "net.ipv4.tcp_wmem",
}  # fmt: skip
LEAST_WINDOW_SHARE = 0.5
"""Of a socket's buffer, what Linux gives to data at the least as it comes set: tcp(7),
tcp_adv_win_scale 1. Since 6.6 it measures, and gives more where frames fill their pages."""

Element = Callable[[HostFacts, Port, Question], Iterator[Ceiling]]


def build_ledger(host: HostFacts, port: Port, question: Question) -> Ledger:
    """Compute what can be computed; the rest is named with its reason."""
    ceilings: list[Ceiling] = []
    unknown: list[str] = []
    for name, element in _elements(host, port):
        try:
            # One by one: what an element gave before it met what it lacks is kept.
            for ceiling in element(host, port, question):
                ceilings.append(ceiling)
        except CannotTellError as error:
            unknown.append(f"{name}: {error.reason}")
    return Ledger(
        port=port.name,
        frame_bytes=question.frame_bytes,
        ceilings=tuple(ceilings),
        unknown=tuple(unknown),
        bidirectional=question.bidirectional,
    )


def _elements(host: HostFacts, port: Port) -> Iterator[tuple[str, Element]]:
    if port.kind in VIRTUAL or port.driver in VIRTUAL_DRIVERS or _is_emulated(host, port):
        yield "virtual switch", _virtual_switch
        yield from ((f"card of {one.name}", one.beneath) for one in platforms() if one.beneath)
    else:
        yield "ethernet", _link
        yield "card's packet rate", _packet_rate
        yield "encapsulation", _encapsulation
        yield "pcie", _pcie
    yield "allowance", _allowance
    yield "cores", _cores
    yield "tcp window", _tcp_window


def _is_emulated(host: HostFacts, port: Port) -> bool:
    """Whether a hypervisor plays an old card: its speed is what that one had, and bounds nothing.

    Such cards are of conventional PCI, and passed through to no guest.
    """
    function = host[Pci].functions.get(port.pci_address or "")
    is_guest = host[Virtualization].is_guest
    if function is None or not (isinstance(is_guest, Known) and is_guest.value):
        return False
    ids = (function.vendor, function.device)
    found = tuple(one.value for one in ids if isinstance(one, Known))
    return found in EMULATED


def _link_bps(host: HostFacts, port: Port) -> tuple[int, str]:
    """Speed of the port and the command that shows it."""
    if port.netdev is None:
        raise CannotTellError(
            f"{port.name} has no netdev that reports its speed, as its driver is "
            f"{port.driver or 'none'}",
            f"dpdk-devbind.py --status-dev net ({port.name})",
        )
    link = host[Links].by_netdev.get(port.netdev)
    if link is None:
        raise CannotTellError(f"speed of {port.name}: it was not read", f"ethtool {port.netdev}")
    link_bps = known(link.link_bps, f"speed of {port.name}")
    return link_bps, link.link_bps.source


def _link(host: HostFacts, port: Port, question: Question) -> Iterator[Ceiling]:
    link = host[Links].by_netdev.get(port.netdev or "")
    modes = link.supported_bps if link and isinstance(link.link_bps, Absent) else None
    if isinstance(modes, Known) and modes.value:
        # A port without a link would leave its slot as the bound, and that priced.
        link_bps, source, assumed = modes.value[-1], modes.source, True
    else:
        link_bps, source = _link_bps(host, port)
        assumed = False
    wire = infiniband_ceiling if _is_infiniband(host, port) else ethernet_ceiling
    for direction in Direction:
        yield wire(link_bps, question.frame_bytes, direction, source, assumed=assumed)


def _is_infiniband(host: HostFacts, port: Port) -> bool:
    """Known to carry IP over InfiniBand; where the netdevs were not read, it is not known."""
    links = host[NetStack].links
    link = links.value.get(port.netdev or "") if isinstance(links, Known) else None
    return link is not None and link.link_type == Known("infiniband", link.link_type.source)


def _packet_rate(host: HostFacts, port: Port, question: Question) -> Iterator[Ceiling]:
    function = host[Pci].functions.get(port.pci_address or "")
    if function is None or not isinstance(function.vendor, Known):
        return
    if not isinstance(function.device, Known):
        return
    source = f"lspci -nns {port.pci_address}"
    for direction in Direction:
        found = packet_rate_ceiling(
            function.vendor.value, function.device.value, question.frame_bytes, direction, source
        )
        if found is not None:
            yield found


def _encapsulation(host: HostFacts, port: Port, question: Question) -> Iterator[Ceiling]:
    """What a tunnel or tag of this host adds to frames for the peer; what a card adds is unseen.

    Of a tunnel over a VLAN only the greater counts.
    """
    if question.peer is None or port.netdev is None:
        return
    way = host[Routes].route_to(question.peer).value.netdevs
    stack = host[NetStack]
    found = {
        KINDS[kind.value]
        for netdev in way
        for name in stack.ports_below(netdev)
        if port.netdev in stack.ports_below(name)
        and isinstance(kind := stack[name].kind, Known)
        and kind.value in KINDS
    }
    if not found:
        return
    link_bps, _ = _link_bps(host, port)
    kind_added = max(found, key=lambda kind: ON_WIRE_BYTES[kind])
    for direction in Direction:
        yield encapsulation_ceiling(
            link_bps,
            question.frame_bytes,
            kind_added,
            direction,
            f"ip route get {question.peer}; ip -d link show",
        )


def _virtual_switch(host: HostFacts, port: Port, question: Question) -> Iterator[Ceiling]:
    link_bps, source = _link_bps(host, port)
    for direction in Direction:
        yield vswitch_ceiling(link_bps, question.frame_bytes, direction, source)


def _pcie(host: HostFacts, port: Port, question: Question) -> Iterator[Ceiling]:
    if port.pci_address is None:
        raise CannotTellError(f"{port.name} has no PCI address", "lspci")
    pci = host[Pci]
    way = pci.links(port.pci_address)
    links = [link for link in way if has_state(link)]
    tunnels = [link.lower.address for link in way if link.is_tunnel]
    if not links and not tunnels:
        raise CannotTellError(_no_link(pci, port.pci_address), f"lspci -vv -s {port.pci_address}")
    for link in links:
        state = link_state(link, host[PciConfig], port.pci_address)
        for direction in Direction:
            yield pcie_ceiling(
                state,
                question.frame_bytes,
                direction,
                link.element,
                f"lspci -vv -s {link.lower.address}",
                device=device_for(question.purpose),
                bidirectional=question.bidirectional,
            )
    if tunnels:
        raise CannotTellError(
            f"the link at {tunnels[0]} is a tunnel through Thunderbolt or USB4: the 2.5 GT/s that "
            "it reports are nominal, and what the cable carries is not shown",
            "boltctl list",
        )


def _no_link(pci: Pci, address: str) -> str:
    """Why no link of a function can be seen."""
    function = pci.functions[address]
    if isinstance(function.vendor, Known) and isinstance(function.device, Known):
        kind = card(function.vendor.value, function.device.value)
        if kind is not None and kind.is_vf:
            return f"{address} is a VF of a {kind.name}: its link is seen on the host that lends it"
    return (
        f"{address} has no link that can be seen: it is a part of the chipset or the processor, or "
        "this is a guest"
    )


def _allowance(host: HostFacts, port: Port, question: Question) -> Iterator[Ceiling]:  # noqa: ARG001
    """What a cloud grants its instance: no figure that is read here says it."""
    instance = instance_of(host)
    if instance is not None:
        size = f" of size {instance.size}" if instance.size else " of this size"
        raise CannotTellError(
            f"what {instance.cloud.name} grants an instance{size} is not shown to it",
            instance.cloud.sizes,
        )
    yield from ()


def _cores(host: HostFacts, port: Port, question: Question) -> Iterator[Ceiling]:  # noqa: ARG001
    if question.purpose is not Purpose.DPDK:
        raise CannotTellError(
            "what a frame costs the kernel of this host was not measured",
            "perf stat -e cycles, while frames are counted",
        )
    cpus = host[Cpus]
    isolated = known(cpus.isolated, "isolated CPUs")
    chosen = [cpu for number, cpu in cpus.by_number.items() if number in isolated]
    if not chosen:
        raise CannotTellError(
            "no CPU is isolated, so how many will poll is not known",
            "cat /sys/devices/system/cpu/isolated",
        )
    threads = [known(cpu.smt_siblings, f"threads of CPU {cpu.number}") for cpu in chosen]
    clocks = [cpu.max_hz for cpu in chosen if isinstance(cpu.max_hz, Known)]
    clock = min(clocks, key=lambda hz: hz.value) if clocks else cpus.current_hz
    fewest, most = DPDK_CYCLES_PER_PACKET
    for direction in Direction:
        yield cores_ceiling(
            len(set(threads)),
            known(clock, "clock of the isolated CPUs"),
            most,
            question.frame_bytes,
            direction,
            f"cat /sys/devices/system/cpu/isolated; {DPDK_CYCLES_SOURCE}",
            fewest_cycles_per_packet=fewest,
            assumed=True,
        )


def _tcp_window(host: HostFacts, port: Port, question: Question) -> Iterator[Ceiling]:  # noqa: ARG001
    if question.rtt_s is None or question.purpose is Purpose.DPDK:
        return
    if not tcp_payload_bytes(question.frame_bytes):
        raise CannotTellError("such a frame has no room for TCP payload", "a longer --frame")
    rtt_s, size = question.rtt_s, question.frame_bytes
    windows = []
    for direction, name in WINDOW_SYSCTL.items():
        if host[Sysctls].scales_no_window:
            source = f"sysctl {WINDOW_SCALING}"
            windows.append(
                tcp_window_ceiling(UNSCALED_WINDOW_BYTES, rtt_s, size, direction, source)
            )
            continue
        buffer_bytes = known(host[Sysctls].numbers(name), name)[2]
        windows.append(
            tcp_window_ceiling(
                int(buffer_bytes * LEAST_WINDOW_SHARE),
                rtt_s,
                size,
                direction,
                f"sysctl {name}",
                most_window_bytes=buffer_bytes,
            )
        )
    most_bps = max(goodput_bps(window.load_pps.high, size) for window in windows)
    if question.measured_bps is not None and question.measured_bps > most_bps:
        raise CannotTellError(
            f"one connection carries at most {most_bps / 1e9:.3g} Gb/s, and the measured figure is "
            "more: it is of several connections, or not of TCP",
            "iperf3 with one stream",
        )
    yield from windows
