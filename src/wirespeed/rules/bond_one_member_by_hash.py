"""A bond that chooses the member by MAC addresses alone, and whose traffic goes to a router."""

from collections.abc import Iterator

from wirespeed.facts.netstack import Link, NetStack, named_plainly
from wirespeed.facts.routes import TABLES, Routes
from wirespeed.facts.routes_lookup import Route
from wirespeed.model.command import Command
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import CannotTellError, Known, known
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule

HASHED = ("802.3ad", "balance-xor")
BY_MAC = "layer2"


def bonds_that_spread(exam: HostExam, modes: tuple[str, ...]) -> tuple[Link, ...]:
    """Give bonds of these modes with two members or more that have a link.

    Raises CannotTellError where netdevs are not known, DoesNotApplyError where there is none.
    """
    stack = exam.host[NetStack]
    links = known(stack.links, "the netdevs").values()
    found = tuple(
        link
        for link in links
        if link.bond is not None
        and known(link.bond.mode, f"mode of {link.netdev}") in modes
        and sum("LOWER_UP" in member.flags for member in stack.members(link.netdev)) > 1
    )
    if not found:
        raise DoesNotApplyError(f"no bond of two links has the mode {' or '.join(modes)}")
    return found


def _check(exam: HostExam) -> Iterator[Finding]:
    for link in bonds_that_spread(exam, HASHED):
        if link.bond is None:
            continue
        policy = known(link.bond.xmit_hash_policy, f"hash policy of {link.netdev}")
        if policy != BY_MAC or not isinstance(link.bond.xmit_hash_policy, Known):
            continue
        route = _routed(exam, link.netdev)
        if route is None:
            continue
        yield exam.finding(
            Severity.RISK,
            (
                Evidence.of(link.bond.xmit_hash_policy, f"transmit hash policy {policy}"),
                Evidence(
                    found=f"{route.destination} goes to the gateway "
                    f"{', '.join(route.gateways[:2])} by {link.netdev}",
                    source=TABLES,
                ),
            ),
            so="all that leaves by the gateway has one pair of MAC addresses, so one member "
            "carries it and the others stay idle",
            where=link.netdev,
            remedies=(
                Remedy(
                    text="hash by addresses and ports as well: xmit_hash_policy layer3+4 (or "
                    "layer2+3), here and where the bond is configured. The switch has a hash of "
                    "its own for the other direction",
                    commands=(_command(link.netdev),) if named_plainly(link.netdev) else (),
                    by_hand=ByHand.NO_STEP,
                ),
            ),
            unpriced="it depends on how much of the traffic goes by the gateway",
        )


def _routed(exam: HostExam, bond: str) -> Route | None:
    """A route by a gateway through this bond; through a VLAN or a bridge on it, too."""
    stack, routes = exam.host[NetStack], exam.host[Routes].routes
    if not isinstance(routes, Known):
        raise CannotTellError(f"routes: {routes.reason}", TABLES)
    return next(
        (
            route
            for route in routes.value
            if route.gateways and any(bond in stack.ports_below(name) for name in route.netdevs)
        ),
        None,
    )


def _command(bond: str) -> Command:
    """The driver takes it while the bond carries traffic: bond_options.c has no flag against it."""
    set_bond = ("ip", "link", "set", "dev", bond, "type", "bond")
    return Command(argv=(*set_bond, "xmit_hash_policy", "layer3+4"))


RULE = HostRule(
    slug="bond.one_member_by_hash",
    title="Bond hashes by MAC address, and its traffic is routed",
    why="With layer2, the driver's default, the member is chosen by source and destination MAC "
    "address. Every frame for a router has the router's address: however many hosts and "
    "connections are behind it, one member carries them all. Traffic to many hosts of the same "
    "network is spread, and so is that of guests with addresses of their own.",
    source="https://docs.kernel.org/networking/bonding.html (xmit_hash_policy: layer2; "
    "`all traffic to a particular network peer on the same slave`)",
    check=_check,
)
