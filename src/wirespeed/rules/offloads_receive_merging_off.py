"""Received frames of one flow that are not merged before the stack gets them."""

from collections.abc import Iterator

from wirespeed.facts.offload_cost import (
    UNPRICED,
    could_be_on,
    evidence_of,
    severity_without_offload,
    turn_on,
)
from wirespeed.facts.offloads import Offloads
from wirespeed.model.finding import Finding, Severity
from wirespeed.model.observed import Known, known
from wirespeed.model.question import Purpose
from wirespeed.model.rule import PortExam, PortRule
from wirespeed.model.symptom import Symptom

MERGING = "generic-receive-offload"
INSTEAD = ("large-receive-offload", "rx-gro-hw")


def _check(exam: PortExam) -> Iterator[Finding]:
    netdev = exam.kernel_netdev
    offloads = exam.host[Offloads].of(netdev)
    known(offloads.features, "offload features")
    if not could_be_on(offloads, MERGING):
        return
    others = [offloads.feature(name) for name in INSTEAD]
    if any(isinstance(other, Known) and other.value.is_on for other in others):
        return
    is_for_latency = exam.question.purpose is Purpose.LATENCY
    yield exam.finding(
        Severity.NOTE if is_for_latency else severity_without_offload(exam.host, netdev),
        (evidence_of(offloads, MERGING),),
        so="the network stack processes every received frame separately"
        + (", which may be intended: no frame waits for a second one" if is_for_latency else ""),
        remedies=(
            turn_on(netdev, "merge the frames of a flow before the stack processes them", MERGING),
        ),
        unpriced=UNPRICED,
    )


RULE = PortRule(
    slug="offloads.receive_merging_off",
    title="GRO off",
    why="GRO merges frames of a flow that arrive together into one packet of up to 64 KiB before "
    "IP and TCP process it, so the stack runs once for some 40 frames. Without GRO the "
    "receiving core limits a fast TCP stream.",
    source="https://docs.kernel.org/networking/segmentation-offloads.html (Generic Receive "
    "Offload)",
    explains=(Symptom.CPU_BEHIND, Symptom.LOW_FIGURE),
    check=_check,
)
