"""Functions that are one physical port: each has a part of it, and all count the whole of it."""

from collections.abc import Iterator

from wirespeed.ceilings.ethernet import WIRES
from wirespeed.facts.netstack import NetStack
from wirespeed.facts.one_port import one_port
from wirespeed.facts.sriov import Sriov
from wirespeed.model.bound import Bound, Limit
from wirespeed.model.ceiling import Ceiling, Direction
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Known, known, value_or_none
from wirespeed.model.port import Port
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule

FORMULA = "1 - most that the function's PCI Express link carries / line rate of the port"


def _check(exam: PortExam) -> Iterator[Finding]:
    known(exam.host[NetStack].links, "which functions are one physical port")
    functions = one_port(exam.host, exam.port)
    if len(functions) < 2:
        raise DoesNotApplyError("no other function is known to be the same physical port")
    asked = [port for port in functions if port in exam.ports]
    if asked[:1] != [exam.port]:
        return  # the first of them tells it once
    unused = {port: _unused(exam, port) for port in functions}
    idle = [port for port in functions if unused[port]]
    bond = _bond_of_all(exam, functions)
    narrow = _narrower(exam)
    evidence = tuple(
        Evidence(
            found=f"{port.name}, {port.pci_address}: {_identity(exam, port)}{unused[port]}",
            source=f"ip -d addr show {port.netdev}",
        )
        for port in functions
    )
    counted_once = (
        "each shows the speed and the physical counters of the whole port: adding them up counts "
        "it several times"
    )
    if narrow is not None and idle and len(idle) < len(functions):
        pcie, wire = narrow
        fraction = pcie.load_pps.high / wire.load_pps.high
        used = ", ".join(port.name for port in functions if port not in idle)
        yield exam.finding(
            Severity.RISK,
            evidence,
            so=f"they are one physical port; {used} alone carries at most {100 * fraction:.0f} % "
            f"of it, limited by its PCI Express link, and the rest is unused; {counted_once}",
            remedies=(
                Remedy(
                    text=f"use {', '.join(p.name for p in idle)} too: bring it up with an address "
                    "in a subnet of its own, and let the program use both (NCCL_IB_HCA and "
                    "NCCL_SOCKET_IFNAME accept a list; for TCP use several streams)",
                    by_hand=ByHand.WORKLOAD,
                ),
            ),
            bounds=(
                Bound.of_share(
                    Limit.AT_LEAST,
                    1 - fraction,
                    "of the port's line rate, for traffic that would fill it",
                    FORMULA,
                    *pcie.inputs,
                ),
            ),
        )
        return
    if bond is None:
        yield exam.finding(
            Severity.NOTE,
            evidence,
            so=f"they are one physical port, with one cable; {counted_once}; frames from one to "
            "another of them do not reach the cable",
            unpriced="it costs nothing: the card is built this way",
        )
        return
    yield exam.finding(
        Severity.RISK,
        evidence,
        so=f"they are one physical port: all members of {bond} depend on one cable and fail with "
        f"it; {counted_once}",
        remedies=(
            Remedy(
                text=f"if {bond} is to survive the loss of a cable or switch, add a member on "
                "another physical port",
                by_hand=ByHand.HARDWARE,
            ),
        ),
        unpriced="it costs nothing until the cable fails",
    )


def _identity(exam: PortExam, port: Port) -> str:
    link = exam.host[NetStack][port.netdev or ""]
    if isinstance(link.phys_port_id, Known):
        return f"physical port {link.phys_port_id.value}"
    return f"{value_or_none(link.phys_port_name)} of one card"


def _unused(exam: PortExam, port: Port) -> str:
    """Say why a function is known to carry nothing; empty: it may, through a bond or a VF too."""
    link = exam.host[NetStack][port.netdev or ""]
    if "UP" not in link.flags:
        return ", down"
    addresses = value_or_none(link.addresses)
    if addresses is None or isinstance(link.master, Known) or _has_above(exam, port):
        return ""
    if any(pf.pci_address == port.pci_address and pf.vfs for pf in exam.host[Sriov].pfs.values()):
        return ""
    return ", without an address" if all(own.ip.is_link_local for own in addresses) else ""


def _has_above(exam: PortExam, port: Port) -> bool:
    links = value_or_none(exam.host[NetStack].links) or {}
    return any(value_or_none(link.lower) == port.netdev for link in links.values())


def _bond_of_all(exam: PortExam, functions: tuple[Port, ...]) -> str | None:
    """Give the bond that has these functions and no other port."""
    links = value_or_none(exam.host[NetStack].links) or {}
    masters = {value_or_none(links[port.netdev or ""].master) for port in functions}
    master = masters.pop() if len(masters) == 1 else None
    if master is None or master not in links or links[master].bond is None:
        return None
    members = {link.netdev for link in links.values() if value_or_none(link.master) == master}
    return master if members == {port.netdev for port in functions} else None


def _narrower(exam: PortExam) -> tuple[Ceiling, Ceiling] | None:
    """Give the ceilings of the function's way and of the wire, where the first is the lower."""
    for direction in Direction:
        of = [c for c in exam.ledger.ceilings if c.direction is direction]
        ways = [c for c in of if c.element.startswith("pcie ")]
        wires = [c for c in of if c.element in WIRES]
        if ways and wires:
            way = min(ways, key=lambda c: c.load_pps.high)
            if way.load_pps.high < wires[0].load_pps.low:
                return way, wires[0]
    return None


RULE = PortRule(
    slug="link.one_port_of_functions",
    title="Several functions are one physical port",
    why="A card that is attached to two slots or PCI Express segments (Socket Direct, DGX "
    "Spark), or that is partitioned, has one netdev per part, and each reports the speed of "
    "the whole port. Each part is limited by its own PCI Express link. All parts show the "
    "same cable, link and physical counters.",
    source="Documentation/ABI/testing/sysfs-class-net (phys_port_id, phys_port_name, "
    "phys_switch_id); https://github.com/NVIDIA/daqiri/pull/108; "
    "https://github.com/NVIDIA/NemoClaw/issues/8520; "
    "https://github.com/NVIDIA/dgx-spark-playbooks/pull/103 (half of the rate with one of the two)",
    price=f"at least: {FORMULA}",
    check=_check,
)
