"""A guest's adapter with fewer queues than the guest has CPUs, and no more to be set within it."""

from collections.abc import Iterator

from wirespeed.facts.cpu import Cpus
from wirespeed.facts.queues import Queues
from wirespeed.facts.steering import Steering
from wirespeed.model.bound import Bound, Limit
from wirespeed.model.ceiling import Input
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import CannotTellError, Known
from wirespeed.model.port import Port, PortKind
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule
from wirespeed.model.symptom import Symptom

MADE_UP = (PortKind.VIRTIO, PortKind.HYPERV)
MADE_UP_DRIVERS = ("vmxnet3", "xen_netfront", "vif")
CPUS_THAT_ONE_QUEUE_WASTES = 4
MOST_QUEUES = 8
"""What a guest of vmxnet3 or of Hyper-V gets at the most, and what Proxmox advises for virtio."""


def _check(exam: PortExam) -> Iterator[Finding]:
    netdev = exam.kernel_netdev
    if not is_made_up(exam.port):
        raise DoesNotApplyError("no hypervisor made this adapter up")
    queues = _queues(exam, netdev)
    most = exam.host[Queues].of(netdev).combined_channels_max
    if isinstance(most, Known) and most.value > queues.value:
        raise DoesNotApplyError("more queues can be set within the guest")
    cpus = len(exam.host[Cpus].by_number)
    if not cpus:
        raise CannotTellError("the CPUs of this guest were not read", "lscpu -e")
    possible = min(cpus, MOST_QUEUES)
    if queues.value >= possible:
        return
    is_one = queues.value == 1 and cpus >= CPUS_THAT_ONE_QUEUE_WASTES
    is_one = is_one and not _is_spread(exam, netdev)
    yield exam.finding(
        Severity.RISK if is_one else Severity.NOTE,
        (
            Evidence.of(
                queues, f"{queues.value} queue{'' if queues.value == 1 else 's'}, and no more here"
            ),
            Evidence(found=f"{cpus} CPUs", source="lscpu -e"),
        ),
        so=f"{'one CPU receives' if queues.value == 1 else f'{queues.value} CPUs receive'} all "
        f"frames of {netdev}, and the others wait: the hypervisor gave the adapter no more queues",
        remedies=(
            Remedy(
                text=f"give the adapter {possible} queues on the host of this guest, and start the "
                "guest again: libvirt `<driver name='vhost' queues='…'/>`, Proxmox `queues=` of "
                "its network device, QEMU `mq=on,queues=`; or lend it a VF of the card",
                by_hand=ByHand.FAR_END,
            ),
        ),
        bounds=(
            Bound.of_share(
                Limit.AT_MOST,
                1 - queues.value / possible,
                f"of what {possible} queues carry",
                "1 - queues now / queues possible",
                Input(name="queues", shown=f"{queues.value}", source=queues.source),
            ),
        ),
    )


def is_made_up(port: Port) -> bool:
    """Tell an adapter that a hypervisor makes up from a card or a VF that it lends."""
    return port.kind in MADE_UP or port.driver in MADE_UP_DRIVERS


def _queues(exam: PortExam, netdev: str) -> Known[int]:
    """By ethtool, or by what sysfs lists where there is none."""
    channels = exam.host[Queues].of(netdev).combined_channels
    if isinstance(channels, Known):
        return channels
    listed = exam.host[Steering].netdevs.get(netdev)
    if listed is None or not listed.rps_cpus:
        raise CannotTellError(
            f"number of queues of {netdev}: it was not read", f"ethtool -l {netdev}"
        )
    return Known(len(listed.rps_cpus), f"ls /sys/class/net/{netdev}/queues")


def _is_spread(exam: PortExam, netdev: str) -> bool:
    """Tell whether RPS hands the frames of a queue to several CPUs."""
    listed = exam.host[Steering].netdevs.get(netdev)
    masks = listed.rps_cpus.values() if listed else ()
    return any(isinstance(mask, Known) and len(mask.value) > 1 for mask in masks)


RULE = PortRule(
    slug="queues.one_for_many_cpus",
    title="Guest's adapter with fewer queues than CPUs",
    why="Each queue of an adapter interrupts one CPU, which then does all the work of the network "
    "stack for its frames. A guest cannot have more queues than its hypervisor gives the adapter: "
    "with one queue, one CPU bounds the guest, however many it has.",
    source="https://pve.proxmox.com/wiki/Virtio-net-multiqueues; "
    "https://docs.kernel.org/networking/scaling.html",
    price="at most: 1 - queues / queues that the guest has CPUs for, up to 8",
    explains=(Symptom.CPU_BEHIND, Symptom.NO_DESCRIPTOR, Symptom.LOW_FIGURE),
    check=_check,
)
