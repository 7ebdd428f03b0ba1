"""RPS where the card does its work already, and none where one queue feeds many cores."""

from collections.abc import Iterator

from wirespeed.facts.cpu import Cpus
from wirespeed.facts.cpu_list import cpu_list_text
from wirespeed.facts.ethtool import safe_netdev
from wirespeed.facts.link import Links
from wirespeed.facts.locality import cpu_mask_text, local_cpus
from wirespeed.facts.steering import Steering
from wirespeed.model.command import write_file
from wirespeed.model.finding import Evidence, Finding, Remedy, Severity, StepCall
from wirespeed.model.observed import Absent, CannotTellError, Known, known
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule
from wirespeed.model.symptom import Symptom

ONE_CORE_BPS = 10_000_000_000
"""Below, one core takes what the link brings."""


def _check(exam: PortExam) -> Iterator[Finding]:
    netdev = exam.kernel_netdev
    steering = exam.host[Steering].of(netdev)
    observed = steering.rps_cpus
    if not observed:
        source = f"grep . /sys/class/net/{netdev}/queues/rx-*/rps_cpus"
        raise CannotTellError("RPS of the receive queues was not read", source)
    if all(isinstance(mask, Absent) for mask in observed.values()):
        raise DoesNotApplyError("the kernel has no RPS")
    masks = {queue: known(m, f"RPS of receive queue {queue}") for queue, m in observed.items()}
    online = known(exam.host[Cpus].online, "which CPUs are online")
    if len(online) < 2:
        raise DoesNotApplyError("there is one CPU")
    folder = f"/sys/class/net/{safe_netdev(netdev)}/queues"
    helpers = frozenset().union(*masks.values())
    if len(masks) == 1 and not helpers:
        if _is_slow(exam, netdev):
            return
        found = f"1 receive queue for {len(online)} CPUs, and RPS is off"
        so = "one CPU does the network stack's receive work for the whole port"
        near = known(local_cpus(exam.host, exam.port), "CPUs near the card")
        remedy = Remedy(
            text="distribute the work above the driver over the other CPUs",
            commands=(write_file(f"{folder}/rx-0/rps_cpus", cpu_mask_text(near)),),
            steps=(StepCall.of("rps", netdev=netdev, cpus={"0": cpu_list_text(near)}),),
        )
    elif helpers and len(masks) >= len(online):
        found = f"{len(masks)} receive queues for {len(online)} CPUs, and RPS passes frames to "
        found += f"CPUs {cpu_list_text(helpers)}"
        handed_on = [queue for queue, mask in masks.items() if mask]
        so = (
            "the card already distributes frames over all cores, and RPS moves them to another "
            "core again"
        )
        remedy = Remedy(
            text="let the card alone distribute the frames",
            commands=tuple(write_file(f"{folder}/rx-{queue}/rps_cpus", "0") for queue in handed_on),
            steps=(StepCall.of("rps", netdev=netdev, cpus={str(q): "" for q in handed_on}),),
        )
    else:
        return
    yield exam.finding(
        Severity.NOTE,
        (Evidence(found=found, source=f"grep . /sys/class/net/{netdev}/queues/rx-*/rps_cpus"),),
        so=so,
        remedies=(remedy,),
        unpriced="it depends on the CPU time per frame above the driver: measure before and after",
    )


def _is_slow(exam: PortExam, netdev: str) -> bool:
    """Whether one core easily does the work of the link. A port without a line rate may be fast."""
    link = exam.host[Links].by_netdev.get(netdev)
    return (
        link is not None and isinstance(link.link_bps, Known) and link.link_bps.value < ONE_CORE_BPS
    )


RULE = PortRule(
    slug="steering.rps_against_rss",
    title="RPS setting conflicts with the number of queues",
    why="RPS passes received frames to other CPUs in software, with an inter-processor "
    "interrupt. With one queue it is the only way to use more than one core. If the card has "
    "a queue for every core, RPS is probably redundant and costs CPU time.",
    source="https://docs.kernel.org/networking/scaling.html (RPS: Suggested Configuration)",
    explains=(Symptom.CPU_BEHIND, Symptom.LOW_FIGURE),
    check=_check,
)
