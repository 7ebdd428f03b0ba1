"""Socket buffers that may grow far beyond what the path can hold."""

from collections.abc import Iterator

from wirespeed.ceilings.tcp import bandwidth_delay_bytes, tcp_payload_bytes
from wirespeed.facts.link import Links
from wirespeed.facts.sysctl import Sysctls, sysctl_remedy
from wirespeed.model.finding import Evidence, Finding, Severity
from wirespeed.model.observed import CannotTellError, known
from wirespeed.model.question import Purpose
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule

TIMES = 64
ORDINARY_BYTES = 64 << 20
"""The kernel's own greatest default is 32 MB: what is below twice that is nobody's choice."""


def _check(exam: PortExam) -> Iterator[Finding]:
    if exam.question.rtt_s is None:
        raise DoesNotApplyError(
            "the bandwidth-delay product is not known: give the round-trip time with --rtt"
        )
    link = exam.host[Links].by_netdev.get(exam.port.netdev or "")
    if link is None:
        raise DoesNotApplyError("this port has no netdev, and so no sockets")
    if not tcp_payload_bytes(exam.question.frame_bytes):
        raise DoesNotApplyError("a frame of this size has no room for TCP payload")
    link_bps = known(link.link_bps, f"the link speed of {exam.port.name}")
    if not link_bps:
        raise CannotTellError(f"the link speed of {exam.port.name}", link.link_bps.source)
    holds = bandwidth_delay_bytes(link_bps, exam.question.frame_bytes, exam.question.rtt_s)
    for name in ("net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"):
        least, default, greatest = known(exam.host[Sysctls].numbers(name), name)
        if greatest <= ORDINARY_BYTES or greatest <= TIMES * holds:
            continue
        enough = max(8 * holds, default, 4 << 20)
        yield exam.finding(
            Severity.NOTE,
            (
                Evidence(found=f"{name} up to {greatest} bytes", source=f"sysctl {name}"),
                Evidence(
                    found=f"{holds} bytes are in flight at line rate and "
                    f"{exam.question.rtt_s * 1e3:g} ms",
                    source=link.link_bps.source,
                ),
            ),
            so=f"each connection may use {greatest >> 20} MB of memory, {greatest // holds} times "
            "what is in flight at most, without a gain in throughput",
            remedies=(
                sysctl_remedy(
                    f"lower the maximum to {enough} bytes, enough for the given round-trip time "
                    "(longer paths need more)",
                    (name, f"{least} {default} {enough}"),
                ),
            ),
            unpriced="it costs memory and cache, and latency if a queue builds up in the buffer",
        )


RULE = PortRule(
    slug="tcp.buffer_far_above_bdp",
    title="Socket buffers far above the bandwidth-delay product",
    why="Values such as 128 MB come from guides for long paths. Between two hosts in one room a "
    "few hundred kilobytes are in flight: a larger buffer only lets data queue up in memory, "
    "outside the cache, and adds latency.",
    source="https://docs.kernel.org/networking/ip-sysctl.html (tcp_rmem, tcp_wmem); RFC 7323 "
    "section 1.1",
    purposes=frozenset({Purpose.TCP, Purpose.STORAGE}),
    check=_check,
)
