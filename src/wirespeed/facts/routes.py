"""Routes and policy rules: which netdev traffic to an address leaves by."""

from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from typing import ClassVar, Self

from wirespeed.facts.json_text import JsonObject, object_in, objects_in, objects_of
from wirespeed.facts.routes_lookup import Address, Network, PolicyRule, Route, Way, look_up
from wirespeed.model.capture import Capture
from wirespeed.model.fact import Fact
from wirespeed.model.observed import CannotTellError, Known, Observed, Unreadable

TABLES = "ip route show table all"
RULES = {4: "ip rule show", 6: "ip -6 rule show"}
MAX_BYTES = 4_000_000
DEAD = ("dead", "linkdown")
DECIDES_BY_MORE = {
    "uid_start", "ipproto", "ip_proto", "sport", "dport", "tun_id", "goto", "suppress_ifgroup",
    "nat", "flow", "flowlabel",
}  # fmt: skip
"""Parts of a rule that decide by what is not known of a packet here."""
NO_MATCH = {"oif", "l3mdev", "tos", "dsfield"}
"""Parts that an ordinary packet of this host, of a socket bound to nothing, does not match."""


@dataclass(frozen=True, slots=True)
class Routes(Fact):
    """Tables of IPv4 and IPv6, and the rules that choose among them."""

    routes: Observed[tuple[Route, ...]]
    rules: dict[int, Observed[tuple[PolicyRule, ...]]]
    """By IP version, in the order in which the kernel asks them."""

    # A router of the whole Internet has a million routes: what comes after 4 MB is cut off.
    script: ClassVar[str] = """\
list_routes() {
	ip -j route show table all | head -c 4000000
}
show ip-route - list_routes
run ip-rule - ip -j rule show
run ip-rule6 - ip -6 -j rule show
"""

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read routes and rules."""
        return cls(
            _routes(capture),
            {4: _rules(capture, "ip-rule", 4), 6: _rules(capture, "ip-rule6", 6)},
        )

    def has_rule_from(self, own: Address) -> bool:
        """Tell whether packets from this address of the host have a table of their own."""
        rules = self.rules[own.version]
        return isinstance(rules, Known) and any(
            rule.source is not None and own in rule.source and rule.table is not None
            for rule in rules.value
        )

    def route_to(self, peer: str) -> Known[Way]:
        """Look an address up as the kernel does for a packet of a socket bound to nothing.

        Raises CannotTellError where routes are not known, or where a rule decides by what is not
        known here (a user, a port); ValueError where `peer` is no address.
        """
        address = ip_address(peer)
        source = f"ip route get {address}"
        rules = self.rules[address.version]
        if not isinstance(self.routes, Known):
            raise CannotTellError(f"routes: {self.routes.reason}", source)
        if not isinstance(rules, Known):
            raise CannotTellError(f"policy rules: {rules.reason}", source)
        way = look_up(address, rules.value, self.routes.value)
        if isinstance(way, str):
            raise CannotTellError(way, source)
        return Known(way, source)


def _routes(capture: Capture) -> Observed[tuple[Route, ...]]:
    section = capture.section("ip-route")
    if section is not None and section.errors.strip() and not section.output.strip():
        return section.failure(TABLES)
    text = capture.text("ip-route", TABLES)
    if isinstance(text, Known) and len(text.value) >= MAX_BYTES:
        return Unreadable("there are more than 4 MB of routes", TABLES)
    found = objects_of(text)
    if not isinstance(found, Known):
        return found
    try:
        return Known(tuple(_route(one) for one in found.value), found.source)
    except ValueError as error:
        return Unreadable(f"a route makes no sense: {str(error)[:80]}", found.source)


def _route(one: JsonObject) -> Route:
    hops = [hop for hop in objects_in(one, "nexthops") or [one] if not _is_dead(hop)]
    gateways = [str(h["gateway"]) for h in hops if "gateway" in h]
    gateways += [str(object_in(h, "via").get("host")) for h in hops if "via" in h]
    metric = one.get("metric", 0)
    return Route(
        table=str(one.get("table", "main")),
        kind=str(one.get("type", "unicast")),
        destination=_destination(one),
        netdevs=tuple(dict.fromkeys(str(hop["dev"]) for hop in hops if "dev" in hop)),
        gateways=tuple(gateways),
        metric=metric if isinstance(metric, int) else 0,
    )


def _is_dead(hop: JsonObject) -> bool:
    flags = hop.get("flags")
    return isinstance(flags, list) and any(dead in flags for dead in DEAD)


def _destination(one: JsonObject) -> Network:
    text = str(one.get("dst", ""))
    if text != "default":
        return ip_network(text, strict=False)
    # `ip` writes `default` for both; only routes of IPv6 have a preference (RFC 4191).
    return ip_network("::/0" if "pref" in one else "0.0.0.0/0")


def _rules(capture: Capture, section: str, version: int) -> Observed[tuple[PolicyRule, ...]]:
    found = objects_of(capture.text(section, RULES[version]))
    if not isinstance(found, Known):
        return found
    try:
        rules = [_rule(one, version) for one in found.value]
    except ValueError as error:
        return Unreadable(f"a rule makes no sense: {str(error)[:80]}", found.source)
    if not rules:
        return Unreadable("it printed no rules", found.source)
    return Known(tuple(rules), found.source)


def _rule(one: JsonObject, version: int) -> PolicyRule:
    everything = ip_network("::/0" if version == 6 else "0.0.0.0/0")
    priority, suppressed = one.get("priority", 0), one.get("suppress_prefixlen")
    odd = sorted(DECIDES_BY_MORE & one.keys())
    source = one.get("src", "all")
    return PolicyRule(
        priority=priority if isinstance(priority, int) else 0,
        table=str(one["table"]) if "table" in one else None,
        action=str(one.get("action", "lookup")),
        destination=_prefix(one, "dst", everything),
        # A packet has no source address yet when its route is looked up.
        never_matches=bool(NO_MATCH & one.keys())
        or source != "all"
        or one.get("iif", "lo") != "lo"  # by `lo` come the packets of this host itself
        or _mark(one) != 0,
        is_inverted="not" in one,
        decides_by=", ".join(odd),
        least_prefix=suppressed + 1 if isinstance(suppressed, int) else 0,
        source=None if source == "all" else _prefix(one, "src", everything),
    )


def _mark(one: JsonObject) -> int:
    """Bits that a packet must be marked with; an unmarked one matches 0."""
    mark, mask = (int(str(one.get(k, d)), 0) for k, d in (("fwmark", "0"), ("fwmask", "-1")))
    return mark & mask


def _prefix(one: JsonObject, name: str, everything: Network) -> Network:
    if one.get(name, "all") == "all":
        return everything
    length = one.get(f"{name}len", everything.max_prefixlen)
    return ip_network(f"{one[name]}/{length}", strict=False)
