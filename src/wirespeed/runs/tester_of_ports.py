"""The tester of `--port`: which ports, by which queues and on which CPUs it sends and judges."""

import re
from pathlib import Path

from pydantic import ValidationError

from wirespeed.facts.cpu_list import cpu_list_text, parse_cpu_list
from wirespeed.facts.isolated_near import isolated_near
from wirespeed.facts.locality import local_cpus
from wirespeed.facts.ports import PCI_ADDRESS, Ports
from wirespeed.host.files import is_folder
from wirespeed.host.procfs import read_topology, usable_cpus
from wirespeed.host.reach_destination import HERE
from wirespeed.measure.bench.external_bed import ExternalPorts
from wirespeed.measure.bench.tester_ports import ANY_MAC, Holding, deal, lcores_of_use
from wirespeed.model.error import InputError, MeasurementError
from wirespeed.model.fact import HostFacts
from wirespeed.model.names import NETDEV
from wirespeed.model.observed import value_or_none
from wirespeed.runs.bench_request import BenchRequest
from wirespeed.runs.plan_hosts import facts_at

NET = Path("/sys/class/net")
MAC_ADDRESS = re.compile(r"(?:[0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}")
PCI_PORT = re.compile(
    r"(?:pci:)?(?P<domain>[0-9a-f]{4,8}:)?(?P<rest>[0-9a-f]{2}:[01][0-9a-f]\.[0-7])(?P<args>,.*)?",
    re.I | re.S,
)
"""As DPDK reads a port on PCI (rte_pci_addr_parse), with options for its driver."""


def eal_device(port: str) -> str:
    """Give a port on PCI as the kernel writes its address, and any other as it is.

    DPDK takes 3b:00.0 and capital letters as well; what is looked up of a port by its address, such
    as whether it carries the session, is not to miss it.
    """
    found = PCI_PORT.fullmatch(port)
    if found is None:
        return port
    address = f"{found['domain'] or '0000:'}{found['rest']}".lower()
    return f"{address}{found['args'] or ''}"


def external_ports(asked: BenchRequest, frame_bytes_max: int) -> ExternalPorts:
    """Give the ports of `--port` as they are to be held. Raises InputError `options.invalid`."""
    _require_ports(asked)
    holding = _holding(asked)
    usable = usable_cpus()
    workers = _named(asked.cores, usable) if asked.cores is not None else _usual(asked, holding)
    try:
        deal(len(asked.ports), holding.queues, len(workers))
    except ValueError as error:
        raise _wrong("--cores", str(error), "other --cores, or other --queues") from None
    return ExternalPorts(
        devices=asked.ports,
        streams=streams_of(asked),
        peer_macs=asked.peer_macs or (ANY_MAC,),
        control_cpu=control_cpu(usable, workers),
        worker_cpus=workers,
        holding=holding,
        hugepages=asked.hugepages,
        frame_bytes_max=frame_bytes_max,
    )


def streams_of(asked: BenchRequest) -> tuple[tuple[int, int], ...]:
    """Give the ports that send, each with the one that its frames are due at."""
    ports = range(len(asked.ports))
    if len(ports) == 1 or asked.way_back == "same":
        return tuple((port, port) for port in ports)
    return ((0, 1), (1, 0)) if asked.bidirectional else ((0, 1),)


def wire_of(asked: BenchRequest) -> str:
    """Say how the ports are used; a run is gone on with only if it is the same."""
    macs = " and ".join(asked.peer_macs or (ANY_MAC,))
    text = f"{', '.join(asked.ports)}: frames to {macs}, back {asked.expect}"
    words = []
    # Runs of releases that had none of these can be gone on with.
    if asked.way_back == "same" and len(asked.ports) > 1:
        words.append("at the port that they left by")
    if asked.queues > 1:
        words.append(f"{asked.queues} queues")
    if asked.cores is not None:
        words.append(f"cores {asked.cores}")
    if asked.rx_descriptors or asked.tx_descriptors:
        given = [str(n or "usual") for n in (asked.rx_descriptors, asked.tx_descriptors)]
        words.append(f"{given[0]} rx and {given[1]} tx descriptors")
    if asked.hardware_stamps:
        words.append("time stamps of the ports")
    return ", ".join([text, *words])


