"""A card and an accelerator whose transfers to each other go up to the root complex."""

from collections.abc import Iterator

from wirespeed.facts.accelerators import Accelerator, Accelerators
from wirespeed.facts.iommu import Iommu
from wirespeed.facts.pci import Pci
from wirespeed.facts.pci_config import PciConfig
from wirespeed.facts.virtualization import Virtualization
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Absent, CannotTellError, Known, known
from wirespeed.model.port import PortKind
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule

MOST_SHOWN = 4


def _check(exam: PortExam) -> Iterator[Finding]:
    address = exam.port.pci_address
    if address is None:
        raise DoesNotApplyError("it is not a PCI function")
    function = exam.host[Pci].functions.get(address)
    if exam.port.kind is PortKind.VIRTIO or (function and function.emulator):
        raise DoesNotApplyError("a hypervisor made this adapter up: it reads no accelerator")
    accelerators = known(exam.host[Accelerators].found, "which accelerators there are")
    if not accelerators:
        raise DoesNotApplyError("there is no accelerator")
    way = exam.host[Pci].hops.get(address)
    if way is None:
        raise CannotTellError("the PCIe path above the card was not read", "lspci -Dtv")
    beside = [(one, at) for one in accelerators if (at := _parting(way, one)) is not None]
    if not beside:
        is_guest = exam.host[Virtualization].is_guest
        if is_guest == Known(True, is_guest.source):
            raise CannotTellError(
                "where card and accelerator meet is not shown to a guest: its PCI tree is the "
                "hypervisor's",
                "lspci -Dtv on the host of this guest",
            )
        yield _apart(exam, way, accelerators)
        return
    redirecting: dict[str, list[str]] = {}
    for one, at in beside:
        redirects = exam.host[PciConfig].of(at).acs_redirects
        if not isinstance(redirects, Absent) and known(redirects, f"access control at {at}"):
            redirecting.setdefault(at, []).append(one.address)
    for at, peers in redirecting.items():
        yield _redirected(exam, address, at, peers)


def _parting(way: tuple[str, ...], one: Accelerator) -> str | None:
    """Give the port at which the card's way meets the accelerator's, seen from the card.

    None where they meet at no switch.
    """
    meet = next((n for n, hop in enumerate(way) if hop in one.hops), None)
    return way[meet - 1] if meet else None


def _redirected(exam: PortExam, address: str, at: str, peers: list[str]) -> Finding:
    redirects = exam.host[PciConfig].of(at).acs_redirects
    return exam.finding(
        Severity.RISK,
        (
            Evidence(
                found=f"{at}, above the card, redirects requests to its peers (ACS)",
                source=redirects.source,
            ),
            Evidence(
                found=f"below the same switch: {', '.join(peers[:MOST_SHOWN])}"
                + (f" and {len(peers) - MOST_SHOWN} more" if len(peers) > MOST_SHOWN else ""),
                source="lspci -Dtv",
            ),
            *_state(exam, address),
        ),
        so="what the card writes to an accelerator below the same switch goes up to the root "
        "complex and down again, over a link that all devices below the switch share",
        remedies=(
            Remedy(
                text="if no guest has a device below this switch, turn ACS off in the BIOS, or "
                f"boot with pci=disable_acs_redir={at}; devices below it can then access "
                "each other's memory without the IOMMU, and share an IOMMU group",
                by_hand=ByHand.BIOS,
            ),
        ),
        unpriced="no counter shows the traffic between card and accelerator: measure it before and "
        "after, as with ib_write_bw --use_cuda",
    )


def _apart(exam: PortExam, way: tuple[str, ...], accelerators: tuple[Accelerator, ...]) -> Finding:
    shown = accelerators[:MOST_SHOWN]
    return exam.finding(
        Severity.NOTE,
        (
            Evidence(found=f"the card is below root port {way[-1]}", source="lspci -Dtv"),
            *(
                Evidence(
                    found=f"accelerator {one.address} is below {one.hops[-1]}"
                    + ("" if one.numa_node is None else f", node {one.numa_node}"),
                    source="lspci -Dtv",
                )
                for one in shown
            ),
            *_state(exam, way[0]),
        ),
        so="no accelerator shares a PCIe switch with the card: transfers between them cross the "
        "root complex, and between NUMA nodes also the link between the sockets",
        remedies=(
            Remedy(
                text="for direct transfers, move the card to a slot below the accelerator's switch",
                by_hand=ByHand.HARDWARE,
            ),
        ),
        unpriced="no counter shows the traffic between card and accelerator",
    )


def _state(exam: PortExam, address: str) -> Iterator[Evidence]:
    """What else decides of such transfers: the IOMMU as the kernel took it, relaxed ordering."""
    group = exam.host[Iommu].by_function.get(address)
    if isinstance(group, Known) and isinstance(group.value.domain, Known):
        domain = group.value.domain
        how = "bypasses the IOMMU" if domain.value == "identity" else "is translated by the IOMMU"
        yield Evidence.of(domain, f"the card's DMA {how}: domain {domain.value}")
    relaxed = exam.host[PciConfig].of(address).relaxed_ordering
    if isinstance(relaxed, Known):
        yield Evidence.of(relaxed, f"relaxed ordering is {'on' if relaxed.value else 'off'}")


RULE = PortRule(
    slug="peers.through_root",
    title="Card-to-accelerator transfers cross the root complex",
    why="A PCIe switch forwards requests from a card to a GPU below the same switch directly, at "
    "the speed of their links, unless access control (ACS) at the card's port redirects them "
    "upwards; kernels turn ACS on if the IOMMU is on. Relaxed ordering lets writes overtake "
    "each other. What counts is the ACS setting at the port where the two paths separate, on "
    "the requester's side.",
    source="https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html (PCI "
    "Access Control Services); https://docs.kernel.org/driver-api/pci/p2pdma.html; "
    "https://docs.kernel.org/admin-guide/kernel-parameters.html (pci=disable_acs_redir)",
    check=_check,
)
