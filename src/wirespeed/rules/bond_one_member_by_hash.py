"""A bond that chooses the member by MAC addresses alone, and whose traffic goes to a router."""

from collections.abc import Iterator
from dataclasses import dataclass

from wirespeed.facts.counters import Counters, Place
from wirespeed.facts.netstack import Link, NetStack, named_plainly
from wirespeed.facts.routes import TABLES, Routes
from wirespeed.facts.routes_lookup import Route
from wirespeed.model.bound import Bound, Limit
from wirespeed.model.command import Command
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity, StepCall
from wirespeed.model.observed import CannotTellError, Known, known
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule
from wirespeed.model.symptom import Symptom

HASHED = ("802.3ad", "balance-xor")
BY_MAC = "layer2"
BETTER = "layer3+4"
HASH = "transmit hash policy"
SWITCHES = ("bridge", "openvswitch")
ENOUGH_FRAMES = 1000
"""Of all members during the capture; ARP and LACP alone are a few."""
ALL_BUT = 0.9
"""Share of the busiest member from which on the others count as idle."""
FORMULA = "1 - 1 / members that have a link, of one speed each"


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
        and len(_carrying(stack, link.netdev)) > 1
    )
    if not found:
        raise DoesNotApplyError(f"no bond of two links has the mode {' or '.join(modes)}")
    return found


def _carrying(stack: NetStack, bond: str) -> tuple[Link, ...]:
    """Members that have a link."""
    return tuple(member for member in stack.members(bond) if "LOWER_UP" in member.flags)


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
        yield _found(exam, link, Evidence.of(link.bond.xmit_hash_policy, f"{HASH} {policy}"), route)


def _found(exam: HostExam, link: Link, policy: Evidence, route: Route) -> Finding:
    sent = _busiest(exam, link.netdev)
    is_one = sent is not None and sent.share >= ALL_BUT
    is_spread = _has_guests(exam.host[NetStack], link.netdev) if sent is None else not is_one
    return exam.finding(
        Severity.NOTE if is_spread else Severity.RISK,
        (
            policy,
            Evidence(
                found=f"{route.destination} goes to the gateway "
                f"{', '.join(route.gateways[:2])} by {link.netdev}",
                source=TABLES,
            ),
            *((sent.evidence,) if sent else ()),
        ),
        so="one member carries all that this host sends through the gateway, as all of it has the "
        "same two MAC addresses; traffic of guests, and to hosts of the same network, is spread "
        "over the members"
        if is_spread
        else "one member carries all traffic through the gateway, as all of it has the same two "
        "MAC addresses; the others stay idle",
        where=link.netdev,
        remedies=(_remedy(link.netdev),),
        bounds=(
            Bound.of_share(
                Limit.AT_MOST,
                1 - 1 / len(_carrying(exam.host[NetStack], link.netdev)),
                "of what the bond can send, where all of it goes through the gateway",
                FORMULA,
            ),
        ),
    )


@dataclass(frozen=True, slots=True)
class _Busiest:
    """The member that sent most during the capture."""

    share: float
    evidence: Evidence


def _busiest(exam: HostExam, bond: str) -> _Busiest | None:
    """Give it; None where too little was sent to tell, or a member was not counted."""
    try:
        counters = exam.host[Counters]
    except CannotTellError:  # the ports were not read; the finding does not depend on it
        return None
    sent: dict[str, int] = {}
    sources: dict[str, str] = {}
    for netdev in (link.netdev for link in exam.host[NetStack].members(bond)):
        delta = counters.delta(netdev, Place.SENT)
        if not isinstance(delta, Known):
            return None
        sent[netdev], sources[netdev] = delta.value.frames, delta.source
    total = sum(sent.values())
    if total < ENOUGH_FRAMES:
        return None
    most = max(sent, key=sent.__getitem__)
    share = sent[most] / total
    found = f"{most} sent {share * 100:.0f} % of the {total} frames of all members meanwhile"
    return _Busiest(share, Evidence(found=found, source=sources[most]))


def _has_guests(stack: NetStack, bond: str) -> bool:
    """Whether a bridge over the bond has other ports, or a macvlan lies on it."""
    seen, todo = set[str](), [bond]
    while todo:
        name = todo.pop()
        if name in seen:
            continue
        seen.add(name)
        for link in stack.directly_above(name):
            kind = link.kind.value if isinstance(link.kind, Known) else ""
            if kind in ("macvlan", "macvtap"):
                return True
            if kind in SWITCHES and any(
                bond not in stack.ports_below(member.netdev)
                for member in stack.members(link.netdev)
            ):
                return True
            todo.append(link.netdev)
    return False


def _remedy(bond: str) -> Remedy:
    is_plain = named_plainly(bond)
    step = StepCall.of("bond_hash_policy", netdev=bond, policy=BETTER)
    return Remedy(
        text=f"hash by addresses and ports as well: xmit_hash_policy {BETTER} (or layer2+3), here "
        "and where the bond is configured. The switch has a hash of its own for the other "
        "direction",
        commands=(_command(bond),) if is_plain else (),
        steps=(step,) if is_plain else (),
        by_hand=None if is_plain else ByHand.NO_NAME,
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
    return Command(argv=(*set_bond, "xmit_hash_policy", BETTER))


RULE = HostRule(
    slug="bond.one_member_by_hash",
    title="Bond hashes by MAC address, and its traffic is routed",
    why="With layer2, the driver's default, the member is chosen by source and destination MAC "
    "address. Every frame for a router has the router's address: however many hosts and "
    "connections are behind it, one member carries them all. Traffic to many hosts of the same "
    "network is spread, and so is that of guests with addresses of their own.",
    source="https://docs.kernel.org/networking/bonding.html (xmit_hash_policy: layer2; "
    "`all traffic to a particular network peer on the same slave`)",
    price=f"Bound: {FORMULA}.",
    explains=(Symptom.UNEVEN_MEMBERS, Symptom.LOW_FIGURE),
    check=_check,
)
