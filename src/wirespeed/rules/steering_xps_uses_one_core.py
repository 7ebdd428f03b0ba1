"""XPS that gives no CPU a transmit queue of its own: not set, or set to one CPU everywhere."""

from collections.abc import Iterable, Iterator

from wirespeed.facts.cpu import Cpus
from wirespeed.facts.cpu_list import cpu_list_text
from wirespeed.facts.ethtool import safe_netdev
from wirespeed.facts.locality import cpu_mask_text
from wirespeed.facts.steering import Steering
from wirespeed.model.command import write_file
from wirespeed.model.finding import Evidence, Finding, Remedy, Severity, StepCall
from wirespeed.model.observed import Absent, CannotTellError, known
from wirespeed.model.port import PortKind
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule


def _check(exam: PortExam) -> Iterator[Finding]:
    netdev = exam.kernel_netdev
    observed = exam.host[Steering].of(netdev).xps_cpus
    if not observed:
        source = f"grep . /sys/class/net/{netdev}/queues/tx-*/xps_cpus"
        raise CannotTellError("XPS of the transmit queues was not read", source)
    if len(observed) < 2:
        raise DoesNotApplyError("it has one transmit queue")
    if all(isinstance(mask, Absent) for mask in observed.values()):
        raise DoesNotApplyError("the kernel has no XPS for it")
    masks = [known(mask, f"XPS of transmit queue {queue}") for queue, mask in observed.items()]
    online = known(exam.host[Cpus].online, "which CPUs are online")
    used = frozenset().union(*masks)
    if len(used) > 1 or len(online) < 2:
        return
    if used:
        severity = Severity.RISK
        found = f"all {len(masks)} transmit queues are for CPU {next(iter(used))}"
        so = (
            "XPS helps only that CPU; for all other CPUs a hash of the flow chooses the queue, "
            "so CPUs wait for each other's queues"
        )
    else:
        severity = Severity.NOTE
        found = f"xps_cpus of all {len(masks)} transmit queues is 0: XPS is not set"
        so = "a hash of the flow chooses the queue, whichever CPU sends, so CPUs share queues"
    unpriced = (
        "it costs time waiting for locks and caches, which depends on the traffic: measure before "
        "and after"
    )
    if exam.port.kind is PortKind.HYPERV:
        severity = Severity.NOTE
        unpriced = "it costs nothing: XPS is not asked"
        so = "hv_netvsc itself chooses the queue by a hash of the flow and does not ask XPS"
    source = next(iter(observed.values())).source.replace("tx-0", "tx-*").replace("cat", "grep .")
    yield exam.finding(
        severity,
        (Evidence(found=found, source=source),),
        so=so,
        remedies=() if exam.port.kind is PortKind.HYPERV else (_spread(netdev, observed, online),),
        unpriced=unpriced,
    )


def _spread(netdev: str, queues: Iterable[int], online: frozenset[int]) -> Remedy:
    """CPUs over queues in turn: each CPU has one queue, and each queue its CPUs."""
    order = list(queues)
    cpus_of: dict[int, set[int]] = {queue: set() for queue in order}
    for turn, cpu in enumerate(sorted(online)):
        cpus_of[order[turn % len(order)]].add(cpu)
    folder = f"/sys/class/net/{safe_netdev(netdev)}/queues"
    return Remedy(
        text="give each CPU a transmit queue",
        commands=tuple(
            write_file(f"{folder}/tx-{queue}/xps_cpus", cpu_mask_text(cpus))
            for queue, cpus in cpus_of.items()
            if cpus
        ),
        steps=(
            StepCall.of(
                "xps",
                netdev=netdev,
                cpus={str(queue): cpu_list_text(cpus) for queue, cpus in cpus_of.items() if cpus},
            ),
        ),
    )


RULE = PortRule(
    slug="steering.xps_uses_one_core",
    title="XPS gives no CPU its own transmit queue",
    why="With XPS each CPU sends on queues of its own and takes their completions, so CPUs do "
    "not wait for each other. A mask of 0 does not steer to CPU 0: it means that XPS is not "
    "set, and the kernel picks the queue by a hash of the flow. Most drivers set XPS when "
    "they start; a change of the number of channels can leave it unset.",
    source="https://docs.kernel.org/networking/scaling.html (XPS: Transmit Packet Steering); "
    "netvsc_pick_tx() in https://github.com/torvalds/linux/blob/master/drivers/net/hyperv/"
    "netvsc_drv.c",
    check=_check,
)
