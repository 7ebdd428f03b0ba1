"""Coalescing that makes a frame wait, where latency matters."""

from collections.abc import Iterator

from wirespeed.facts.coalescing import CHOOSES_AT, Coalescing
from wirespeed.facts.ethtool import ethtool_command
from wirespeed.model.finding import Danger, Evidence, Finding, Remedy, Severity, StepCall
from wirespeed.model.observed import Absent, Known, known
from wirespeed.model.question import Purpose
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule

SHORT_USECS = 5
"""Such a wait is not worth a word."""


def _check(exam: PortExam) -> Iterator[Finding]:
    netdev = exam.kernel_netdev
    coalescing = exam.host[Coalescing].of(netdev)
    if isinstance(coalescing.rx_usecs, Absent) and isinstance(coalescing.adaptive_rx, Absent):
        raise DoesNotApplyError("the driver has no receive coalescing that can be set")
    adaptive = coalescing.adaptive_rx
    is_adaptive = not isinstance(adaptive, Absent) and known(adaptive, "adaptive coalescing")
    waits_usecs = (
        0
        if isinstance(coalescing.rx_usecs, Absent)
        else known(coalescing.rx_usecs, "receive coalescing")
    )
    driver = exam.port.driver or ""
    chooses = not is_adaptive and waits_usecs in CHOOSES_AT.get(driver, ())
    if not is_adaptive and not chooses and waits_usecs <= SHORT_USECS:
        return
    settings: list[tuple[str, str]] = []
    parameters: dict[str, object] = {}
    if is_adaptive:
        # On its own: mlx5 takes no numbers in the command that turns adaptive off.
        settings.append(("adaptive-rx", "off"))
        parameters["adaptive_rx"] = False
    if isinstance(coalescing.rx_usecs, Known):
        settings.append(("rx-usecs", "0"))
        parameters["rx_usecs"] = 0
    yield exam.finding(
        Severity.RISK if is_adaptive or chooses else Severity.FAULT,
        (
            Evidence(
                found=f"rx-usecs {waits_usecs}{', adaptive' if is_adaptive else ''}"
                f"{f', with which {driver} chooses the wait itself' if chooses else ''}",
                source=f"ethtool -c {netdev}",
            ),
        ),
        so="under load the driver itself lengthens the wait"
        if is_adaptive or chooses
        else f"a single frame waits up to {waits_usecs} µs before the card interrupts the host",
        remedies=(
            Remedy(
                text="interrupt the host for each frame at once; this costs one interrupt per "
                "frame",
                commands=tuple(ethtool_command("-C", netdev, *words) for words in settings),
                danger=Danger.DROPS_LINK,
                steps=(StepCall.of("coalescing", netdev=netdev, **parameters),),
            ),
        ),
        unpriced="it adds latency and loses no frames",
    )


RULE = PortRule(
    slug="coalescing.slow_for_latency",
    title="Interrupt coalescing adds latency",
    why="After a frame arrives, the card waits rx-usecs for more before it interrupts the host; "
    "adaptive mode lengthens this wait as the load grows. That saves interrupts but delays "
    "every reply.",
    source="ethtool(8), --coalesce: https://man7.org/linux/man-pages/man8/ethtool.8.html",
    purposes=frozenset({Purpose.LATENCY}),
    check=_check,
)
