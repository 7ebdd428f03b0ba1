"""Routes and policy rules: which netdev traffic to an address leaves by."""

from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network
from typing import ClassVar, Self

from wirespeed.model.capture import Capture
from wirespeed.model.fact import Fact
from wirespeed.model.observed import Observed, Unreadable


@dataclass(frozen=True, slots=True)
class Route:
    """One route of one table."""

    table: str
    """`main`, `local`, `default` or a number."""
    kind: str
    """`unicast`, `local`, `blackhole`, …"""
    destination: IPv4Network | IPv6Network
    netdevs: tuple[str, ...]
    """More than one for a multipath route."""
    gateways: tuple[str, ...]
    metric: int
    """0 where `ip` prints none: that is what the kernel takes it for (IPv6 prints 1024)."""
    preferred_source: str | None


@dataclass(frozen=True, slots=True)
class Way:
    """How packets to one address leave."""

    kind: str
    """As of the route; `unreachable` where no route matches."""
    netdevs: tuple[str, ...]
    gateways: tuple[str, ...]
    route: str
    """The prefix that decided, as `10.0.0.0/24 table main`."""


@dataclass(frozen=True, slots=True)
class Routes(Fact):
    """Tables of IPv4 and IPv6, and the rules that choose among them."""

    routes: Observed[tuple[Route, ...]]

    script: ClassVar[str] = ""

    @classmethod
    def parse(cls, capture: Capture) -> Self:  # noqa: ARG003
        """Read routes and rules."""
        return cls(Unreadable("not parsed", "ip route show table all"))

    def way_to(self, peer: str) -> Observed[Way]:
        """Look an address up as the kernel does for a packet of a socket bound to nothing.

        Unreadable where a rule decides by what is not known here (a user, a port).
        """
        return Unreadable("not parsed", f"ip route get {peer}")
