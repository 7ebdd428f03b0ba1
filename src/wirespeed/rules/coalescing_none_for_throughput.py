"""An interrupt for every frame, where throughput matters."""

from collections.abc import Iterator

from wirespeed.facts.coalescing import CHOOSES_AT, Coalescing
from wirespeed.facts.counters import Counters, Place
from wirespeed.facts.ethtool import ethtool_command
from wirespeed.facts.interrupts import Interrupts
from wirespeed.model.finding import Danger, Evidence, Finding, Remedy, Severity, StepCall
from wirespeed.model.observed import Absent, Known, known
from wirespeed.model.port import PortKind
from wirespeed.model.question import Purpose
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule
from wirespeed.model.symptom import Symptom

MANY = 1000
"""Interrupts during the capture from which frames for each of them are told."""
FEW_FRAMES = 2


def _check(exam: PortExam) -> Iterator[Finding]:
    netdev = exam.kernel_netdev
    if exam.port.kind in (PortKind.VIRTIO, PortKind.HYPERV):
        raise DoesNotApplyError("the host delays the interrupts of a virtual port itself")
    coalescing = exam.host[Coalescing].of(netdev)
    if isinstance(coalescing.rx_usecs, Absent):
        raise DoesNotApplyError("the driver has no receive coalescing that can be set")
    adaptive = coalescing.adaptive_rx
    if not isinstance(adaptive, Absent) and known(adaptive, "adaptive coalescing"):
        return
    if known(coalescing.rx_usecs, "receive coalescing") != 0:
        return
    frames = coalescing.rx_frames
    if not isinstance(frames, Absent) and known(frames, "frames per interrupt") > 1:
        return
    evidence = [
        Evidence(found="rx-usecs 0, adaptive-rx off", source=coalescing.rx_usecs.source),
    ]
    measured = _frames_for_each(exam, netdev)
    is_costly = measured is not None and measured < FEW_FRAMES
    if measured is not None:
        evidence.append(
            Evidence(
                found=f"{measured:.1f} frames per interrupt during the capture",
                source="cat /proc/interrupts",
            )
        )
    settings: tuple[str, ...] = ("rx-usecs", "8")
    parameters: dict[str, object] = {"rx_usecs": 8}
    own = CHOOSES_AT.get(exam.port.driver or "")
    if own:
        # By ioctl(), ethtool prints `Adaptive RX: off` of them, too, and cannot turn it on.
        settings, parameters = ("rx-usecs", f"{own[0]}"), {"rx_usecs": own[0]}
    elif isinstance(adaptive, Known):
        settings, parameters = ("adaptive-rx", "on"), {"adaptive_rx": True}
    yield exam.finding(
        Severity.RISK if is_costly else Severity.NOTE,
        tuple(evidence),
        so="almost every frame interrupts the core"
        if is_costly
        else (
            "the card interrupts for every frame as soon as it arrives, unless the driver is "
            "polling"
        ),
        remedies=(
            Remedy(
                text="let the card wait for a few frames",
                commands=(ethtool_command("-C", netdev, *settings),),
                danger=Danger.DROPS_LINK,
                steps=(StepCall.of("coalescing", netdev=netdev, **parameters),),
            ),
        ),
        unpriced="the cost of an interrupt on this host is not known: measure before and after",
    )


def _frames_for_each(exam: PortExam, netdev: str) -> float | None:
    """Frames received for each interrupt of the capture. None: too few, or not counted."""
    received = exam.host[Counters].delta(netdev, Place.RECEIVED)
    found = exam.host[Interrupts].of_queues(exam.port.pci_address)
    if not isinstance(found, Known) or not isinstance(received, Known):
        return None
    new = [queue.new_of_cpu for queue in found.value]
    count = sum(sum(seen.value.values()) for seen in new if isinstance(seen, Known))
    return received.value.count / count if count >= MANY else None


RULE = PortRule(
    slug="coalescing.none_for_throughput",
    title="Interrupt coalescing off",
    why="Every interrupt costs CPU time on top of the work for the frame. Without coalescing "
    "there is one interrupt per frame until the load is high enough for the driver to poll. "
    "Some cards delay interrupts themselves and report 0 here, so without a measured count "
    "this finding is only a note.",
    source="ethtool(8), --coalesce: https://man7.org/linux/man-pages/man8/ethtool.8.html; "
    "https://docs.kernel.org/networking/napi.html",
    purposes=frozenset({Purpose.TCP, Purpose.STORAGE, Purpose.GUESTS}),
    explains=(Symptom.CPU_BEHIND, Symptom.LOW_FIGURE),
    check=_check,
)
