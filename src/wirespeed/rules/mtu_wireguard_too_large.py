"""A WireGuard tunnel whose full packets fit into no packet of the networks below it."""

from collections.abc import Iterator, Mapping

from wirespeed.ceilings.bounds import cut_in_two_bound
from wirespeed.facts.netstack import Link, NetStack, named_plainly
from wirespeed.model.command import Command
from wirespeed.model.finding import ByHand, Danger, Evidence, Finding, Remedy, Severity, StepCall
from wirespeed.model.observed import Known, known
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule
from wirespeed.model.symptom import Symptom

OVERHEAD = 20 + 8 + 32
"""Outer IPv4 and UDP headers; type, receiver, counter and tag of a data message."""
USUAL = 80
"""What wg-quick leaves: an outer IPv6 header has 20 bytes more."""
WIREGUARD, LOOPBACK = "wireguard", "LOOPBACK"


def _check(exam: HostExam) -> Iterator[Finding]:
    links = known(exam.host[NetStack].links, "the netdevs")
    tunnels = [one for one in links.values() if _is_wireguard(one) and "UP" in one.flags]
    if not tunnels:
        raise DoesNotApplyError("there is no WireGuard tunnel")
    below = _largest_below(links)
    if below is None or not isinstance(below.mtu, Known):
        raise DoesNotApplyError("nothing that a tunnel could go through is up")
    outer = below.mtu.value
    for tunnel in tunnels:
        inner = known(tunnel.mtu, f"MTU of {tunnel.netdev}")
        if inner + OVERHEAD <= outer:
            continue
        is_plain = named_plainly(tunnel.netdev)
        fits = outer - USUAL
        yield exam.finding(
            Severity.RISK,
            (
                Evidence(
                    found=f"{tunnel.netdev}: MTU {inner}", source=f"ip link show {tunnel.netdev}"
                ),
                Evidence.of(below.mtu, f"{below.netdev}, the largest below it: MTU {outer}"),
            ),
            so=f"{inner + OVERHEAD} bytes are needed, {OVERHEAD} more than the inner packet: "
            "full-size packets are cut in two, or lost on a path that passes no fragments",
            where=tunnel.netdev,
            remedies=(
                Remedy(
                    text=f"set an MTU of {fits} bytes on {tunnel.netdev}; in its file of wg-quick, "
                    "take the line MTU out or change it",
                    commands=(
                        Command(argv=("ip", "link", "set", "dev", tunnel.netdev, "mtu", str(fits))),
                    )
                    if is_plain
                    else (),
                    danger=Danger.DROPS_LINK,
                    steps=(StepCall.of("mtu", netdev=tunnel.netdev, mtu=fits),) if is_plain else (),
                    by_hand=None if is_plain else ByHand.NO_NAME,
                ),
            ),
            bounds=(cut_in_two_bound(inner + OVERHEAD, below.mtu.source),),
        )


def _is_wireguard(link: Link) -> bool:
    return isinstance(link.kind, Known) and link.kind.value == WIREGUARD


def _largest_below(links: Mapping[str, Link]) -> Link | None:
    """Give the netdev with the largest MTU of those that a packet of a tunnel may leave by.

    Which one a peer is reached by is WireGuard's own knowledge, beside its keys: it is not read.
    """
    found = [
        (one.mtu.value, one.netdev)
        for one in links.values()
        if "UP" in one.flags and LOOPBACK not in one.flags and not _is_wireguard(one)
        if isinstance(one.mtu, Known)
    ]
    return links[max(found)[1]] if found else None


RULE = HostRule(
    slug="mtu.wireguard_too_large",
    title="MTU of a WireGuard tunnel leaves no room for its headers",
    why="WireGuard puts 60 bytes before and after each packet over IPv4 and 80 over IPv6. A tunnel "
    "whose MTU is that of the port below it sends each full packet in two, and loses it wherever "
    "fragments are dropped.",
    source="https://www.wireguard.com/papers/wireguard.pdf (section 5.4.6, data messages); "
    "wg-quick(8) (MTU); https://www.rfc-editor.org/rfc/rfc791",
    price="at least: headers and gap of a second fragment / wire time of both; a dropped packet "
    "is lost completely",
    explains=(Symptom.SEGMENTS_RESENT, Symptom.LOW_FIGURE),
    check=_check,
)
