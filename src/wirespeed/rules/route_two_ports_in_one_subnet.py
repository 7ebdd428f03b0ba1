"""Two ports with addresses in one subnet: what is sent into it leaves by one of them only."""

from collections.abc import Iterator
from ipaddress import IPv4Network, IPv6Network, ip_address

from wirespeed.ceilings.tcp import filled_link_bps
from wirespeed.facts.link import Links
from wirespeed.facts.netstack import NetStack, named_plainly
from wirespeed.facts.ports import Ports
from wirespeed.facts.routes import Routes
from wirespeed.facts.routes_lookup import Address
from wirespeed.model.command import Command
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Known, known
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule
from wirespeed.model.symptom import Symptom

Subnet = IPv4Network | IPv6Network


def _check(exam: HostExam) -> Iterator[Finding]:
    stack, routes = exam.host[NetStack], exam.host[Routes]
    subnets: dict[Subnet, dict[str, Address]] = {}
    ports = {port.netdev for port in exam.host[Ports].ports}
    for link in known(stack.links, "the netdevs").values():
        if link.netdev not in ports or "UP" not in link.flags or stack.vrf_above(link.netdev):
            continue  # sockets have to be bound to a VRF, and so choose
        for own in known(link.addresses, f"addresses of {link.netdev}"):
            if not own.ip.is_link_local and not own.ip.is_loopback:
                subnets.setdefault(own.network, {})[link.netdev] = own.ip
    shared = {net: found for net, found in subnets.items() if len(found) > 1}
    if not subnets:
        raise DoesNotApplyError("no port outside a VRF has an IP address of its own")
    for net, found in shared.items():
        some = next((a for a in net.hosts() if a not in found.values()), None)
        if some is None:
            continue  # a cable from one port to the other, and nobody else on it
        way = routes.route_to(str(some))
        if not way.value.netdevs or len(way.value.netdevs) > 1:
            continue
        if all(n in way.value.netdevs or routes.has_rule_from(ip) for n, ip in found.items()):
            continue  # what answers from an address leaves by the port that has it
        slower = _of_slower_link(exam, net, tuple(found))
        yield exam.finding(
            Severity.RISK if slower else Severity.NOTE,
            (
                *(
                    Evidence(found=f"{netdev} has {ip} in {net}", source=f"ip addr show {netdev}")
                    for netdev, ip in sorted(found.items())
                ),
                Evidence.of(
                    Known(way.value, f"ip route show {net}"),
                    f"{net} leaves by {way.value.netdevs[0]}",
                ),
                *slower,
            ),
            so=f"sockets that are not bound to a port send to {net} through "
            f"{way.value.netdevs[0]}, whichever address the peer uses"
            + (
                "; either port may answer ARP for both addresses, so what is received may come "
                "by the other one too, and the measured figure is that of a slower link than "
                "the fastest of them has"
                if slower
                else ""
            ),
            where=", ".join(sorted(found)),
            remedies=(
                *([_watch(sorted(found))] if slower else []),
                Remedy(
                    text="give each port its own subnet, bond them, or add policy routing rules",
                    by_hand=ByHand.FAR_END,
                ),
            ),
            unpriced="it costs the sending capacity of the other port",
        )


def _of_slower_link(exam: HostExam, net: Subnet, netdevs: tuple[str, ...]) -> tuple[Evidence, ...]:
    """Say of a figure that a link carries which is slower than the fastest of these ports.

    Empty where no figure is given, where it is of another way, or where it says nothing of a link.
    """
    measured_bps, run = exam.question.measured_bps, exam.question.measured_by
    ends = (*(run.addresses if run else ()), *filter(None, [exam.question.peer]))
    if measured_bps is None or any(ip_address(end) not in net for end in ends):
        return ()
    if not {port.netdev for port in exam.ports} & set(netdevs):
        return ()
    seen = {name: exam.host[Links].by_netdev[name].link_bps for name in netdevs}
    speeds = {name: bps.value for name, bps in seen.items() if isinstance(bps, Known)}
    fastest = max(speeds, key=lambda name: speeds[name], default="")
    link_bps = filled_link_bps(measured_bps)
    if link_bps is None or link_bps >= speeds.get(fastest, 0):
        return ()
    return (
        Evidence(
            found=f"{measured_bps / 1e9:.6g} Gb/s were measured: what TCP gets of a link of "
            f"{link_bps / 1e9:g} Gb/s",
            source="as you gave it",
        ),
        *(
            Evidence(found=f"{name}: {bps / 1e9:g} Gb/s", source=seen[name].source)
            for name, bps in sorted(speeds.items())
        ),
    )


def _watch(netdevs: list[str]) -> Remedy:
    return Remedy(
        text="see by which port the traffic goes: read the bytes of each before and after a run; "
        "do so on the peer too",
        commands=tuple(
            Command(argv=("ip", "-s", "link", "show", "dev", netdev))
            for netdev in netdevs
            if named_plainly(netdev)
        ),
        by_hand=ByHand.FIND_FIRST,
    )


RULE = HostRule(
    slug="route.two_ports_in_one_subnet",
    title="Two ports in one subnet",
    why="The kernel chooses a route by the destination. With two ports in one subnet, the first "
    "route carries all that is sent, and either port may answer ARP requests.",
    source="https://man7.org/linux/man-pages/man8/ip-route.8.html; "
    "https://docs.kernel.org/networking/ip-sysctl.html (arp_filter)",
    explains=(Symptom.LOW_FIGURE,),
    check=_check,
)
