"""TCP segmentation that the card could do and does not."""

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
from wirespeed.model.observed import known
from wirespeed.model.rule import PortExam, PortRule

SEGMENTATION = ("tx-tcp-segmentation", "tx-tcp6-segmentation")
NEEDED = ("tx-checksum-ip-generic", "tx-checksum-ipv4", "tx-checksum-ipv6", "tx-scatter-gather")


def _check(exam: PortExam) -> Iterator[Finding]:
    netdev = exam.kernel_netdev
    offloads = exam.host[Offloads].of(netdev)
    known(offloads.features, "offload features")
    off = could_be_on(offloads, *SEGMENTATION)
    if not off:
        return
    missing = could_be_on(offloads, *NEEDED)
    yield exam.finding(
        severity_without_offload(exam.host, netdev),
        (
            *(evidence_of(offloads, name) for name in off),
            evidence_of(offloads, "generic-segmentation-offload"),
            *(evidence_of(offloads, name) for name in missing),
        ),
        so="the CPU cuts every TCP stream into frames itself, and hands each of them to the card",
        remedies=(
            turn_on(
                netdev,
                "let the card cut, with what that needs; look again afterwards, since a driver "
                "takes it back without a word where something else stands against it",
                *missing,
                *off,
            ),
        ),
        unpriced=UNPRICED,
    )


RULE = PortRule(
    slug="offloads.segmentation_off",
    title="TSO off",
    why="With it the stack passes up to 64 KiB at once through all its layers, and the card makes "
    "frames of them. Without it each frame of 1518 bytes takes that way by itself: some 40 times "
    "the work. It needs transmit checksums, and goes off with them. Generic segmentation still "
    "saves the way through the stack, not the work for each frame at the driver.",
    source="https://docs.kernel.org/networking/segmentation-offloads.html",
    check=_check,
)
