"""A collective library (NCCL, Gloo, MPI) whose traffic goes by a slower interface than there is."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

from wirespeed.facts.link import Links
from wirespeed.facts.netstack import NetStack
from wirespeed.facts.ports import Ports
from wirespeed.facts.rdma import Rdma
from wirespeed.facts.workload import COMM_BYTES, Workload
from wirespeed.facts.workload_collective import (
    QPS,
    SOCKETS,
    SOURCE,
    Collective,
    CollectiveLibraries,
)
from wirespeed.model.bound import Bound, Limit
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import CannotTellError, Known, known
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule
from wirespeed.model.symptom import Symptom

OFF, NET, SOCKET = "NCCL_IB_DISABLE", "NCCL_NET", "socket"
MOST_SHOWN = 4
LOOPBACK = ("127.", "::1")
FORMULA = "1 - speed of the interface that is used / speed of the fastest port that has a link"


@dataclass(frozen=True, slots=True)
class Way:
    """By what a process sends, and how that is known."""

    names: tuple[str, ...]
    evidence: Evidence


def _check(exam: HostExam) -> Iterator[Finding]:
    processes = asked_processes(exam)
    speeds = _speeds(exam)
    fastest = max(speeds, key=lambda name: (speeds[name], name), default="")
    slow: dict[tuple[str, ...], list[Evidence]] = {}
    undetermined: CannotTellError | None = None
    for name, process in processes:
        try:
            way = way_of(exam, name, process)
            used = max(_bps(exam, one, speeds) for one in way.names)
        except CannotTellError as error:
            undetermined = error
            continue
        if used < speeds.get(fastest, 0):
            slow.setdefault(way.names, []).append(way.evidence)
    for names, evidence in slow.items():
        used = max(_bps(exam, one, speeds) for one in names)
        by = " and ".join(names)
        yield exam.finding(
            Severity.RISK,
            (
                *evidence[:MOST_SHOWN],
                Evidence(
                    found=f"{by}: {used / 1e9:g} Gb/s; {fastest}: {speeds[fastest] / 1e9:g} Gb/s",
                    source=f"ethtool {fastest}",
                ),
            ),
            so=f"these processes exchange their data over {by}, although {fastest} is faster",
            remedies=(
                Remedy(
                    text="start the program with the interface named, on every host: "
                    "NCCL_SOCKET_IFNAME and GLOO_SOCKET_IFNAME take a netdev (NCCL's with = "
                    "for the exact name), NCCL_IB_HCA an RDMA device; the other hosts must be "
                    "reachable through it. `wirespeed advise inference` computes whether "
                    "bandwidth limits the program at all",
                    by_hand=ByHand.WORKLOAD,
                ),
            ),
            bounds=(
                Bound.of_share(
                    Limit.AT_MOST,
                    1 - used / speeds[fastest],
                    "of what the fastest port carries",
                    FORMULA,
                ),
            ),
        )
    if not slow and undetermined is not None:
        raise undetermined


def asked_processes(exam: HostExam) -> list[tuple[str, Collective]]:
    """Give those that were asked about, with their names. Raises as a rule does."""
    threads = known(exam.host[Workload].threads, "which threads are busy")
    found = known(exam.host[CollectiveLibraries].processes, "what collective libraries use")
    names = {thread.pid: thread.process for thread in threads}
    asked = exam.question.workload
    chosen = [
        (names.get(pid, "a process"), process)
        for pid, process in sorted(found.items())
        if asked is None or names.get(pid) == asked[:COMM_BYTES]
    ]
    if not chosen:
        raise DoesNotApplyError("no busy process uses NCCL, RCCL, Gloo or MPI")
    return chosen


def _speeds(exam: HostExam) -> dict[str, int]:
    """Bits a second of each netdev that has a link."""
    return {
        netdev: link.link_bps.value
        for netdev, link in exam.host[Links].by_netdev.items()
        if isinstance(link.link_bps, Known)
        and not (isinstance(link.is_up, Known) and not link.is_up.value)
    }


def _bps(exam: HostExam, name: str, speeds: Mapping[str, int]) -> int:
    """Of a netdev with all ports below it: a bond's members, the port of a VLAN."""
    below = exam.host[NetStack].ports_below(name) | {name}
    found = [speeds[one] for one in below if one in speeds]
    if not found:
        raise CannotTellError(f"the speed of {name}", f"ethtool {name}")
    return sum(found)