def usual_cpus(
    facts: HostFacts, address: str, usable: tuple[int, ...], most: int
) -> tuple[int, ...]:
    """Give the CPUs that poll where none are named: isolated ones of the card's own node.

    Where none is isolated, the last of that node; where nothing is known of it, the last of all.
    """
    port = next((p for p in facts[Ports].ports if p.pci_address == address), None)
    if port is None:
        return usable[-1:]
    isolated = value_or_none(isolated_near(facts, port))
    # Isolated CPUs are outside what a shell's programs may run on, and can still be asked for.
    if isolated is not None:
        return isolated[:most]
    near = value_or_none(local_cpus(facts, port)) or frozenset()
    return (tuple(cpu for cpu in usable if cpu in near) or usable)[-1:]


def control_cpu(usable: tuple[int, ...], workers: tuple[int, ...]) -> int:
    """Give the CPU for what is asked of the tester beside its traffic: near those that poll.

    DPDK takes what all ports share from the node of the main lcore, and that may have no hugepages
    (`eth_dev_shared_data_prepare`).
    """
    free = sorted(set(usable) - set(workers))
    try:
        package = read_topology(workers[0]).package
        near = [cpu for cpu in free if read_topology(cpu).package == package]
    except MeasurementError:
        near = []
    # It needs no CPU of its own, where there is none.
    return (near or free or list(workers))[0]


def _usual(asked: BenchRequest, holding: Holding) -> tuple[int, ...]:
    card = next((port for port in asked.ports if PCI_ADDRESS.match(port)), None)
    usable = usable_cpus()
    if card is None:
        return usable[-1:]
    most = lcores_of_use(len(asked.ports), holding)
    return usual_cpus(facts_at(HERE), card.partition(",")[0], usable, most)


def _named(text: str, usable: tuple[int, ...]) -> tuple[int, ...]:
    try:
        named = parse_cpu_list(text)
    except ValueError:
        named = frozenset()
    if not named:
        raise _wrong("--cores", repr(text), "CPUs, as 24-27 or 24,26")
    if max(named) > 1023:
        raise _wrong("--cores", repr(text), f"CPUs that are there: {cpu_list_text(usable)}")
    return tuple(sorted(named))


def _holding(asked: BenchRequest) -> Holding:
    try:
        return Holding(
            queues=asked.queues,
            rx_descriptors=asked.rx_descriptors,
            tx_descriptors=asked.tx_descriptors,
            hardware_stamps=asked.hardware_stamps,
        )
    except ValidationError as error:
        first = error.errors()[0]
        option = f"--{str(first['loc'][0]).replace('_', '-')}"
        raise _wrong(option, f"{first['input']}: {first['msg']}", "see --help") from None


def _require_ports(asked: BenchRequest) -> None:
    ports = len(asked.ports)
    netdev = next((p for p in asked.ports if NETDEV.fullmatch(p) and is_folder(NET / p)), None)
    if netdev is not None:
        raise _wrong(
            "--port",
            f"{netdev}, a netdev of this host",
            f"the PCI address that `readlink {NET / netdev}/device` ends with",
        )
    bad = next((mac for mac in asked.peer_macs if not MAC_ADDRESS.fullmatch(mac)), None)
    if ports > 2:
        raise _wrong("--port", f"{ports} ports", "one --port, or two: out and back")
    if asked.bidirectional and ports < 2:
        raise _wrong("--bidirectional", "one --port", "a second --port")
    if asked.way_back == "other" and ports < 2:
        raise _wrong("--return", "other, and one --port", "a second --port")
    if asked.bidirectional and asked.way_back == "same":
        raise _wrong(
            "--bidirectional", "--return same, by which each port sends already", "one of the two"
        )
    if bad is not None:
        raise _wrong("--peer-mac", repr(bad), f"a MAC address: {ANY_MAC}")
    if len(asked.peer_macs) not in (0, 1, ports):
        found = f"{len(asked.peer_macs)} addresses for {ports} ports"
        raise _wrong("--peer-mac", found, "one for all ports, or one for each --port")


def _wrong(option: str, found: str, advice: str) -> InputError:
    return InputError("options.invalid", where=option, found=found, next=advice)
