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
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule
from wirespeed.model.symptom import Symptom

SEGMENTATION = ("tx-tcp-segmentation", "tx-tcp6-segmentation")
NEEDED = ("tx-checksum-ip-generic", "tx-checksum-ipv4", "tx-checksum-ipv6", "tx-scatter-gather")
LEFT_OFF = ("r8169",)
"""Drivers that come with segmentation off since their cards stop sending with it: *r8169: change
back SG and TSO to be disabled by default*, Linux 5.7 and stable kernels of April 2020."""


def _check(exam: PortExam) -> Iterator[Finding]:
    netdev = exam.kernel_netdev
    offloads = exam.host[Offloads].of(netdev)
    known(offloads.features, "offload features")
    off = could_be_on(offloads, *SEGMENTATION)
    if not off:
        return
    if exam.port.driver in LEFT_OFF:
        raise DoesNotApplyError(
            f"{exam.port.driver} leaves it off on purpose: with it, some of its cards stop sending"
        )
    missing = could_be_on(offloads, *NEEDED)
    yield exam.finding(
        severity_without_offload(exam.host, netdev),
        (
            *(evidence_of(offloads, name) for name in off),
            evidence_of(offloads, "generic-segmentation-offload"),
            *(evidence_of(offloads, name) for name in missing),
        ),
        so="the CPU segments every TCP stream and passes each frame to the card separately",
        remedies=(
            turn_on(
                netdev,
                "turn segmentation offload on, with the offloads that it needs; then check it, "
                "since a driver turns it off again without a message if another setting excludes "
                "it",
                *missing,
                *off,
            ),
        ),
        unpriced=UNPRICED,
    )


RULE = PortRule(
    slug="offloads.segmentation_off",
    title="TSO off",
    why="With segmentation offload the stack passes up to 64 KiB at once through all its layers, "
    "and the card cuts it into frames. Without it each frame of 1518 bytes passes through "
    "the stack separately: some 40 times the work. It needs transmit checksum offload and is "
    "turned off with it. Generic segmentation (GSO) still saves the work in the stack, but "
    "not the work per frame in the driver.",
    source="https://docs.kernel.org/networking/segmentation-offloads.html",
    explains=(Symptom.LOW_FIGURE,),
    check=_check,
)
