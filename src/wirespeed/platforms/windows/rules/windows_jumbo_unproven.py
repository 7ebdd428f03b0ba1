"""Jumbo frames on a card of Windows, and next to nothing measured: they may be lost on the way."""

from collections.abc import Iterator

from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import known
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule
from wirespeed.model.shown import shown
from wirespeed.model.symptom import Symptom
from wirespeed.platforms.windows.facts.windows_adapters import (
    WindowsAdapter,
    WindowsAdapters,
)
from wirespeed.platforms.windows.facts.windows_host import is_only_windows, require_windows

ETHERNET_MTU = 1500
TINY_SHARE = 0.01
"""Of the link. A tool, a core or a window leaves more; where full segments are lost, Windows sends
small ones after a time-out for each."""
TOLD = "told to send"
"""Of the limits of a run: `it was told to send at most 0.001 Gb/s for each stream`."""
SUBNET_S = 2e-3
"""A round trip within a subnet is shorter: 100 km of fibre and back take 1 ms."""
ICMP_HEADERS_BYTES = 28
"""IPv4 and ICMP, which `ping -l` does not count."""


def _check(exam: HostExam) -> Iterator[Finding]:
    require_windows(exam.host)
    if exam.question.measured_bps is None:
        raise DoesNotApplyError("no measured figure was given: give it with --measured")
    if not is_only_windows(exam.host.capture):
        raise DoesNotApplyError("the figure is of the Linux in this Windows")
    run, rtt_s = exam.question.measured_by, exam.question.rtt_s
    if run is not None and ("UDP" in run.conditions or any(TOLD in one for one in run.limits)):
        raise DoesNotApplyError("the run sent no more than it was told to")
    if rtt_s is not None and rtt_s > SUBNET_S:
        raise DoesNotApplyError("the peer is in another subnet: routers find the MTU of the way")
    cards = [one for one in exam.host[WindowsAdapters].cards() if one.is_up]
    if exam.question.ports:
        cards = [one for one in cards if one.name in exam.question.ports]
    measured_bps = exam.question.measured_bps
    if any(measured_bps >= TINY_SHARE * (card.shown_bps or 0) for card in cards):
        return  # it may be of that card
    for card in cards:
        if known(card.mtu_bytes, f"the MTU of {card.name}") > ETHERNET_MTU:
            yield _jumbo(exam, card, measured_bps)


def _jumbo(exam: HostExam, card: WindowsAdapter, measured_bps: float) -> Finding:
    mtu, link_bps = known(card.mtu_bytes, "the MTU"), card.shown_bps or 1
    share = measured_bps / link_bps
    payload = mtu - ICMP_HEADERS_BYTES
    return exam.finding(
        Severity.RISK,
        (
            Evidence(found=f"MtuSize is {mtu}", source=card.mtu_bytes.source),
            Evidence(
                found=f"{measured_bps / 1e6:.4g} Mb/s were measured, {100 * share:.2g} % of a link "
                f"of {link_bps / 1e9:g} Gb/s",
                source="as you gave it",
            ),
        ),
        so=f"a peer, or a switch port on the way, with a smaller MTU than {mtu} drops the "
        "full segments, and only small ones pass: test the MTU before all else",
        where=shown(card.name, 60),
        remedies=(
            Remedy(
                text=f"send a full frame that must not be split: `ping -f -l {payload} PEER`. If "
                f"`ping -f -l {ETHERNET_MTU - ICMP_HEADERS_BYTES} PEER` is answered and it is "
                "not, set one MTU at both ends and on each switch port between: raise those that "
                "are smaller, or set *JumboPacket of this card to 1514",
                by_hand=ByHand.FAR_END,
            ),
        ),
        unpriced="whether frames are lost is not seen from here",
    )


RULE = HostRule(
    slug="windows.jumbo_unproven",
    title="Jumbo frames may be lost on the way (Windows)",
    why="All ends and switch ports of a subnet need one MTU: nothing within it tells a sender that "
    "a frame is too long, and it is dropped. Small frames pass, so that ping and logins work and "
    "copies stand nearly still.",
    source="IEEE 802.3 clause 4 (frames above the maximum are discarded); RFC 2923 section 2.1 "
    "(black holes); RFC 4821; https://github.com/bb-qq/r8152/issues/7",
    explains=(Symptom.LOW_FIGURE,),
    check=_check,
)
