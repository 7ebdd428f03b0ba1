"""Ports behind one PCI Express link that together are faster than it."""

from collections.abc import Iterator
from dataclasses import dataclass

from wirespeed.ceilings.devices import device_for
from wirespeed.ceilings.ethernet import ethernet_ceiling
from wirespeed.ceilings.pcie import pcie_ceiling
from wirespeed.facts.link import Links
from wirespeed.facts.netstack import NetStack
from wirespeed.facts.one_port import one_port
from wirespeed.facts.pci import Pci, PciLink
from wirespeed.facts.pci_config import PciConfig
from wirespeed.facts.pci_links import has_state, is_below_its_ends, link_state
from wirespeed.facts.ports import Ports
from wirespeed.model.bound import Bound, Limit
from wirespeed.model.ceiling import Direction, Input
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import CannotTellError, Known, Unreadable
from wirespeed.model.pcie_link import PcieLink
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
            yield from _link(exam, link)


def _behind(exam: PortExam, link: PciLink) -> list[Port]:
    """Ports of the host, asked about or not, whose way goes through the upper end of a link."""
    hops = exam.host[Pci].hops
    return [
        p for p in exam.host[Ports].ports if link.upper.address in hops.get(p.pci_address or "", ())
    ]


@dataclass(frozen=True, slots=True)
class Sharing:
    """Ports behind one link, each physical port once, and the speed of each that is up."""

    ports: list[Port]
    link_bps: list[Known[int]]

    @property
    def together_bps(self) -> int:
        """What they ask of the link when all are at full load."""
        return sum(bps.value for bps in self.link_bps)

    def carried(self, exam: PortExam, link: PciLink, state: PcieLink) -> float:
        """Give the most of their line rate that the link carries in some state, 1 at the most."""
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
        frame_bytes = exam.question.frame_bytes
        wanted = ethernet_ceiling(self.together_bps, frame_bytes, Direction.RECEIVE, "")
        return min(1.0, most / wanted.load_pps.low)

    def bound(self, share: float, formula: str) -> Bound:
        """Give what a share of them is as the limit of a cost."""
        return Bound.of_share(
            Limit.AT_MOST,
            share,
            "of the sum of the ports, while all are at full load",
            formula,
            Input(
                name="sum of the ports",
                shown=f"{self.together_bps / 1e9:g} Gb/s",
                source="; ".join(bps.source for bps in self.link_bps),
            ),
        )


def sharing_behind(exam: PortExam, link: PciLink) -> Sharing | None:
    """Give the ports behind a link; None: fewer than two are up, and ask anything of the slot.

    Raises CannotTellError where the speed of one is not known.
    """
    ports = _behind(exam, link)
    # Functions that are one physical port, as partitions of it, share its speed too.
    same = [one_port(exam.host, port) for port in ports]
    ports = [p for i, p in enumerate(ports) if not any(p in of for of in same[:i])]
    speeds = [_link_bps(exam, port) for port in ports]
    up = [found for found in speeds if found is not None]
    return Sharing(ports, up) if len(up) > 1 else None


def lost_by_all(exam: PortExam, link: PciLink, now: PcieLink, after: PcieLink) -> tuple[Bound, ...]:
    """What all ports behind a link lose together as long as it is not in the state `after`.

    None is given where they lose nothing, or the speed of one is not known.
    """
    try:
        sharing = sharing_behind(exam, link)
    except CannotTellError:
        return ()
    if sharing is None or _has_standby(exam, sharing.ports):
        return ()
    gained = sharing.carried(exam, link, after) - sharing.carried(exam, link, now)
    formula = "(most that the link carries then - now) / line rate of the sum of the ports"
    return (sharing.bound(gained, formula),) if gained > 0 else ()


def _link(exam: PortExam, link: PciLink) -> Iterator[Finding]:
    sharing = sharing_behind(exam, link)
    if sharing is None:
        return
    state = link_state(link, exam.host[PciConfig], exam.port.pci_address or "")
    fraction = sharing.carried(exam, link, state)
    if fraction == 1:
        return
    names = ", ".join(port.name for port in sharing.ports)
    yield exam.finding(
        Severity.NOTE if _has_standby(exam, sharing.ports) else Severity.CEILING,
        (
            Evidence(
                found=f"{names}: {sharing.together_bps / 1e9:g} Gb/s of ports",
                source="; ".join(bps.source for bps in sharing.link_bps),
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
                text="first make the link run as both its ends can (pcie.width_below_capability, "
                "pcie.speed_below_capability)"
                if is_below_its_ends(link, state)
                else "use one port of the card and keep the other for failover, or move the "
                "second port to a card in its own slot",
                by_hand=ByHand.HARDWARE,
            ),
        ),
        bounds=(sharing.bound(1 - fraction, FORMULA),),
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
    link = exam.host[Links].by_netdev.get(port.netdev or "")
    if link is None:
        reason = f"speed of {port.name}: the kernel does not own this port"
        raise CannotTellError(reason, f"mlxlink -d {port.pci_address}")
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
