"""The ledger of a port: every ceiling of its path, from the facts."""

from wirespeed.ceilings.pcie import PcieLink, pcie_ceiling
from wirespeed.facts.pci import Pci
from wirespeed.model.ceiling import Ceiling, Direction, Ledger
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import CannotTellError, known
from wirespeed.model.port import Port
from wirespeed.model.question import Question


def build_ledger(host: HostFacts, port: Port, question: Question) -> Ledger:
    """Compute what can be computed; the rest is named with its reason."""
    ceilings: list[Ceiling] = []
    unknown: list[str] = []
    try:
        ceilings += _pcie(host, port, question)
    except CannotTellError as error:
        unknown.append(f"pcie: {error.reason}")
    return Ledger(
        port=port.name,
        frame_bytes=question.frame_bytes,
        ceilings=tuple(ceilings),
        unknown=tuple(unknown),
    )


def _pcie(host: HostFacts, port: Port, question: Question) -> list[Ceiling]:
    pci = host[Pci]
    found = []
    for address in pci.hops.get(port.pci_address or "", ()):
        hop = pci.functions[address]
        link = PcieLink(
            gt_per_s=known(hop.gt_per_s, f"speed of {address}"),
            lanes=known(hop.lanes, f"width of {address}"),
        )
        found += [
            pcie_ceiling(link, question.frame_bytes, direction, f"pcie {address}", "lspci -vv")
            for direction in Direction
        ]
    return found
