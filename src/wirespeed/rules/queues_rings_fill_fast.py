"""Rings that hold so few frames that at line rate they are full within microseconds."""

from collections.abc import Iterator

from wirespeed.ceilings.bounds import absence_bounds
from wirespeed.facts.counters import Counters, Place
from wirespeed.facts.ethtool import ethtool_command
from wirespeed.facts.link import Links
from wirespeed.facts.netstack import NetStack
from wirespeed.facts.queues import NetdevQueues, Queues
from wirespeed.model.finding import Danger, Evidence, Finding, Remedy, Severity, StepCall
from wirespeed.model.observed import Absent, Known, Observed, Unreadable, known
from wirespeed.model.port import PortKind
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule
from wirespeed.model.symptom import Symptom
from wirespeed.model.units import line_rate_pps

ONE_RING_S = 100e-6
"""Softirqs, a scheduler tick and other queues keep a core from a ring for about that long."""
RISKY_S = 50e-6
"""Below. Above it are the rings that drivers of 200 Gb/s come with: that is only noted."""
WHAT_HAPPENS = {"rx": "one ring is full", "tx": "the card has sent one full ring"}
WHAT_WAITS = {"rx": "arrive", "tx": "are to be sent"}
ALL_RINGS_S = 500e-6
"""Where the flows are spread over many rings, each fills more slowly."""
FULL_BYTES = 1518
"""One core takes full frames of a fast link, as it joins them; small ones at line rate it never
takes, however long its ring is."""


def _check(exam: PortExam) -> Iterator[Finding]:
    netdev = exam.kernel_netdev
    if exam.port.kind is PortKind.HYPERV and exam.host[NetStack].members(netdev):
        raise DoesNotApplyError("while this netdev has a VF below it, the VF carries the frames")
    queues = exam.host[Queues].of(netdev)
    rings = {
        "rx": (queues.rx_ring_descriptors, queues.rx_ring_descriptors_max),
        "tx": (queues.tx_ring_descriptors, queues.tx_ring_descriptors_max),
    }
    if all(isinstance(most, Absent) for _, most in rings.values()):
        raise DoesNotApplyError("the driver has no ring that can be set")
    line_rate = exam.host[Links].by_netdev[netdev].link_bps
    if isinstance(line_rate, Absent):
        raise DoesNotApplyError(f"the port has no line rate: {line_rate.reason}")
    link_bps = known(line_rate, "speed of the link")
    pps = float(line_rate_pps(link_bps, exam.question.frame_bytes))
    count = _channels(queues)
    for direction, (now_seen, most_seen) in rings.items():
        if isinstance(most_seen, Absent):
            continue
        now = known(now_seen, f"descriptors in the {direction} rings")
        most = known(most_seen, f"descriptors that the {direction} rings can have")
        if now >= most or now / pps >= ONE_RING_S or now * count / pps >= ALL_RINGS_S:
            continue
        yield exam.finding(
            Severity.RISK if _is_risky(exam, direction, link_bps, now) else Severity.NOTE,
            (
                Evidence(
                    found=f"{now} descriptors in "
                    + (
                        f"the {direction} ring"
                        if count == 1
                        else f"each of {count} {direction} rings"
                    )
                    + f", of {most}",
                    source=now_seen.source,
                ),
                Evidence(
                    found=f"{link_bps / 1e9:g} Gb/s are {pps / 1e6:.2f} frames of "
                    f"{exam.question.frame_bytes} bytes in a microsecond",
                    source=line_rate.source,
                ),
            ),
            so=f"at line rate {WHAT_HAPPENS[direction]} in {now / pps * 1e6:.0f} µs, and with "
            f"{most} descriptors in {most / pps * 1e6:.0f} µs",
            remedies=(
                Remedy(
                    text=f"lengthen the rings to hold the frames that {WHAT_WAITS[direction]} "
                    "while a core is busy",
                    commands=(ethtool_command("-G", netdev, direction, str(most)),),
                    danger=Danger.DROPS_LINK,
                    steps=(StepCall.of("rings", netdev=netdev, **{direction: most}),),
                ),
            ),
            bounds=absence_bounds(now_seen, line_rate, exam.question.frame_bytes),
        )


def _is_risky(exam: PortExam, direction: str, link_bps: int, now: int) -> bool:
    """Tell whether it is short for what the port is for or for full frames, or has lost some."""
    frame_bytes = exam.question.frame_bytes
    if now / float(line_rate_pps(link_bps, frame_bytes)) >= RISKY_S:
        return False
    full_pps = float(line_rate_pps(link_bps, max(frame_bytes, FULL_BYTES)))
    if exam.question.purpose is not None or now / full_pps < RISKY_S:
        return True
    lost = exam.host[Counters].delta(exam.port.netdev, Place.NO_RECEIVE_BUFFER)
    return direction == "rx" and isinstance(lost, Known) and lost.value.count > 0


def _channels(queues: NetdevQueues) -> int:
    """Queues of a direction. One where the driver has none to set: then that is what it has."""
    seen: tuple[Observed[int], ...] = (queues.combined_channels, queues.rx_channels)
    counts = [n.value for n in seen if isinstance(n, Known)]
    if isinstance(queues.combined_channels, Unreadable):
        known(queues.combined_channels, "number of channels")
    return max(1, *counts) if counts else 1


RULE = PortRule(
    slug="queues.rings_fill_fast",
    title="Receive rings fill within microseconds at line rate",
    why="A ring must hold the frames that arrive, or wait to be sent, while its core does other "
    "work. It bridges its number of descriptors divided by the frames per second. Small "
    "frames at line rate are more than one core takes, whatever the ring: without loss and "
    "without a purpose that is only noted. With "
    "segmentation offload a transmit descriptor holds more than one frame and lasts longer.",
    source="computed from the rings, the link and the frame size; ethtool(8), --set-ring: "
    "https://man7.org/linux/man-pages/man8/ethtool.8.html",
    price="at most: a core may be away for (descriptors of the ring / line rate)",
    explains=(Symptom.NO_DESCRIPTOR, Symptom.LOW_FIGURE),
    check=_check,
)
