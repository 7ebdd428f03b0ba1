"""What is found of a port that has no link costs nothing until it has one. Pure."""

from collections.abc import Sequence

from wirespeed.facts.link import Links
from wirespeed.model.fact import HostFacts
from wirespeed.model.finding import Danger, Finding, Severity
from wirespeed.model.observed import Known
from wirespeed.model.port import Port
from wirespeed.model.question import Question

CARRYING = (
    "coalescing.", "interrupts.", "iommu.", "memory.no_hugepages_on_node", "numa.", "offloads.",
    "pause.", "pcie.", "queues.", "steering.",
)  # fmt: skip
"""Rules about what a port carries. A link, a bond, VFs and firmware matter without a link too."""
NO_LINK_NOW = "; the port has no link now, so it costs nothing until it has one"


def ports_without_link(
    host: HostFacts, ports: Sequence[Port], question: Question
) -> frozenset[str]:
    """Give the names of ports that are known to have no carrier, and were not asked for by name."""
    links = host[Links].by_netdev if ports else {}
    return frozenset(
        port.name
        for port in ports
        if not {port.netdev, port.pci_address} & set(question.ports)
        and (link := links.get(port.netdev or "")) is not None
        and isinstance(link.is_up, Known)
        and not link.is_up.value
    )


def lowered(finding: Finding, without_link: frozenset[str]) -> Finding:
    """Make a note of it where it is about what a port without a link carries.

    No remedy drops a link that is not there.
    """
    if finding.where not in without_link:
        return finding
    remedies = tuple(
        remedy.model_copy(update={"danger": Danger.NONE})
        if remedy.danger is Danger.DROPS_LINK
        else remedy
        for remedy in finding.remedies
    )
    found = finding.model_copy(update={"remedies": remedies})
    if not finding.rule.startswith(CARRYING) or finding.severity is Severity.NOTE:
        return found
    return found.model_copy(
        update={"severity": Severity.NOTE, "so": finding.so + NO_LINK_NOW, "prices": ()}
    )
