"""Fewer channels than the cores near the card could serve."""

from collections.abc import Iterator

from wirespeed.facts.counters import Counters, Place
from wirespeed.facts.eswitch import Eswitch
from wirespeed.facts.ethtool import ethtool_command
from wirespeed.facts.locality import local_cores
from wirespeed.facts.queues import Queues
from wirespeed.model.bound import Bound, Limit
from wirespeed.model.ceiling import Input
from wirespeed.model.finding import Danger, Evidence, Finding, Remedy, Severity, StepCall
from wirespeed.model.observed import Absent, Known, known
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule
from wirespeed.model.symptom import Symptom

CORES_THAT_ONE_CHANNEL_WASTES = 4


def _check(exam: PortExam) -> Iterator[Finding]:
    netdev = exam.kernel_netdev
    queues = exam.host[Queues].of(netdev)
    if isinstance(queues.combined_channels_max, Absent):
        raise DoesNotApplyError("the driver has no combined channels that can be set")
    now = known(queues.combined_channels, "number of channels")
    most = known(queues.combined_channels_max, "number of channels that the card can have")
    if most == 0:
        raise DoesNotApplyError("the driver has channels for one direction only")
    if now == 1 and _is_switchdev(exam):
        raise DoesNotApplyError("see queues.channels_fell_with_eswitch_mode")
    near = local_cores(exam.host, exam.port)
    cores = known(near, "cores near the card")
    possible = min(most, cores)
    if now >= possible:
        return
    dropped = exam.host[Counters].delta(netdev, Place.NO_RECEIVE_BUFFER)
    evidence = [
        Evidence(
            found=f"{now} channel{'' if now == 1 else 's'} now, {most} at most",
            source=queues.combined_channels.source,
        ),
        Evidence(found=f"{cores} cores near the card", source=near.source),
    ]
    severity = Severity.NOTE
    if isinstance(dropped, Known) and dropped.value.count:
        severity = Severity.FAULT
        evidence.append(
            Evidence.of(dropped, f"{dropped.value.frames} frames dropped: no descriptor was free")
        )
    elif now == 1 and cores >= CORES_THAT_ONE_CHANNEL_WASTES:
        severity = Severity.RISK
    yield exam.finding(
        severity,
        tuple(evidence),
        so=f"the card can distribute this port's frames to only {now} of {cores} cores",
        remedies=(
            Remedy(
                text="set one channel per core near the card",
                commands=(ethtool_command("-L", netdev, "combined", str(possible)),),
                danger=Danger.DROPS_LINK,
                steps=(StepCall.of("channels", netdev=netdev, combined=possible),),
            ),
        ),
        bounds=()
        if severity is Severity.NOTE
        else (
            Bound.of_share(
                Limit.AT_MOST,
                1 - now / possible,
                f"of what {possible} channels carry",
                "1 - channels now / channels possible",
                Input(name="channels", shown=f"{now}", source=queues.combined_channels.source),
            ),
        ),
        unpriced="how much of this traffic one core can process is not known: measure before and "
        "after",
    )


def _is_switchdev(exam: PortExam) -> bool:
    pf = exam.host[Eswitch].pfs.get(exam.port.pci_address or "")
    return pf is not None and isinstance(pf.mode, Known) and pf.mode.value == "switchdev"


RULE = PortRule(
    slug="queues.channels_below_cores",
    title="Fewer channels than CPUs near the card",
    why="A channel is a receive and a transmit queue with an interrupt of its own, so the work "
    "of the kernel's network stack spreads over as many cores as there are channels. For "
    "latency, one channel per core is best. For throughput, the smallest number that does "
    "not overflow is enough, and many drivers start with fewer channels than cores: without "
    "drops this is only a note.",
    source="https://docs.kernel.org/networking/scaling.html (RSS: Suggested Configuration)",
    price="at most, if frames are dropped or one channel stands for four cores or more: "
    "1 - channels now / channels that the card's node has cores for",
    explains=(Symptom.CPU_BEHIND, Symptom.NO_DESCRIPTOR, Symptom.LOW_FIGURE),
    check=_check,
)
