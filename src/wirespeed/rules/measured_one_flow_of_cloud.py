"""A measured figure that is what a cloud grants one flow."""

from collections.abc import Iterator

from wirespeed.facts.clouds import instance_of
from wirespeed.facts.virtualization import Virtualization
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import value_or_none
from wirespeed.model.rule import DoesNotApplyError, FigureExam, FigureRule
from wirespeed.model.symptom import Symptom
from wirespeed.rules.measured_far_below_ceiling import measured_evidence

NEARLY = 0.9
"""Headers and the start of a run take the rest: 4.7 to 4.97 of 5 Gb/s are usual."""


def _check(exam: FigureExam) -> Iterator[Finding]:
    value_or_none(exam.host[Virtualization].guest_of)
    instance = instance_of(exam.host)
    if instance is None:
        raise DoesNotApplyError("no cloud that is known rents out this host")
    if not instance.cloud.flows:
        raise DoesNotApplyError(f"{instance.cloud.name} names no limit of one flow")
    run = exam.question.measured_by
    if run is not None and run.streams is not None and run.streams > 1:
        return
    for most_bps, holds in instance.cloud.flows:
        if NEARLY * most_bps <= exam.measured_bps <= most_bps:
            one = "one flow" if run is not None and run.streams == 1 else "one flow, if it was one"
            yield exam.finding(
                Severity.CEILING,
                (
                    measured_evidence(exam.question),
                    Evidence(
                        found=f"{instance.cloud.name} grants one flow at most "
                        f"{most_bps / 1e9:g} Gb/s {holds}",
                        source=instance.cloud.sizes,
                    ),
                ),
                so=f"the figure is what {instance.cloud.name} grants {one}, whatever the instance "
                "is granted in all",
                remedies=(
                    Remedy(
                        text="measure with 8 connections or more (`iperf3 -P 8`), and let the "
                        "program use several",
                        by_hand=ByHand.WORKLOAD,
                    ),
                    Remedy(
                        text="or place both instances in one cluster placement group, or use ENA "
                        "Express where the types support it",
                        by_hand=ByHand.FAR_END,
                    ),
                ),
                unpriced="measure with several connections: the difference is what it costs",
            )


RULE = FigureRule(
    slug="measured.one_flow_of_cloud",
    title="Measured rate is the cloud's limit for one flow",
    why="A cloud limits each flow (addresses, ports and protocol) below what it grants the "
    "instance. A single connection, a tunnel or a VPN is one flow: no setting of the guest "
    "makes it faster, and several connections together are.",
    source="https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-instance-network-bandwidth.html",
    explains=(Symptom.LOW_FIGURE,),
    check=_check,
)
