"""Two ports with addresses in one subnet: what is sent into it leaves by one of them only."""

from collections.abc import Iterator
from ipaddress import IPv4Network, IPv6Network

from wirespeed.facts.netstack import NetStack
from wirespeed.facts.ports import Ports
from wirespeed.facts.routes import Routes
from wirespeed.facts.routes_lookup import Address
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Known, known
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule
from wirespeed.model.symptom import Symptom


def _check(exam: HostExam) -> Iterator[Finding]:
    stack, routes = exam.host[NetStack], exam.host[Routes]
    subnets: dict[IPv4Network | IPv6Network, dict[str, Address]] = {}
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
        yield exam.finding(
            Severity.NOTE,
            (
                *(
                    Evidence(found=f"{netdev} has {ip} in {net}", source=f"ip addr show {netdev}")
                    for netdev, ip in sorted(found.items())
                ),
                Evidence.of(
                    Known(way.value, f"ip route show {net}"),
                    f"{net} leaves by {way.value.netdevs[0]}",
                ),
            ),
            so=f"sockets that are not bound to a port send to {net} through "
            f"{way.value.netdevs[0]}, whichever address the peer uses",
            where=", ".join(sorted(found)),
            remedies=(
                Remedy(
                    text="give each port its own subnet, bond them, or add policy routing rules",
                    by_hand=ByHand.FAR_END,
                ),
            ),
            unpriced="it costs the sending capacity of the other port",
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
