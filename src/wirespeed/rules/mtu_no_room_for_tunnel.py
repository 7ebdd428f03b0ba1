"""A tunnel whose packets are longer than the network below it lets pass."""

import re
from collections.abc import Iterator
from ipaddress import ip_address

from wirespeed.ceilings.bounds import cut_in_two_bound
from wirespeed.facts.netstack import Link, NetStack, named_plainly
from wirespeed.facts.ovs import Ovs, OvsBridge, OvsInterface
from wirespeed.facts.routes import Routes
from wirespeed.model.command import Command
from wirespeed.model.finding import ByHand, Danger, Evidence, Finding, Remedy, Severity, StepCall
from wirespeed.model.observed import CannotTellError, Known, Observed, known
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule, of_each
from wirespeed.model.symptom import Symptom

OUTER_IP = {4: 20, 6: 40}
UDP_AND_VXLAN = 8 + 8
INNER_ETHERNET = 14
VLAN_TAG = 4
OVN = re.compile(r"ovn-.{1,6}-[0-9a-f]{1,4}")
"""Name of a tunnel that OVN made (ovn controller/encaps.c, tunnel_create_name)."""
OVN_OPTION = 8
"""In each Geneve packet of it: the logical ports, 4 bytes after the option's header of 4 (ovn
controller/physical.h, OVN_GENEVE_LEN; RFC 8926, 3.5)."""
ANY_MTU = 65000
"""A tunnel that Open vSwitch made has an MTU near 65535: it bounds nothing."""


def _check(exam: HostExam) -> Iterator[Finding]:
    links = known(exam.host[NetStack].links, "the netdevs")
    own = [link for link in links.values() if link.vxlan and not _is_of_ovs(link)]
    of_ovs = [o for o in exam.host[Ovs].interfaces.values() if o.kind in ("vxlan", "geneve")]
    if not own and not of_ovs:
        raise DoesNotApplyError("there is no VXLAN or Geneve tunnel")
    tunnels: list[Link | OvsInterface] = [*own, *of_ovs]
    yield from of_each(
        tunnels,
        lambda one: _of_kernel(exam, one) if isinstance(one, Link) else _of_ovs(exam, one),
    )


def _is_of_ovs(link: Link) -> bool:
    return isinstance(link.mtu, Known) and link.mtu.value >= ANY_MTU


def _of_kernel(exam: HostExam, link: Link) -> Iterator[Finding]:
    vxlan = link.vxlan
    if vxlan is None:
        return
    remote, local = (o.value if isinstance(o, Known) else "" for o in (vxlan.remote, vxlan.local))
    if isinstance(vxlan.underlay, Known):
        underlay = exam.host[NetStack][vxlan.underlay.value]
    else:
        underlay = _underlay(exam, link.netdev, local, remote)
    inner = known(link.mtu, f"MTU of {link.netdev}")
    tagged = any(
        isinstance(up.vlan_id, Known) and isinstance(up.mtu, Known) and up.mtu.value >= inner
        for up in exam.host[NetStack].directly_above(link.netdev)
    )
    found = Evidence(found=f"{link.netdev}: MTU {inner}", source=f"ip link show {link.netdev}")
    extra = VLAN_TAG if tagged else 0
    yield from _compare(
        exam, link.netdev, found, inner, _version(remote, local), underlay, Severity.FAULT, extra
    )


def _of_ovs(exam: HostExam, tunnel: OvsInterface) -> Iterator[Finding]:
    remote, local = (tunnel.options.get(name, "") for name in ("remote_ip", "local_ip"))
    underlay = _underlay(exam, tunnel.name, local, remote)
    inner = _largest_inside(exam, tunnel)
    if inner is None:
        return  # no guest's packets go through it
    name, mtu = inner
    found = Evidence(
        found=f"{name}, in a bridge with {tunnel.name}: MTU {mtu.value}", source=mtu.source
    )
    is_of_ovn = tunnel.kind == "geneve" and OVN.fullmatch(tunnel.name) is not None
    extra = OVN_OPTION if is_of_ovn and tunnel.options.get("key") == "flow" else 0
    # A guest sets its own MTU; that of its port on the host is what it may use.
    yield from _compare(
        exam, tunnel.name, found, mtu.value, _version(remote, local), underlay, Severity.RISK, extra
    )


