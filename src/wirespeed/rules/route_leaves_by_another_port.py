"""Traffic to the peer that does not leave by the port that it is meant for."""

from collections.abc import Iterator
from ipaddress import ip_address

from wirespeed.facts.netstack import Link, NetStack
from wirespeed.facts.ovs import Ovs
from wirespeed.facts.routes import Routes
from wirespeed.facts.routes_lookup import Way
from wirespeed.model.command import Command
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import CannotTellError, Known
from wirespeed.model.port import Port
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule
from wirespeed.model.symptom import Symptom

TRANSPARENT = ("bond", "team", "bridge", "vlan", "macvlan", "ipvlan", "openvswitch", "vxlan")
"""Kinds whose ports below are known; what a tunnel to elsewhere leaves by is another route."""


def _check(exam: HostExam) -> Iterator[Finding]:
    peer = exam.question.peer
    if peer is None:
        raise DoesNotApplyError("give the address that the traffic goes to: --peer")
    if not exam.question.ports:
        raise DoesNotApplyError(
            "which port the traffic should use is not known: name it with --port", unused="--peer"
        )
    try:
        peer = str(ip_address(peer))
    except ValueError:
        raise DoesNotApplyError(f"{peer!r} is not an IP address") from None
    for port in exam.ports:
        if vrf := exam.host[NetStack].vrf_above(port.netdev or ""):
            raise CannotTellError(
                f"{port.name} is in the VRF {vrf}: only sockets bound to it use its routes",
                f"ip route get {peer} vrf {vrf}",
            )
    way = exam.host[Routes].route_to(peer)
    if way.value.kind != "unicast":
        yield _finding(exam, peer, way, _nowhere(peer, way.value))
        return
    reached = _reached(exam, way.value)
    if not any({port.netdev, port.pci_address} & reached for port in exam.ports):
        names = ", ".join(way.value.netdevs)
        yield _finding(
            exam, peer, way, f"the selected port carries none of this traffic: it leaves by {names}"
        )


def _nowhere(peer: str, way: Way) -> str:
    if way.kind == "local":
        return f"{peer} is an address of this host: the traffic never reaches a wire"
    return f"nothing can be sent to {peer}"


def _reached(exam: HostExam, way: Way) -> set[str | None]:
    """Netdevs and PCI addresses of the ports that the traffic may leave by."""
    stack, ovs = exam.host[NetStack], exam.host[Ovs]
    reached: set[str | None] = set()
    for netdev in way.netdevs:
        below = set(stack.ports_below(netdev))
        for name in sorted(below | {netdev}):
            bridge = ovs.bridge_of(name)
            for one in ovs.interfaces_in(bridge) if bridge else ():
                below |= stack.ports_below(one.name)
                reached.add(one.options.get("dpdk-devargs", "").partition(",")[0] or None)
        if not any(_is_port(exam, name) for name in below) and len(reached) < 2:
            raise CannotTellError(
                f"the netdev below {netdev} is not known, as for a tunnel",
                f"ip -d link show {netdev}",
            )
        reached |= below
    return reached - {None}


def _is_port(exam: HostExam, netdev: str) -> bool:
    link = exam.host[NetStack][netdev]
    return not isinstance(link.kind, Known) or link.kind.value not in TRANSPARENT + ELSEWHERE


ELSEWHERE = ("tun", "wireguard", "gre", "ipip", "sit", "ip6tnl", "xfrm", "vti", "geneve", "dummy")


def _finding(exam: HostExam, peer: str, way: Known[Way], so: str) -> Finding:
    by = ", ".join(way.value.netdevs) or way.value.kind
    return exam.finding(
        Severity.FAULT,
        (
            Evidence.of(way, f"to {peer}: {by} ({way.value.route})"),
            *(e for port in exam.ports for e in _addresses(exam, port)),
        ),
        so=so,
        where=", ".join(port.name for port in exam.ports),
        remedies=(
            Remedy(
                text="give both ends addresses in a separate subnet on this link, and use those; "
                "then run the doctor again",
                commands=(Command(argv=("ip", "route", "get", peer)),),
                by_hand=ByHand.FAR_END,
            ),
        ),
        unpriced="the port that the traffic uses has its own ledger: run the doctor for that port",
    )


def _addresses(exam: HostExam, port: Port) -> Iterator[Evidence]:
    links = exam.host[NetStack].links
    link: Link | None = links.value.get(port.netdev or "") if isinstance(links, Known) else None
    if link is not None and isinstance(link.addresses, Known):
        shown = ", ".join(str(a) for a in link.addresses.value) or "no IP address"
        yield Evidence.of(link.addresses, f"{link.netdev} has {shown}")


RULE = HostRule(
    slug="route.leaves_by_another_port",
    title="Route to the peer leaves by another port",
    why="The routing table decides which port a packet leaves by, not the cable between two "
    "cards. If the route to an address of the far end's fast port goes through a slow port, "
    "the traffic uses the slow port.",
    source="https://man7.org/linux/man-pages/man8/ip-route.8.html; "
    "https://man7.org/linux/man-pages/man8/ip-rule.8.html",
    explains=(Symptom.LOW_FIGURE,),
    check=_check,
)
