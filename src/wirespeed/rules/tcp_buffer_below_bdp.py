"""Socket buffers that cannot hold what one connection has in flight at line rate."""

from collections.abc import Iterator
from dataclasses import dataclass

from wirespeed.ceilings.tcp import (
    UNSCALED_WINDOW_BYTES,
    bandwidth_delay_bytes,
    longest_rtt_s,
    tcp_payload_bytes,
    tcp_window_ceiling,
    window_of_buffer_bytes,
)
from wirespeed.facts.kernel import Kernel
from wirespeed.facts.link import Links
from wirespeed.facts.sysctl import WINDOW_SCALING, Sysctls, sysctl_remedy
from wirespeed.model.ceiling import Direction
from wirespeed.model.fact import HostFacts
from wirespeed.model.finding import Change, Evidence, Finding, Severity
from wirespeed.model.observed import CannotTellError, known
from wirespeed.model.question import Purpose
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule
from wirespeed.model.symptom import Symptom

MEASURED_SHARE = (6, 6)
"""Since then the window's share of a receive buffer is measured, not set."""


@dataclass(frozen=True, slots=True)
class _Buffer:
    """What one connection may have, in one direction."""

    name: str
    direction: Direction
    sizes: tuple[int, int, int]
    window_bytes: int
    """The most that can be in flight."""


def _check(exam: PortExam) -> Iterator[Finding]:
    link = exam.host[Links].by_netdev.get(exam.port.netdev or "")
    if link is None:
        raise DoesNotApplyError("this port has no netdev, and so no sockets")
    if not tcp_payload_bytes(exam.question.frame_bytes):
        raise DoesNotApplyError("a frame of this size has no room for TCP payload")
    link_bps = known(link.link_bps, f"the link speed of {exam.port.name}")
    if not link_bps:
        raise CannotTellError(f"the link speed of {exam.port.name}", link.link_bps.source)
    if exam.host[Sysctls].scales_no_window:
        raise DoesNotApplyError(
            f"{WINDOW_SCALING} is 0: a window ends at {UNSCALED_WINDOW_BYTES} bytes, whatever the "
            "buffer"
        )
    buffers = tuple(_buffers(exam.host))
    linked = Evidence(found=f"link of {link_bps / 1e9:g} Gb/s", source=link.link_bps.source)
    frame_bytes, rtt_s = exam.question.frame_bytes, exam.question.rtt_s
    if rtt_s is None:
        yield _no_round_trip(exam, buffers, link_bps, linked)
        return
    needed = bandwidth_delay_bytes(link_bps, frame_bytes, rtt_s)
    for buffer in buffers:
        if buffer.window_bytes < needed:
            yield _too_small(exam, buffer, needed, rtt_s, linked)


def _buffers(host: HostFacts) -> Iterator[_Buffer]:
    sysctls = host[Sysctls]
    sizes = known(sysctls.numbers("net.ipv4.tcp_rmem"), "the size of receive buffers")
    window = sizes[2]
    if known(host[Kernel].version(), "the kernel's version") < MEASURED_SHARE:
        scale = sysctls.number("net.ipv4.tcp_adv_win_scale")
        window = window_of_buffer_bytes(
            sizes[2], known(scale, "the share of a buffer that is window")
        )
    yield _Buffer("net.ipv4.tcp_rmem", Direction.RECEIVE, sizes, window)
    sizes = known(sysctls.numbers("net.ipv4.tcp_wmem"), "the size of send buffers")
    yield _Buffer("net.ipv4.tcp_wmem", Direction.TRANSMIT, sizes, sizes[2])


def _held(buffer: _Buffer) -> Evidence:
    return Evidence(
        found=f"at most {buffer.sizes[2]} bytes for one connection's {buffer.direction} buffer, a "
        f"window of {buffer.window_bytes} or less",
        source=f"sysctl {buffer.name}",
    )


def _no_round_trip(
    exam: PortExam, buffers: tuple[_Buffer, ...], link_bps: int, linked: Evidence
) -> Finding:
    """Without a round-trip time nothing is judged: say how long it may be."""
    longest = [
        f"{longest_rtt_s(b.window_bytes, link_bps, exam.question.frame_bytes) * 1e3:.3g} ms "
        f"({b.direction})"
        for b in buffers
    ]
    return exam.finding(
        Severity.NOTE,
        (*(_held(buffer) for buffer in buffers), linked),
        so=f"one connection can fill the link up to a round trip of {' and '.join(longest)}",
        unpriced="whether it costs throughput depends on the round-trip time: give it with --rtt",
    )


def _too_small(
    exam: PortExam, buffer: _Buffer, needed: int, rtt_s: float, linked: Evidence
) -> Finding:
    frame_bytes = exam.question.frame_bytes
    least, default, most = buffer.sizes
    # Twice over: the kernel's own share, and what is on its way while the window grows. Where the
    # window is less than half of the buffer, as much more.
    enough = max(2 * needed, -(-needed * most // buffer.window_bytes))
    held = _held(buffer)
    after, now = (
        tcp_window_ceiling(window, rtt_s, frame_bytes, buffer.direction, held.source)
        for window in (needed, buffer.window_bytes)
    )
    is_share_known = buffer.window_bytes < most
    # A figure that is more than one connection carries is of several, or not of TCP.
    is_bounding = any(one.element == now.element for one in exam.ledger.ceilings)
    return exam.finding(
        Severity.FAULT,
        (
            held,
            linked,
            Evidence(
                found=f"{needed} bytes are in flight at line rate and {rtt_s * 1e3:g} ms",
                source=linked.source,
            ),
        ),
        so=f"one connection carries at most {buffer.window_bytes * 8 / rtt_s / 1e9:.3g} Gb/s "
        f"of payload ({buffer.direction}), however fast the link is"
        + ("" if is_bounding else "; the measured figure is of several, or not of TCP"),
        remedies=(
            sysctl_remedy(
                "raise the maximum size of autotuning (programs that set SO_RCVBUF or SO_SNDBUF "
                "themselves are limited by net.core.rmem_max and wmem_max instead)",
                (buffer.name, f"{least} {default} {enough}"),
            ),
        ),
        changes=(Change(after=after, now=now if is_share_known else None),) if is_bounding else (),
        unpriced="it costs nothing beside several connections whose windows together are enough",
    )


RULE = PortRule(
    slug="tcp.buffer_below_bdp",
    title="Socket buffers below the bandwidth-delay product",
    why="A connection sends at most one window per round trip, and the window is only a part of "
    "the socket buffer. The kernel grows a socket's buffer up to the third number of "
    "tcp_rmem and tcp_wmem, regardless of rmem_max and wmem_max: those limit only programs "
    "that set the size themselves.",
    source="https://docs.kernel.org/networking/ip-sysctl.html (tcp_rmem, tcp_wmem, "
    "tcp_adv_win_scale); RFC 7323 section 1.1; RFC 9293 section 3.8.6",
    purposes=frozenset({Purpose.TCP, Purpose.STORAGE}),
    price="window / round-trip time / payload of a frame: now, and with bandwidth x delay",
    explains=(Symptom.LOW_FIGURE,),
    check=_check,
)
