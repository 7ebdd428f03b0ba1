"""Ports behind one PCI Express link that together are faster than it."""

from collections.abc import Iterator

from wirespeed.ceilings.devices import device_for
from wirespeed.ceilings.ethernet import ethernet_ceiling
from wirespeed.ceilings.pcie import pcie_ceiling
from wirespeed.facts.link import Links
from wirespeed.facts.netstack import NetStack
from wirespeed.facts.one_port import one_port
from wirespeed.facts.pci import Pci, PciLink
from wirespeed.facts.pci_config import PciConfig
from wirespeed.facts.pci_links import has_state, link_state
from wirespeed.facts.ports import Ports
from wirespeed.model.bound import Bound, Limit
from wirespeed.model.ceiling import Direction, Input
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import CannotTellError, Known, Unreadable
from wirespeed.model.port import Port, PortKind
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule
from wirespeed.model.symptom import Symptom

FORMULA = "1 - most that the slot carries / line rate of the sum of the ports"


def _check(exam: PortExam) -> Iterator[Finding]:
    pci = exam.host[Pci]
    links = [link for link in pci.links(exam.port.pci_address) if has_state(link)]
    if exam.port.kind is PortKind.VIRTIO or not links:
        raise DoesNotApplyError("no PCI Express link can be seen behind this port")
    shared = [(link, _behind(exam, link)) for link in links]
    if all(len(ports) < 2 for _, ports in shared):
        raise DoesNotApplyError("it shares its links with no other port")
    for link, ports in shared:
        # Once for each link: of the ports behind it that were asked about, the first says it.
        asked = [port for port in ports if port in exam.ports]
        if len(ports) > 1 and asked[:1] == [exam.port]:
            yield from _link(exam, link, ports)


def _behind(exam: PortExam, link: PciLink) -> list[Port]:
    """Ports of the host, asked about or not, whose way goes through the upper end of a link."""
    hops = exam.host[Pci].hops
    return [
        p for p in exam.host[Ports].ports if link.upper.address in hops.get(p.pci_address or "", ())
    ]


def _link(exam: PortExam, link: PciLink, ports: list[Port]) -> Iterator[Finding]:
    # Functions that are one physical port, as partitions of it, share its speed too.
    same = [one_port(exam.host, port) for port in ports]
    ports = [p for i, p in enumerate(ports) if not any(p in of for of in same[:i])]
    speeds = [_link_bps(exam, port) for port in ports]
    up = [found for found in speeds if found is not None]
    if len(up) < 2:
        return  # a port that is down asks nothing of the slot
    together = sum(found.value for found in up)
    state = link_state(link, exam.host[PciConfig], exam.port.pci_address or "")
    most = min(
        pcie_ceiling(
            state,
            exam.question.frame_bytes,
            direction,
            link.element,
            "",
            device=device_for(exam.question.purpose),
            bidirectional=exam.question.bidirectional,
        ).load_pps.high
        for direction in Direction
    )
    wanted = ethernet_ceiling(together, exam.question.frame_bytes, Direction.RECEIVE, "")
    if wanted.load_pps.low <= most:
        return
    fraction = most / wanted.load_pps.low
    names = ", ".join(port.name for port in ports)
    yield exam.finding(
        Severity.NOTE if _has_standby(exam, ports) else Severity.CEILING,
        (
            Evidence(
                found=f"{names}: {together / 1e9:g} Gb/s of ports",
                source="; ".join(found.source for found in up),
            ),
            Evidence(
                found=f"one link of x{state.lanes} at {state.gt_per_s:g} GT/s for all of them, "
                f"at {link.lower.address}",
                source=f"lspci -vv -s {link.lower.address}",
            ),
        ),
        so=f"together they reach at most {100 * fraction:.0f} % of their line rate in each "
        f"direction with frames of {exam.question.frame_bytes} bytes; one port alone may reach "
        "more",
        remedies=(
            Remedy(
                text="use one port of the card and keep the other for failover, or move the "
                "second port to a card in its own slot",
                by_hand=ByHand.HARDWARE,
            ),
        ),
        bounds=(
            Bound.of_share(
                Limit.AT_MOST,
                1 - fraction,
                "of the sum of the ports, while all are at full load",
                FORMULA,
                Input(
                    name="sum of the ports",
                    shown=f"{together / 1e9:g} Gb/s",
                    source=up[0].source,
                ),
            ),
        ),
    )


def _has_standby(exam: PortExam, ports: list[Port]) -> bool:
    """Whether one bond of mode active-backup holds them all: one carries at a time."""
    links = exam.host[NetStack].links
    if not isinstance(links, Known):
        return False
    masters = {
        link.master.value if link and isinstance(link.master, Known) else None
        for link in (links.value.get(port.netdev or "") for port in ports)
    }
    master = links.value.get(next(iter(masters)) or "") if len(masters) == 1 else None
    mode = master.bond.mode if master and master.bond else None
    return isinstance(mode, Known) and mode.value == "active-backup"


def _link_bps(exam: PortExam, port: Port) -> Known[int] | None:
    """Speed of a port; None when it is down. Raises CannotTellError when nobody knows."""
    source = f"ethtool {port.netdev}" if port.netdev else "dpdk-devbind.py --status-dev net"
    link = exam.host[Links].by_netdev.get(port.netdev or "")
    if link is None:
        raise CannotTellError(f"speed of {port.name}: it was not read", source)
    if isinstance(link.link_bps, Unreadable):
        raise CannotTellError(f"speed of {port.name}: {link.link_bps.reason}", link.link_bps.source)
    return link.link_bps if isinstance(link.link_bps, Known) else None


RULE = PortRule(
    slug="pcie.ports_share_slot",
    title="Ports in one PCIe slot exceed its bandwidth",
    why="All ports of a card share one PCIe link, and cards below one PCIe switch share its "
    "uplink. Two ports of 100 Gb/s in a PCIe 3.0 x16 slot share 126 Gb/s before overhead. "
    "This is not a fault if the second port is for failover; if both carry load, the slot "
    "limits them, not the ports.",
    source="Neugebauer et al., Understanding PCIe performance for end host networking, SIGCOMM "
    "2018, section 3; https://doi.org/10.1145/3230543.3230560",
    price=f"at most: {FORMULA}",
    explains=(
        Symptom.CARD_STALLED,
        Symptom.CARD_BUFFER_FULL,
        Symptom.PAUSES_SENT,
        Symptom.LOW_FIGURE,
    ),
    check=_check,
)
