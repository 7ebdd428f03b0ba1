"""The kernel's choice of a route, over tables and rules as data."""

from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network


@dataclass(frozen=True, slots=True)
class Route:
    """One route of one table."""

    table: str
    """`main`, `local`, `default` or a number."""
    kind: str
    """`unicast`, `local`, `unreachable`, `throw`, …"""
    destination: Network
    netdevs: tuple[str, ...]
    """More than one for a multipath route; those whose link is down are left out."""
    gateways: tuple[str, ...]
    metric: int
    """0 where `ip` prints none: that is what the kernel takes it for."""


@dataclass(frozen=True, slots=True)
class PolicyRule:
    """One rule: a condition, and the table to look into."""

    priority: int
    table: str | None
    action: str
    """`lookup`, or `unreachable`, `blackhole`, `prohibit`."""
    destination: Network
    never_matches: bool
    """It asks for a mark, an incoming port or a source, that such a packet does not have."""
    is_inverted: bool
    decides_by: str
    """What it asks for that is not known here: `uid_start`, `dport`."""
    least_prefix: int
    """Shorter prefixes than this are not taken from the table (`suppress_prefixlength`)."""
    source: Network | None = None
    """Addresses of this host that it asks for; None: any."""


@dataclass(frozen=True, slots=True)
class Way:
    """How packets to one address leave."""

    kind: str
    """As of the route; `unreachable` where no route matches."""
    netdevs: tuple[str, ...]
    gateways: tuple[str, ...]
    route: str
    """What decided, as `10.0.0.0/24 of table main`."""


def look_up(address: Address, rules: Iterable[PolicyRule], routes: Iterable[Route]) -> Way | str:
    """Ask the rules in their order; the first table with a route decides.

    The text of the reason comes back where a rule asks for what is not known.
    """
    routes = [route for route in routes if route.destination.version == address.version]
    for rule in sorted(rules, key=lambda rule: rule.priority):
        if address not in rule.destination and not rule.is_inverted:
            continue
        if rule.decides_by:
            return f"policy rule {rule.priority} decides by {rule.decides_by}"
        matches = address in rule.destination and not rule.never_matches
        if matches == rule.is_inverted:
            continue
        if rule.table is None:
            return Way(rule.action, (), (), f"policy rule {rule.priority}")
        best = _best(address, rule, routes)
        if best is not None and best.kind != "throw":
            return Way(
                best.kind,
                best.netdevs,
                best.gateways,
                f"{best.destination} of table {best.table}",
            )
    return Way("unreachable", (), (), "no route matches")


def _best(address: Address, rule: PolicyRule, routes: Iterable[Route]) -> Route | None:
    """Longest prefix, then lowest metric; where they tie, the first."""
    candidates = [
        route
        for route in routes
        if route.table == rule.table
        and route.destination.prefixlen >= rule.least_prefix
        and address in route.destination
        and (route.netdevs or route.kind != "unicast")
        and route.kind not in ("broadcast", "anycast", "multicast")
    ]
    return min(candidates, key=lambda r: (-r.destination.prefixlen, r.metric), default=None)