def _largest_inside(exam: HostExam, tunnel: OvsInterface) -> tuple[str, Known[int]] | None:
    ovs, stack = exam.host[Ovs], exam.host[NetStack]
    links = stack.links.value if isinstance(stack.links, Known) else {}
    found = []
    for bridge in _connected(ovs, ovs.bridge_of(tunnel.name)):
        for one in ovs.interfaces_in(bridge):
            link = links.get(one.name)
            is_guest = one.is_dpdk_representor or one.is_vhost_user
            if link is not None:
                kind = link.kind.value if isinstance(link.kind, Known) else ""
                is_guest = link.is_vf_representor or kind in ("tun", "veth")
            mtu: Observed[int] = one.mtu if link is None else link.mtu
            if is_guest and isinstance(mtu, Known):
                found.append((one.name, mtu))
    return max(found, key=lambda pair: pair[1].value, default=None)


def _connected(ovs: Ovs, start: OvsBridge | None) -> list[OvsBridge]:
    """The bridge and all that patch ports join to it."""
    todo, seen = [start] if start else [], dict[str, OvsBridge]()
    while todo:
        bridge = todo.pop()
        if bridge.name in seen:
            continue
        seen[bridge.name] = bridge
        for one in ovs.interfaces_in(bridge):
            peer = ovs.bridge_of(one.options.get("peer", "")) if one.kind == "patch" else None
            todo += [peer] if peer else []
    return list(seen.values())


def _underlay(exam: HostExam, tunnel: str, local: str, remote: str) -> Link:
    """Give the netdev that the tunnel's packets leave by: as routed, else by its own address."""
    stack = exam.host[NetStack]
    if _is_address(remote):
        netdevs = exam.host[Routes].route_to(remote).value.netdevs
        if netdevs:
            return stack[netdevs[0]]
    link = stack.with_address(local)
    if link is None:
        raise CannotTellError(f"the netdev that {tunnel} sends through", "ip route show table all")
    return link


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def _version(*ends: str) -> int:
    return 6 if any(":" in end for end in ends) else 4


def _compare(
    exam: HostExam,
    tunnel: str,
    inside: Evidence,
    inner: int,
    version: int,
    underlay: Link,
    severity: Severity,
    extra: int,
) -> Iterator[Finding]:
    outer = known(underlay.mtu, f"MTU of {underlay.netdev}")
    overhead = OUTER_IP[version] + UDP_AND_VXLAN + extra + INNER_ETHERNET
    needed = inner + overhead
    if needed <= outer or not isinstance(underlay.mtu, Known):
        return
    is_plain = named_plainly(underlay.netdev)
    yield exam.finding(
        severity,
        (
            inside,
            Evidence.of(underlay.mtu, f"{underlay.netdev}, below it: MTU {outer}"),
        ),
        so=f"{needed} bytes are needed, {overhead} more than the inner packet: full-size packets "
        "are dropped, or fragmented and reassembled by a CPU core",
        where=tunnel,
        remedies=(
            Remedy(
                text=f"set an MTU of {needed} bytes on {underlay.netdev}, every port below it and "
                "the switches between",
                commands=(
                    Command(argv=("ip", "link", "set", "dev", underlay.netdev, "mtu", str(needed))),
                )
                if is_plain
                else (),
                danger=Danger.DROPS_LINK,
                steps=(StepCall.of("mtu", netdev=underlay.netdev, mtu=needed),) if is_plain else (),
                by_hand=None if is_plain else ByHand.NO_NAME,
            ),
            Remedy(
                text=f"or set an MTU of {outer - overhead} bytes inside the tunnel",
                by_hand=ByHand.WORKLOAD,
            ),
        ),
        bounds=(cut_in_two_bound(needed, underlay.mtu.source),),
    )


RULE = HostRule(
    slug="mtu.no_room_for_tunnel",
    title="Underlay MTU too small for tunnel headers",
    why="A VXLAN or Geneve tunnel puts 50 bytes before each packet over IPv4 and 70 over IPv6 (4 "
    "more with a VLAN tag inside, 8 more with OVN's option of Geneve). The network below must "
    "carry the sum, or full-size packets are lost or fragmented.",
    source="https://www.rfc-editor.org/rfc/rfc7348 (sections 4.3 and 5); "
    "https://www.rfc-editor.org/rfc/rfc8926 (Geneve: 8 bytes and its options)",
    price="at least: headers and gap of a second fragment / wire time of both; a dropped packet "
    "is lost completely",
    explains=(Symptom.SEGMENTS_RESENT, Symptom.LOW_FIGURE),
    check=_check,
)
