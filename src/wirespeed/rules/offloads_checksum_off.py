"""Checksums that the card could do and the CPU does."""

from collections.abc import Iterator

from wirespeed.facts.offload_cost import (
    UNPRICED,
    could_be_on,
    evidence_of,
    severity_without_offload,
    turn_on,
)
from wirespeed.facts.offloads import Offloads
from wirespeed.model.finding import Finding
from wirespeed.model.observed import Known, known
from wirespeed.model.rule import PortExam, PortRule
from wirespeed.model.symptom import Symptom

RECEIVE = "rx-checksumming"
TRANSMIT = "tx-checksumming"
"""The group: on when any of its members is."""
MEMBERS = ("tx-checksum-ip-generic", "tx-checksum-ipv4", "tx-checksum-ipv6")


def _check(exam: PortExam) -> Iterator[Finding]:
    netdev = exam.kernel_netdev
    offloads = exam.host[Offloads].of(netdev)
    known(offloads.features, "offload features")
    off = list(could_be_on(offloads, RECEIVE))
    group = offloads.feature(TRANSMIT)
    if not (isinstance(group, Known) and group.value.is_on):
        off += could_be_on(offloads, *MEMBERS)
    if not off:
        return
    yield exam.finding(
        severity_without_offload(exam.host, netdev),
        tuple(evidence_of(offloads, name) for name in off),
        so="the CPU reads every byte once more; without transmit checksums the card cannot "
        "segment, and without receive checksums the host merges few frames",
        remedies=(turn_on(netdev, "let the card compute and verify checksums", *off),),
        unpriced=UNPRICED,
    )


RULE = PortRule(
    slug="offloads.checksum_off",
    title="Checksum offload off",
    why="The TCP and UDP checksum covers all data, so computing it means reading all data. The "
    "card computes it while the data passes. Segmentation offload needs checksum offload, "
    "and the kernel turns both off together.",
    source="https://docs.kernel.org/networking/segmentation-offloads.html (TCP Segmentation "
    "Offload); https://docs.kernel.org/networking/checksum-offloads.html",
    explains=(Symptom.CPU_BEHIND, Symptom.LOW_FIGURE),
    check=_check,
)
