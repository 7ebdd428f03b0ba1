"""The two hosts of a measured forwarder: how they are cabled, and what each of them is. Pure.

All of it is of their own captures, as they were found; the page has below what the programs said.
"""

from collections import Counter
from collections.abc import Iterator, Mapping

from wirespeed.approaches.dpdk_vfs import device_of
from wirespeed.approaches.host_ports import port_of
from wirespeed.approaches.polling_cores import polling_cores
from wirespeed.doctor.about import describe
from wirespeed.facts.cpu_list import cpu_list_text
from wirespeed.facts.firmware import Firmware
from wirespeed.facts.hardware import Hardware, MemoryModule
from wirespeed.facts.kernel import CommandLine, Kernel
from wirespeed.facts.link import Links
from wirespeed.facts.locality import node_of_port
from wirespeed.facts.memory import Memory
from wirespeed.facts.ports import Ports
from wirespeed.model.error import InputError
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import Absent, CannotTellError, Known, Observed
from wirespeed.model.question import Question
from wirespeed.model.spec.dpdk import Role
from wirespeed.model.spec.members import Dpdk
from wirespeed.report.charts.cabling import CabledHost, cabling
from wirespeed.report.document import Block, Drawing
from wirespeed.report.grid import Grid, columns, text
from wirespeed.report.tables.setup import FACT_COLUMNS

GIB = 1 << 30
NOT_TOLD = "not told"
CABLES = columns("Cable", "Tester", "DUT", "Link", wraps=("Tester", "DUT"))


def bench_hosts(spec: Dpdk, hosts: Mapping[str, HostFacts]) -> Iterator[Block]:
    """Give the drawing, the same as a table, and a table for each host; nothing if one is not read.

    A capture that does not have a port, or does not tell its VF, gives none of it either.
    """
    tester, dut = spec.host_of(Role.TESTER), spec.host_of(Role.DUT)
    if not {tester, dut} <= hosts.keys():
        return
    try:
        ends = {name: _end(spec, name, hosts[name]) for name in (tester, dut)}
        links = [_link(hosts[dut], dut, port) for port in spec.hosts[dut].ports]
    except (InputError, CannotTellError):
        return
    yield Drawing(
        cabling(ends[tester], ends[dut], links),
        "Each port of the tester and the DUT's at the other end of its cable, in the order of the "
        "spec, with NUMA node and queues each way.",
    )
    pairs = zip(ends[tester].ports, ends[dut].ports, links, strict=True)
    yield Grid(
        title="Cables",
        caption="",
        columns=CABLES,
        rows=tuple(text(str(number), *pair) for number, pair in enumerate(pairs, 1)),
    )
    for name, role in ((tester, "tester"), (dut, "device under test")):
        rows = (("role", role), ("reached by", spec.hosts[name].reach), *_facts(spec, name, hosts))
        yield Grid(
            title=f"Host: {name}",
            caption="",
            columns=FACT_COLUMNS,
            rows=tuple(text(label, value) for label, value in rows),
            look="facts",
        )


def _end(spec: Dpdk, name: str, host: HostFacts) -> CabledHost:
    is_tester = spec.hosts[name].role is Role.TESTER
    queues = spec.dpdk.tester.queues if is_tester else spec.dpdk.queues
    what = "tester" if is_tester else spec.dpdk.forwarder
    ports = []
    for address in spec.hosts[name].ports:
        device = device_of(spec, name, host, address)
        of = address if device == address else f"VF {device} of {address}"
        ports.append(f"{of} · {_node(host, name, address)} · {queues} queue{'s' * (queues > 1)}")
    return CabledHost(f"{name}: {what}", f"polls on CPU {_cores(spec, name, host)}", tuple(ports))


def _cores(spec: Dpdk, name: str, host: HostFacts) -> str:
    return cpu_list_text(frozenset(polling_cores(spec, name, host)))


def _node(host: HostFacts, name: str, address: str) -> str:
    node = node_of_port(host, port_of(host, name, address))
    if isinstance(node, Known):
        return f"node {node.value}"
    return "one node" if isinstance(node, Absent) else "node not told"


def _link(host: HostFacts, name: str, address: str) -> str:
    link = host[Links].by_netdev.get(port_of(host, name, address).netdev or "")
    if link is None or not isinstance(link.link_bps, Known):
        return NOT_TOLD
    return f"{link.link_bps.value / 1e9:g} Gb/s"


def _facts(spec: Dpdk, name: str, hosts: Mapping[str, HostFacts]) -> Iterator[tuple[str, str]]:
    host = hosts[name]
    cards, hardware = host[Firmware].cards, host[Hardware]
    # Ports that are not in the spec are not of the measurement.
    others = {port.name for port in host[Ports].ports} - {
        port_of(host, name, address).name for address in spec.hosts[name].ports
    }
    yield from (
        (label, value) for label, value in describe(host, Question()) if label not in others
    )
    yield "server", _told(hardware.model)
    yield "board", _told(hardware.board)
    yield "BIOS", _told(hardware.bios)
    for address in spec.hosts[name].ports:
        data = hardware.card_of(address)
        yield f"card at {address}", _told(data.product if data else None)
        yield f"part number of {address}", _told(data.part_number if data else None)
        card = cards.get(address)
        running, board = (card.running, card.board_id) if card else (None, None)
        yield f"firmware of {address}", _told(running)
        yield f"PSID of {address}", _told(board)
    line = host[Kernel].command_line
    yield "boot line", _boot_line(line.value) if isinstance(line, Known) else NOT_TOLD
    memory = host[Memory]
    total = memory.total_bytes
    yield "memory", f"{total.value / GIB:.1f} GiB" if isinstance(total, Known) else NOT_TOLD
    modules = hardware.memory_modules
    yield "memory modules", _modules(modules.value) if isinstance(modules, Known) else NOT_TOLD
    pools = [
        f"{pool.total.value} of {pool.page_bytes >> 10} KiB"
        for pool in memory.pools
        if pool.numa_node is None and isinstance(pool.total, Known)
    ]
    yield "hugepages as found", ", ".join(pools) or NOT_TOLD
    yield "CPUs that poll", _cores(spec, name, host)


def _modules(modules: tuple[MemoryModule, ...]) -> str:
    """Give those that are alike as one: `12 x 16 GB DDR4 at 2666 MT/s (M393A2K40CB2-CTD)`."""
    return "; ".join(
        f"{count} x {one.size} {one.kind} at {one.runs_at or 'a speed that is not told'}"
        + (f" ({one.part_number})" if one.part_number else "")
        for one, count in Counter(modules).items()
    )


def _boot_line(line: CommandLine) -> str:
    """As the kernel reads it: `-` in a name is `_`."""
    return " ".join(f"{name}={value}" if value else name for name, value in line.parameters)


def _told(observed: Observed[str] | None) -> str:
    return observed.value if isinstance(observed, Known) else NOT_TOLD
