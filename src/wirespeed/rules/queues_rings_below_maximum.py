"""A receive ring below its maximum on a port that just dropped frames, or paused its peer."""

from collections.abc import Iterator

from wirespeed.ceilings.bounds import absence_bounds
from wirespeed.facts.counters import Counters, Delta, Place
from wirespeed.facts.ethtool import ethtool_command
from wirespeed.facts.link import Links
from wirespeed.facts.offloads import Offloads
from wirespeed.facts.queues import Queues
from wirespeed.model.bound import Bound
from wirespeed.model.finding import Danger, Evidence, Finding, Remedy, Severity, StepCall
from wirespeed.model.observed import Absent, Known, Observed, known
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule
from wirespeed.model.symptom import Symptom

DROPS_WITHOUT = "mlx5_core"
"""A driver whose card drops and counts what finds no descriptor (rx_out_of_buffer), and does not
wait for one: its pauses come from its own buffer, which PCI Express, the memory or RDMA fills."""
WAITS = "dropless_rq"
"""Private flag of its vendor's driver with which the card waits instead."""


def _check(exam: PortExam) -> Iterator[Finding]:
    netdev = exam.kernel_netdev
    queues = exam.host[Queues].of(netdev)
    if isinstance(queues.rx_ring_descriptors_max, Absent):
        raise DoesNotApplyError("the driver has no receive ring that can be set")
    now = known(queues.rx_ring_descriptors, "descriptors in a receive ring")
    most = known(queues.rx_ring_descriptors_max, "descriptors that a receive ring can have")
    if now >= most:
        return
    dropped = exam.host[Counters].delta(netdev, Place.NO_RECEIVE_BUFFER)
    pauses = exam.host[Counters].delta(netdev, Place.PAUSE_SENT)
    is_paused_alone = _has_grown(pauses) and not _has_grown(dropped)
    if isinstance(pauses, Known) and is_paused_alone and _waits_for_descriptors(exam, netdev):
        yield _held_back(exam, netdev, now, most, pauses)
        return
    if isinstance(dropped, Absent):
        raise DoesNotApplyError("the driver does not count frames that found no descriptor")
    drops = known(dropped, "frames dropped without a free receive descriptor")
    if not drops.count:
        return
    ring = queues.rx_ring_descriptors
    yield exam.finding(
        Severity.FAULT,
        (
            Evidence(found=f"{now} descriptors in a receive ring, of {most}", source=ring.source),
            Evidence(
                found=f"{drops.frames} frames dropped in {drops.seconds:.2f} s: none was free",
                source=dropped.source,
            ),
        ),
        so=f"bursts longer than {now} frames in a queue are lost; TCP sends them again, UDP does "
        "not",
        remedies=(_longer(netdev, most),),
        bounds=_away(exam, netdev),
        unpriced=f"measured: {drops.per_second:.0f} frames/s were dropped during the capture",
    )


def _has_grown(delta: Observed[Delta]) -> bool:
    return isinstance(delta, Known) and delta.value.count > 0


def _waits_for_descriptors(exam: PortExam, netdev: str) -> bool:
    """Tell whether the card holds frames back while a ring is full, and so pauses its peer."""
    if exam.port.driver != DROPS_WITHOUT:
        return True
    flag = exam.host[Offloads].of(netdev).private_flag(WAITS)
    return not isinstance(flag, Absent) and known(flag, f"{WAITS} of {netdev}")


def _held_back(exam: PortExam, netdev: str, now: int, most: int, pauses: Known[Delta]) -> Finding:
    """Of a card that pauses its peer before it drops."""
    ring = exam.host[Queues].of(netdev).rx_ring_descriptors
    return exam.finding(
        Severity.RISK,
        (
            Evidence(found=f"{now} descriptors in a receive ring, of {most}", source=ring.source),
            Evidence.of(
                pauses,
                f"{pauses.value.count} pause frames sent in {pauses.value.seconds:.2f} s",
            ),
        ),
        so="bursts longer than the rings fill the card's buffer, and the card pauses the peer "
        "instead of dropping frames",
        remedies=(_longer(netdev, most),),
        bounds=_away(exam, netdev),
        unpriced="pause.sent shows the paused time if the card counts it",
    )


def _away(exam: PortExam, netdev: str) -> tuple[Bound, ...]:
    """How long a core may be away from the ring."""
    ring = exam.host[Queues].of(netdev).rx_ring_descriptors
    link_bps = exam.host[Links].by_netdev[netdev].link_bps
    return absence_bounds(ring, link_bps, exam.question.frame_bytes)


def _longer(netdev: str, most: int) -> Remedy:
    return Remedy(
        text="lengthen the rings for longer bursts; if frames are still dropped, the cores that "
        "empty the rings are too slow or too few",
        commands=(ethtool_command("-G", netdev, "rx", str(most)),),
        danger=Danger.DROPS_LINK,
        steps=(StepCall.of("rings", netdev=netdev, rx=most),),
    )


RULE = PortRule(
    slug="queues.rings_below_maximum",
    title="Drops or pauses while receive rings are below maximum",
    why="The card puts each frame into a descriptor of a ring that the host has to empty. While "
    "the core that empties the ring is away, the ring must hold the incoming frames. When it "
    "is full, the card drops frames or pauses its peer. A longer ring bridges a longer "
    "absence; it does not make the core faster. A ConnectX pauses for a full ring only with "
    "dropless_rq: without it, pauses while rx_out_of_buffer stands still are not of the rings.",
    source="ethtool(8), --set-ring: https://man7.org/linux/man-pages/man8/ethtool.8.html; "
    "https://docs.kernel.org/networking/device_drivers/ethernet/mellanox/mlx5/counters.html "
    "(rx_out_of_buffer); https://doc.dpdk.org/guides/nics/mlx5.html (delay drop, dropless_rq); "
    "https://github.com/LibreQoE/LibreQoS/issues/417 (pause, no drops)",
    price="at most: a core may be away for (descriptors of the ring / line rate)",
    explains=(Symptom.NO_DESCRIPTOR, Symptom.PAUSES_SENT, Symptom.LOW_FIGURE),
    check=_check,
)