def way_of(exam: HostExam, name: str, process: Collective) -> Way:
    """Give what carries the data: RDMA, else TCP, else what it was told to use."""
    who = f"{name} ({process.pid})"
    if process.rdma_devices:
        devices = ", ".join(process.rdma_devices)
        count = sum(process.rdma_devices.values())
        return Way(
            _netdevs_of(exam, list(process.rdma_devices)),
            Evidence(found=f"{who} has {count} queue pairs on {devices}", source=QPS),
        )
    libraries, stack = exam.host[CollectiveLibraries], exam.host[NetStack]
    if _may_use_rdma(exam, process):
        # TCP starts what RDMA then carries: without queue pairs alone it is the data's way.
        known(libraries.queue_pairs, f"queue pairs of {who}")
    known(libraries.sockets, f"connections of {who}")
    used: dict[str, int] = {}
    for address, count in process.addresses.items():
        link = None if address.startswith(LOOPBACK) else stack.with_address(address)
        if link is not None:
            used[link.netdev] = used.get(link.netdev, 0) + count
    if used:
        told = ", ".join(f"{count} on {netdev}" for netdev, count in used.items())
        return Way(
            tuple(used), Evidence(found=f"{who} has TCP connections: {told}", source=SOCKETS)
        )
    return _told(exam, who, process)


def _told(exam: HostExam, who: str, process: Collective) -> Way:
    """Where it has no connection that can be seen: by its environment, if that decides it."""
    settings = process.settings
    by_rdma = _may_use_rdma(exam, process)
    variable = "NCCL_IB_HCA" if by_rdma else "NCCL_SOCKET_IFNAME"
    if not by_rdma and variable not in settings:
        variable = "GLOO_SOCKET_IFNAME"
    wanted = settings.get(variable)
    if wanted is None:
        raise CannotTellError(f"which interface {who} uses: it has no connection now", SOCKETS)
    there = list(_rdma_devices(exam)) if by_rdma else _usable(exam)
    names = _matching(wanted, there, is_exact=variable.startswith("GLOO"))
    if not names:
        raise CannotTellError(f"{variable}={wanted} of {who} names nothing of this host", SOURCE)
    found = f"{who}: {variable}={wanted}"
    return Way(
        _netdevs_of(exam, names) if by_rdma else tuple(names), Evidence(found=found, source=SOURCE)
    )


def _may_use_rdma(exam: HostExam, process: Collective) -> bool:
    return bool(_rdma_devices(exam)) and not told_off(process)


def told_off(process: Collective) -> str:
    """Give the variable that keeps NCCL from RDMA; empty where none does."""
    if process.settings.get(OFF) == "1":
        return f"{OFF}=1"
    net = process.settings.get(NET, "")
    return f"{NET}={net}" if net.lower() == SOCKET else ""


def _usable(exam: HostExam) -> list[str]:
    """Netdevs that have a port with a link below them: ports, and VLANs and bonds on those."""
    stack, speeds = exam.host[NetStack], _speeds(exam)
    links = known(stack.links, "the netdevs")
    return [name for name in links if stack.ports_below(name) & speeds.keys()]


def _matching(wanted: str, there: list[str], *, is_exact: bool) -> list[str]:
    """Read NCCL's list: `=` exact names, else how they begin; `^` all but these. `:1` is a port."""
    is_excluded = wanted.startswith("^")
    rest = wanted.removeprefix("^")
    is_exact = is_exact or rest.startswith("=")
    parts = [part.partition(":")[0] for part in rest.removeprefix("=").split(",") if part]
    fits = [
        name
        for name in there
        if any(name == part if is_exact else fnmatchcase(name, f"{part}*") for part in parts)
    ]
    return [name for name in there if name not in fits] if is_excluded else fits


def _rdma_devices(exam: HostExam) -> dict[str, str]:
    """RDMA device to the PCI address of its function; empty where none was read."""
    by_address = exam.host[Rdma].by_address
    if not isinstance(by_address, Known):
        return {}
    return {one.device: address for address, ports in by_address.value.items() for one in ports}


def _netdevs_of(exam: HostExam, devices: list[str]) -> tuple[str, ...]:
    addresses = _rdma_devices(exam)
    netdevs = {
        port.pci_address: port.netdev for port in exam.host[Ports].ports if port.netdev is not None
    }
    found = [netdevs.get(addresses.get(device)) for device in devices]
    if not found or None in found:
        raise CannotTellError(f"the netdev of {', '.join(devices)}", "rdma link show")
    return tuple(name for name in found if name is not None)


RULE = HostRule(
    slug="collective.slower_interface",
    title="Collective library does not use the fastest interface",
    why="Unless an interface is named, NCCL, RCCL, Gloo and MPI choose one: often that of the "
    "host's name or of the default route, which is the management port. With RDMA, TCP is "
    "used only at the start. The doctor looks only at busy processes, and does not see "
    "connections in other network namespaces (containers).",
    source="https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html "
    "(NCCL_SOCKET_IFNAME, NCCL_IB_HCA); https://docs.pytorch.org/docs/stable/distributed.html "
    "(GLOO_SOCKET_IFNAME)",
    price=f"at most: {FORMULA}",
    explains=(Symptom.LOW_FIGURE,),
    check=_check,
)
