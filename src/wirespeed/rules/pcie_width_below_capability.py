"""A card, or a hop above it, that runs on fewer lanes than both of its ends can do."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from wirespeed.ceilings.pcie import PcieLink, pcie_ceiling
from wirespeed.facts.pci import Pci, PciFunction
from wirespeed.model.ceiling import Direction
from wirespeed.model.finding import Change, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Absent, Known, known
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule


def _check(exam: PortExam) -> Iterator[Finding]:
    pci = exam.host[Pci]
    hops = pci.hops.get(exam.port.pci_address or "", ())
    if not hops or isinstance(pci.functions[hops[0]].lanes, Absent):
        raise DoesNotApplyError("there is no PCI Express link behind this port")
    for lower, upper in pairwise(hops):
        yield from _link(exam, pci.functions[lower], pci.functions[upper])


def _link(exam: PortExam, lower: PciFunction, upper: PciFunction) -> Iterator[Finding]:
    """One link has two ends: `lower` reports its state, both report what they can do."""
    if isinstance(lower.lanes, Absent):
        return  # an internal port of a switch or a root complex has no link of its own
    lanes = known(lower.lanes, f"width of the link at {lower.address}")
    capable = known(lower.max_lanes, f"width that {lower.address} can do")
    slot = known(upper.max_lanes, f"width that {upper.address} can do")
    possible = min(capable, slot)
    if lanes >= capable:
        return
    now = PcieLink(known(lower.gt_per_s, f"speed of the link at {lower.address}"), lanes)
    evidence = [
        Evidence.of(o, text)
        for o, text in (
            (lower.lanes, f"x{lanes} now"),
            (lower.max_lanes, f"{lower.address} can do x{capable}"),
            (upper.max_lanes, f"the slot above it, {upper.address}, can do x{slot}"),
        )
        if isinstance(o, Known)
    ]
    is_fault = lanes < possible
    after = replace(now, lanes=possible if is_fault else capable)
    yield Finding(
        rule=RULE.slug,
        where=exam.port.name,
        severity=Severity.FAULT if is_fault else Severity.CEILING,
        evidence=tuple(evidence),
        so=f"the link at {lower.address} moves {lanes}/{after.lanes} of what the card could",
        remedies=(
            Remedy(text="reseat the card and look for bent pins, a riser or a BIOS bifurcation")
            if is_fault
            else Remedy(text=f"move the card to an x{capable} slot; no software step mends this"),
        ),
        changes=tuple(
            Change(
                after=pcie_ceiling(
                    after,
                    exam.question.frame_bytes,
                    direction,
                    f"pcie {lower.address}",
                    "after the remedy",
                )
            )
            for direction in Direction
        ),
    )


RULE = PortRule(
    slug="pcie.width_below_capability",
    title="PCIe link narrower than the card",
    why="Every lane that a card does not have is bandwidth that it does not have. A slot of x16 "
    "that is wired x4, a riser, a BIOS that splits the slot, or a dirty contact all look alike "
    "from above: the card works, at a fraction.",
    source="PCI Express Base Specification, section 7.5.3 (Link Capabilities, Link Status); "
    "https://docs.kernel.org/PCI/sysfs-pci.html",
    purposes=None,
    check=_check,
)
